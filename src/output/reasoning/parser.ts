/**
 * What a parser of reasoning takes and gives. One file a format.
 *
 * @module
 */
import type { Run } from "../run.ts";

/** A part of an answer, and where it belongs. `marker`: what parts the two, never shown. */
export interface ReasoningPiece {
  /** Where it belongs. */
  channel: "content" | "reasoning" | "marker";
  /** Text and tokens. */
  run: Run;
}

/** Parts reasoning from content. Every character comes out, in order. */
export interface ReasoningParser {
  /** Special tokens that it reads, spelled out. */
  readonly markers: readonly string[];
  /** What ends the reasoning in the text, for parsers that look where the answer begins; "": nothing does. */
  readonly endMarker: string;
  /** What ends the reasoning in the model's stead and begins its answer, as its template would; "": nothing can. */
  readonly closing: string;
  /** What comes next is reasoning, as far as is known. */
  readonly inside: boolean;
  /** What a run makes clear. */
  push(run: Run): ReasoningPiece[];
  /** What is left; more may follow, for a call ends what is held before it. */
  finish(): ReasoningPiece[];
  /** A call has ended; absent: it changes nothing. */
  afterCall?(): void;
}

/** What a parser is made for. */
export interface ReasoningContext {
  /** The prompt's own text ended inside the reasoning: it goes on without an opening tag. */
  open: boolean;
  /** The prompt's own text ended behind a block that it closed: none is under way. Absent: it did not. */
  closed?: boolean;
  /** What follows the colon in this vocabulary's tags, with the colon (hy_v3); absent: what its template has. */
  label?: string;
  /** Tokens are reported: text is let go in whole tokens only. */
  wholeTokens: boolean;
}
