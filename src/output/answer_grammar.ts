// deno-lint-ignore-file camelcase -- names of parsers
/**
 * What a whole answer may be, as its dialect writes it: thinking first where the model thinks (answer_frames.ts), then
 * calls, or content that is bound to something.
 *
 * @module
 */
import type { Tool } from "../flow.ts";
import { choice, type Expr, type Grammar, optional, sequence, token } from "../grammar/expr.ts";
import { RuleBook } from "../grammar/rule_book.ts";
import { ANY_TEXT, textUntil } from "../grammar/until.ts";
import { type AnswerFrame, frameOf } from "./answer_frames.ts";
import type { Dialect } from "./decoder.ts";
import { HY_LABEL } from "./reasoning/mod.ts";
import { callGrammars } from "./tools/call_grammars.ts";
import { UI_TARS_TOOL } from "./tools/ui_tars.ts";
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

/** Whether calls of these tools can be bound in a dialect. UI-TARS calls one tool, whatever there is. */
export function bindsCalls(dialect: Dialect, tools: readonly Tool[]): boolean {
  if (dialect.tools === "ui_tars") return tools.some(({ name }) => name === UI_TARS_TOOL);
  return dialect.tools === "harmony" || Object.hasOwn(callGrammars, dialect.tools);
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
  const frame = frameOf(request.dialect.reasoning, request.prompt, book);
  const made = request.calls && toCalls(request.dialect, request.calls, book);
  const calls = made && (frame.calls?.(made) ?? made);
  const answer = request.content === "free" && calls
    ? mixed(request, calls, frame, book)
    : choice(...(calls ? [calls] : []), ...(content ? [frame.content(content)] : []));
  return book.toGrammar(sequence(frame.thinking, answer));
}

/** Free text in which calls may stand: what opens one can't be text. */
function mixed({ dialect, calls: request }: AnswerRequest, calls: Expr, frame: AnswerFrame, book: RuleBook): Expr {
  const { tools } = dialect;
  const opener = tools === "hy_v3" ? `<tool_calls${request?.label ?? HY_LABEL}>` : CALL_OPENERS[tools];
  if (opener === undefined) return choice(calls, frame.content(ANY_TEXT));
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
  mistral: "[TOOL_CALLS]",
  granite: "<|tool_call|>",
  deepseek: "<｜tool▁calls▁begin｜>",
  deepseek_v3: "<｜tool▁calls▁begin｜>",
  deepseek_v31: "<｜tool▁calls▁begin｜>",
  kimi: "<|tool_calls_section_begin|>",
  minimax: "<minimax:tool_call>",
  lfm: "<|tool_call_start|>",
  k2_horizon: "<ifm|tool_calls>",
  gemma4: "<|tool_call>",
};

function toCalls(dialect: Dialect, calls: CallRequest, book: RuleBook): Expr | undefined {
  if (dialect.tools === "harmony" || dialect.tools === "none") return undefined;
  return callGrammars[dialect.tools]?.(calls, book);
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
