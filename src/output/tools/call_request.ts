/**
 * Calls that may be made, for the grammars of the dialects.
 *
 * @module
 */
import { FREEFORM_ARGUMENT, type Tool } from "../../flow.ts";
import { choice, type Expr, type Grammar, optional, repeat, rule, sequence, text } from "../../grammar/expr.ts";
import { COLON, inStrings, JSON_RULES, objectOf, quoted } from "../../grammar/json.ts";
import { parseLark } from "../../grammar/lark.ts";
import { parseRegex } from "../../grammar/regex_parser.ts";
import type { RuleBook } from "../../grammar/rule_book.ts";
import { compileParameters, compileSchema } from "../../grammar/schema/compile.ts";
import { textUntil } from "../../grammar/until.ts";

/** Told of keywords of a tool's schema that are left out. */
export type DroppedKeyword = (tool: Tool, keyword: string, path: string) => void;

/** A tool and what its arguments may be, as one JSON object. */
export interface ToolArguments {
  /** Of the tool. */
  name: string;
  /** A JSON object. */
  value: Expr;
}

/** Calls that may be made. */
export class CallRequest {
  /** At least one. */
  readonly tools: readonly Tool[];
  /** Most calls of an answer; null: any number. */
  readonly callsMax: number | null;
  /** The rendered prompt, which some calls go on from. */
  readonly prompt: string;
  /** What follows the colon in this vocabulary's tags, with the colon (hy_v3); absent: what the template writes. */
  readonly label: string | undefined;
  readonly #onDropped: DroppedKeyword;

  /** @param onDropped Told of keywords that are left out; strict tools leave none out. */
  constructor(
    tools: readonly Tool[],
    callsMax: number | null,
    onDropped: DroppedKeyword,
    { prompt = "", label }: { prompt?: string; label?: string } = {},
  ) {
    this.tools = tools;
    this.callsMax = callsMax;
    this.prompt = prompt;
    this.label = label;
    this.#onDropped = onDropped;
  }

  /** Arguments as a JSON object. @throws {GrammarError} If a strict tool's schema can't be honoured. */
  argumentsOf(tool: Tool, book: RuleBook): ToolArguments {
    const freeform = toFreeformGrammar(tool);
    if (freeform !== undefined) {
      const input = quoted(book.include(inStrings(freeform)));
      return { name: tool.name, value: objectOf(sequence(text(JSON.stringify(FREEFORM_ARGUMENT)), COLON, input)) };
    }
    const schema = toObjectSchema(tool);
    const value = schema === undefined
      ? rule(JSON_RULES.object)
      : book.include(compileSchema(schema, this.#options(tool)));
    return { name: tool.name, value };
  }

  /** Arguments between tags of their own. @throws {GrammarError} If a strict tool's schema can't be honoured. */
  parametersOf(tool: Tool, book: RuleBook, end: string, write: (name: string, value: Expr) => Expr): Expr {
    const freeform = toFreeformGrammar(tool);
    if (freeform !== undefined) return write(FREEFORM_ARGUMENT, book.include(freeform));
    const anyText = textUntil(end, `text${end}`, (name, expr) => book.define(name, expr), false);
    const { rules, parameters } = compileParameters(toObjectSchema(tool) ?? {}, anyText, this.#options(tool));
    const rename = book.renaming(rules);
    const isFree = (value: Expr): boolean => value === anyText;
    return sequence(...parameters.map(({ name, required, value }) => {
      const written = write(name, isFree(value) ? value : rename(value));
      return required ? written : optional(written);
    }));
  }

  #options(tool: Tool): { onDropped?: (keyword: string, path: string) => void } {
    if (tool.strict === true) return {};
    return { onDropped: (keyword, path) => this.#onDropped(tool, keyword, path) };
  }
}

/** What the text of a freeform tool has to be; undefined: the tool is none, or its text is free. */
function toFreeformGrammar({ freeform }: Tool): Grammar | undefined {
  if (freeform?.grammar === undefined) return undefined;
  const { syntax, definition } = freeform.grammar;
  if (syntax === "lark") return parseLark(definition);
  return { rules: new Map([["root", parseRegex(definition, true)]]), root: "root" };
}

/** The calls of an answer: one at least. */
export type CallGrammar = (request: CallRequest, book: RuleBook) => Expr;

/** A schema of an object whatever it says; undefined: any object. */
function toObjectSchema({ parameters }: Tool): Record<string, unknown> | undefined {
  if (parameters === undefined || Object.keys(parameters).length === 0) return undefined;
  return parameters.type === undefined ? { ...parameters, type: "object" } : parameters;
}

/** One call or more with something between. */
export function several(one: Expr, between: string, { callsMax }: CallRequest): Expr {
  return sequence(one, repeat(sequence(between, one), 0, callsMax === null ? null : callsMax - 1));
}

/** One of the tools, its arguments as JSON. */
export function named(request: CallRequest, book: RuleBook, write: (name: string, value: Expr) => Expr): Expr {
  return choice(...request.tools.map((tool) => {
    const { name, value } = request.argumentsOf(tool, book);
    return write(name, value);
  }));
}
