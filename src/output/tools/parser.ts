/**
 * What a parser of tool calls takes and gives. One file a dialect; the suite of tests/golden/tools runs on each.
 *
 * @module
 */
import type { Tool } from "../../flow.ts";
import type { Run } from "../run.ts";

/**
 * What a parser makes of text, in order. `wire`: what calls were read from, with white space around them. `reasoning`
 * and `marker`: what the dialect itself tells apart from text, and its tags.
 */
export type ToolPiece = { type: "text" | "wire" | "reasoning" | "marker"; run: Run } | CallPiece;

/** A call on its way. `callBroken` ends one that began and can't be completed; its text follows as text. */
export type CallPiece =
  | { type: "callStart"; name: string; id?: string }
  | { type: "callArguments"; json: string }
  | { type: "callEnd" }
  | { type: "callBroken" }
  | { type: "repair"; name: string; detail: string };

/** How an answer ended: by the model's own will, or cut by a limit, a stop string or a cancel. */
export type AnswerEnd = "natural" | "cut";

/**
 * Finds calls in an answer's text.
 *
 * Promises: every character is text, part of a call, or named in a repair; only declared tools are called; a call that
 * was cut never ends with `callEnd`; joined pieces do not depend on how the text was cut.
 */
export interface ToolParser {
  /** Special tokens that it reads, spelled out. */
  readonly markers: readonly string[];
  /** What a run makes clear. */
  push(run: Run): ToolPiece[];
  /** What is left. */
  finish(end: AnswerEnd): ToolPiece[];
}

/** What a parser is made for. */
export interface ToolContext {
  /** Tools that may be called, by name. */
  tools: ReadonlyMap<string, Tool>;
  /** What ends the reasoning in this answer's text, such as `</think>`, also one that nobody reads; "": none. */
  reasoningEnd: string;
  /** Special tokens of the reasoning: inside a call they are part of it, as when they are spelled out. */
  reasoningMarkers?: readonly string[];
  /** Tokens are reported: text is let go in whole tokens only. */
  wholeTokens: boolean;
  /** The rendered prompt; absent: it does not matter. */
  prompt?: string;
  /** What follows the colon in this vocabulary's tags, with the colon (hy_v3); absent: what its template has. */
  label?: string;
}
