/**
 * Calls of functionary as a grammar: a name with a JSON object behind it.
 *
 * @module
 */
import { choice, type Expr, sequence, token } from "../../grammar/expr.ts";
import type { RuleBook } from "../../grammar/rule_book.ts";
import { type CallRequest, named, several } from "./call_request.ts";

/** What parts two messages of version 3.2. */
const ARROWS = ">>>";

/**
 * Functionary: `add_note\n{…}` behind the prompt's `>>>`; without that, the shape of version 2 or of 3.1, as the model
 * likes.
 */
export function functionaryCalls(request: CallRequest, book: RuleBook): Expr {
  const lines = (open: Expr | string, parting: Expr | string): Expr =>
    sequence(open, named(request, book, (name, value) => sequence(name, parting, value)));
  if (request.prompt.endsWith(ARROWS)) {
    return several(book.define("call", lines("", "\n")), ARROWS, request);
  }
  const messages = lines(token("<|recipient|>"), sequence("\n", token("<|content|>")));
  const tags = named(request, book, (name, value) => sequence(`<function=${name}>`, value, "</function>"));
  return choice(
    several(book.define("message", messages), "\n", request),
    several(book.define("tag", tags), "\n", request),
  );
}
