/**
 * Reasoning in tags of the calls' own dialect, before a call: `<tool_call_reasoning>Why I do.</tool_call_reasoning>`.
 * It is told apart also where the model's other reasoning is not read.
 *
 * @module
 */
import { createThinkTags, type ThinkTags } from "../reasoning/think_tags.ts";
import type { ReasoningParser, ReasoningPiece } from "../reasoning/parser.ts";
import type { Run } from "../run.ts";
import type { AnswerEnd, ToolContext, ToolParser, ToolPiece } from "./parser.ts";

/** Parts what another parser found to be no call. */
export class ReasonedCalls implements ToolParser {
  readonly markers: readonly string[];
  readonly #calls: ToolParser;
  readonly #reasoning: ReasoningParser;

  /** Takes the parser of calls, and the tags. */
  constructor(calls: ToolParser, tags: ThinkTags, { wholeTokens }: Pick<ToolContext, "wholeTokens">) {
    this.#calls = calls;
    this.#reasoning = createThinkTags({ pairs: [tags], callEndsReasoning: true }, { open: false, wholeTokens });
    this.markers = [...calls.markers, ...this.#reasoning.markers];
  }

  /** What a run makes clear. */
  push(run: Run): ToolPiece[] {
    return this.#calls.push(run).flatMap((piece) => this.#part(piece));
  }

  /** What is left. */
  finish(end: AnswerEnd): ToolPiece[] {
    return [...this.#calls.finish(end).flatMap((piece) => this.#part(piece)), ...this.#rest()];
  }

  #part(piece: ToolPiece): ToolPiece[] {
    if (piece.type === "callEnd") this.#reasoning.afterCall?.();
    if (piece.type === "callStart") return [...this.#rest(), piece];
    if (piece.type !== "text") return [piece];
    const { run } = piece;
    // Special tokens of others part the text, and go on to whoever reads them.
    if (run.control && !this.#reasoning.markers.includes(run.text)) return [...this.#rest(), piece];
    return this.#reasoning.push(run).map(toToolPiece);
  }

  #rest(): ToolPiece[] {
    return this.#reasoning.finish().map(toToolPiece);
  }
}

function toToolPiece({ channel, run }: ReasoningPiece): ToolPiece {
  return { type: channel === "content" ? "text" : channel, run };
}
