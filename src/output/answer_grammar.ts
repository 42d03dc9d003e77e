// deno-lint-ignore-file camelcase -- names of parsers
/**
 * What a whole answer may be, as its dialect writes it: thinking first where the model thinks, then calls, or content
 * that is bound to something.
 *
 * Thinking is free, but it must end before the answer may, so that an answer never is thinking alone.
 *
 * @module
 */
import { choice, EMPTY, type Expr, type Grammar, optional, repeat, sequence, token } from "../grammar/expr.ts";
import { RuleBook } from "../grammar/rule_book.ts";
import { ANY_TEXT, textUntil } from "../grammar/until.ts";
import type { Dialect } from "./decoder.ts";
import { opensReasoning, partsByTags, thinkTagsOf } from "./reasoning/mod.ts";
import { callGrammars } from "./tools/call_grammars.ts";
import type { CallRequest } from "./tools/call_request.ts";

/** What an answer has to be. */
export interface AnswerRequest {
  /** How the model writes. */
  dialect: Dialect;
  /** The rendered prompt: shows whether its template opened the thinking, or closed it already. */
  prompt: string;
  /** Calls that may be made; absent: none. */
  calls?: CallRequest;
  /** What content is bound to; `free`: nothing; absent: there is none. */
  content?: Grammar | "free";
}

/** Whether content of a dialect can be bound. */
export function bindsContent({ tools, reasoning }: Dialect): boolean {
  return tools === "harmony" || partsByTags(reasoning);
}

/** Whether calls of a dialect can be bound. */
export function bindsCalls(dialect: Dialect): boolean {
  return dialect.tools === "harmony" || (bindsContent(dialect) && Object.hasOwn(callGrammars, dialect.tools));
}

/**
 * The grammar of an answer.
 *
 * @throws {GrammarError} For a schema of a strict tool that can't be honoured.
 */
export function toAnswerGrammar(request: AnswerRequest): Grammar {
  const book = new RuleBook();
  const content = request.content === "free" ? ANY_TEXT : request.content && book.include(request.content);
  if (request.dialect.tools === "harmony") return book.toGrammar(harmonyAnswer(request, content, book));
  const calls = request.calls && toCalls(request.dialect, request.calls, book);
  const answer = request.content === "free" && calls
    ? mixed(request.dialect, calls, book)
    : choice(...(calls ? [calls] : []), ...(content ? [content] : []));
  return book.toGrammar(sequence(thinking(request, book), answer));
}

/** Free text in which calls may stand: what opens one can't be text. */
function mixed({ tools }: Dialect, calls: Expr, book: RuleBook): Expr {
  const opener = CALL_OPENERS[tools];
  if (opener === undefined) return choice(calls, ANY_TEXT);
  const others = textUntil(opener, "prose", (name, expr) => book.define(name, expr), false);
  return sequence(others, optional(sequence(calls, others)));
}

/** What no text of an answer may spell where calls are bound. */
const CALL_OPENERS: Readonly<Record<string, string>> = {
  hermes: "<tool_call>",
  qwen3_coder_xml: "<tool_call>",
  seed_oss: "<seed:tool_call>",
  glm47: "<tool_call>",
  deepseek_v4_0731: "<｜DSML｜tool_calls>",
  minicpm: '<function name="',
};

function toCalls(dialect: Dialect, calls: CallRequest, book: RuleBook): Expr | undefined {
  if (dialect.tools === "harmony" || dialect.tools === "none") return undefined;
  return callGrammars[dialect.tools]?.(calls, book);
}

/** Behind a closing tag: a line end, so that no sign of the answer makes it look quoted. */
const BEHIND_TAG = repeat({ kind: "text", text: "\n" }, 1, 2);

/** What comes before the answer. */
function thinking({ dialect, prompt }: AnswerRequest, book: RuleBook): Expr {
  const tags = thinkTagsOf(dialect.reasoning, prompt);
  if (tags === undefined) return EMPTY;
  const define = (name: string, expr: Expr): Expr => book.define(name, expr);
  const spelled = sequence(textUntil(tags.close, "thinking", define), BEHIND_TAG);
  // Where the tag is a control token, text can't spell it.
  const inside = choice(spelled, sequence(ANY_TEXT, token(tags.close), BEHIND_TAG));
  if (opensReasoning(dialect.reasoning, prompt)) return inside;
  if (prompt.trimEnd().endsWith(tags.close)) return EMPTY;
  return optional(sequence(token(tags.open), inside));
}

/**
 * gpt-oss: messages with headers, the first one's beginning in the prompt. Its ends are end tokens, but the one between
 * two messages.
 */
function harmonyAnswer({ calls }: AnswerRequest, content: Expr | undefined, book: RuleBook): Expr {
  const message = (header: Expr, body: Expr): Expr =>
    sequence(token("<|channel|>"), header, token("<|message|>"), body);
  const next = sequence(token("<|end|>"), token("<|start|>"), "assistant");
  const analysis = optional(sequence(message({ kind: "text", text: "analysis" }, ANY_TEXT), next));
  const endings: Expr[] = [];
  if (calls) {
    for (const { name, value } of calls.tools.map((tool) => calls.argumentsOf(tool, book))) {
      const header = sequence(`commentary to=functions.${name} `, token("<|constrain|>"), "json");
      endings.push(message(header, value));
    }
  }
  if (content) endings.push(message({ kind: "text", text: "final" }, content));
  return sequence(analysis, choice(...endings));
}
