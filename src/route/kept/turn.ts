/**
 * What is remembered of an answered turn.
 *
 * @module
 */
import type { ToolCall } from "../../flow.ts";

/** Longest answer whose tokens are kept. */
export const KEPT_ANSWER_TOKENS_MAX = 65_536;

/** Tokens at the end of a prompt that are kept as they are; longer than what any template opens an answer with. */
export const PROMPT_TAIL_TOKENS = 32;

/** The prompt that a turn answered: its ids but for the last ones as a digest. */
export interface KeptPrompt {
  /** Tokens that the digest is of. */
  headLength: number;
  /** sha256 of their ids as 32-bit numbers. */
  headDigest: string;
  /** The ids that follow, at most PROMPT_TAIL_TOKENS. */
  tail: Int32Array;
}

/** What a rendering of the turn was found to be replaced with. */
export interface KnownFit {
  /** Ids of the tail that the prompt had in common. */
  common: number;
  /** The turn as the template rendered it. */
  rendered: Int32Array;
  /** Its stead; null: the rendering stays. */
  instead: Int32Array | null;
}

/** One answered turn. */
export interface KeptTurn {
  /** Text as the client was shown it. */
  content: string;
  /** Reasoning as it was written, shown or not. */
  reasoning: string;
  /** Calls as the client was shown them. */
  calls: readonly ToolCall[];
  /** What it answered. */
  prompt: KeptPrompt;
  /**
   * The drawn ids without the end token, or the text that a script played. Absent: what was drawn is not what the
   * turn is, because it was cut, repaired or broken.
   */
  drawn?: Int32Array | string;
  /** The last rendering that was compared. */
  known?: KnownFit;
}
