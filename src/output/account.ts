/**
 * The account of an answer's characters: none may vanish.
 *
 * Kept by standard.ts from the runs that pass it, so it does not depend on what a parser says of itself.
 *
 * @module
 */

/**
 * Where the characters of an answer went, in UTF-16 units of its decoded text. At the end `raw` is the sum of the
 * others; what it is more was lost.
 */
export interface CharacterAccount {
  /** Decoded from tokens, special ones spelled out, end tokens not. */
  raw: number;
  /** Shown as content. */
  content: number;
  /** Shown as reasoning. */
  reasoning: number;
  /** Calls were read from them, white space around the calls included. */
  calls: number;
  /** Tags and headers between the parts, with the white space that they own. */
  markup: number;
  /** Special tokens that nobody reads; each is named in a repair. */
  hidden: number;
  /** The stop string, and what stood behind it in its token. */
  stopped: number;
}

/** Of an answer that has not begun. */
export function emptyAccount(): CharacterAccount {
  return { raw: 0, content: 0, reasoning: 0, calls: 0, markup: 0, hidden: 0, stopped: 0 };
}
