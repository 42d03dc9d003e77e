/**
 * From an answer's text to its parts: content, reasoning and calls. Either a parser of calls and one of reasoning in a
 * row, or one that owns the whole stream (protocols/).
 *
 * Calls are found first, everywhere: so a tag inside a call's argument is part of the argument, and a call inside the
 * reasoning is a call. What is no call is then parted into reasoning and content.
 *
 * @module
 */
import type { ReasoningParser } from "./reasoning/parser.ts";
import type { Run } from "./run.ts";
import type { AnswerEnd, CallPiece, ToolParser, ToolPiece } from "./tools/parser.ts";

/**
 * A part of an answer. `marker`: what parts the others, never shown; special tokens that nobody reads are too. `wire`:
 * what calls were read from. Every character that comes in goes out in one of the four.
 */
export type AnswerPiece = { type: "text" | "reasoning" | "marker" | "wire"; run: Run } | CallPiece;

/** Reads an answer. */
export interface AnswerParser {
  /** Special tokens that it reads, spelled out. */
  readonly markers: readonly string[];
  /** What ends the reasoning in the model's stead and begins its answer; "": nothing can. */
  readonly closing: string;
  /** What comes next is reasoning, as far as is known. */
  readonly thinking: boolean;
  /** What a run makes clear. */
  push(run: Run): AnswerPiece[];
  /** What is left. */
  finish(end: AnswerEnd): AnswerPiece[];
}

/** Calls, then reasoning. */
export class ChainedParser implements AnswerParser {
  readonly markers: readonly string[];
  readonly #tools: ToolParser;
  readonly #reasoning: ReasoningParser;

  /** Takes one parser of each kind. */
  constructor(tools: ToolParser, reasoning: ReasoningParser) {
    this.#tools = tools;
    this.#reasoning = reasoning;
    this.markers = [...tools.markers, ...reasoning.markers];
  }

  get closing(): string {
    return this.#reasoning.closing;
  }

  get thinking(): boolean {
    return this.#reasoning.inside;
  }

  /** What a run makes clear. */
  push(run: Run): AnswerPiece[] {
    return this.#tools.push(run).flatMap((piece) => this.#part(piece));
  }

  /** What is left. */
  finish(end: AnswerEnd): AnswerPiece[] {
    return [...this.#tools.finish(end).flatMap((piece) => this.#part(piece)), ...this.#reasoningRest()];
  }

  #part(piece: ToolPiece): AnswerPiece[] {
    if (piece.type === "text") return this.#reasoning.push(piece.run).map(toAnswerPiece);
    if (piece.type === "callEnd") this.#reasoning.afterCall?.();
    // Text before a call is held only for a tag that the call has parted.
    const parts = piece.type === "callStart" || piece.type === "reasoning" || piece.type === "marker";
    return parts ? [...this.#reasoningRest(), piece] : [piece];
  }

  #reasoningRest(): AnswerPiece[] {
    return this.#reasoning.finish().map(toAnswerPiece);
  }
}

function toAnswerPiece({ channel, run }: ReturnType<ReasoningParser["push"]>[number]): AnswerPiece {
  return { type: channel === "content" ? "text" : channel, run };
}
