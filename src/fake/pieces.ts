/**
 * A reply's text → the tokens it is played as.
 *
 * A token's id is its place in the reply, so a reply brings its own vocabulary. Special tokens are spelled out in the
 * text and are one token each: the markers of the dialect, and whatever is written `<|like this|>` without blanks.
 *
 * @module
 */
import type { Vocabulary } from "../flow.ts";

/** One token of a reply. */
export interface Piece {
  /** What it spells; may be part of a character. */
  bytes: Uint8Array;
  /** A control token. */
  special: boolean;
}

/** Cuts plain text into the bytes of its tokens. */
export type TextCutter = (text: string) => Promise<Uint8Array[]>;

/** Finds spelled-out special tokens. */
export class SpecialSpellings {
  readonly #spellings: ReadonlySet<string>;
  readonly #pattern: RegExp;

  /** @param markers Special tokens that the dialect reads. */
  constructor(markers: readonly string[]) {
    this.#spellings = new Set(markers);
    const longestFirst = [...this.#spellings].sort((a, b) => b.length - a.length);
    const sources = longestFirst.map((marker) => marker.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"));
    this.#pattern = new RegExp([...sources, GENERIC].join("|"), "u");
  }

  /** Whether a token with this spelling is special. */
  has(spelling: string): boolean {
    return this.#spellings.has(spelling) || new RegExp(`^(?:${GENERIC})$`, "u").test(spelling);
  }

  /** A text's parts in order; every other one, beginning with the second, is a special token's spelling. */
  split(text: string): string[] {
    return text.split(new RegExp(`(${this.#pattern.source})`, "u"));
  }
}

/** `<|name|>`, with either bar. */
const GENERIC = "<[|｜][^\\s<>|｜]{1,64}[|｜]>";

/** The tokens of a text. */
export async function cutText(text: string, special: SpecialSpellings, cut: TextCutter): Promise<Piece[]> {
  const pieces: Piece[] = [];
  for (const [at, part] of special.split(text).entries()) {
    if (part === "") continue;
    if (at % 2 === 1) pieces.push({ bytes: new TextEncoder().encode(part), special: true });
    else for (const bytes of await cut(part)) pieces.push({ bytes, special: false });
  }
  return pieces;
}

/** The tokens of a list of chunks, one each. */
export function toPieces(chunks: readonly string[], special: SpecialSpellings): Piece[] {
  return chunks.map((chunk) => ({ bytes: new TextEncoder().encode(chunk), special: special.has(chunk) }));
}

/** Cuts where no tokenizer is at hand: a word with the blank before it, in parts of at most eight characters. */
export function cutSimply(text: string): Uint8Array[] {
  const parts = text.match(/[ ]?[\p{L}\p{N}_]{1,8}|[^]/gu) ?? [];
  return parts.map((part) => new TextEncoder().encode(part));
}

/** The tokens of one reply: ids are places. */
export class ReplyVocabulary implements Vocabulary {
  readonly stripsLeadingSpace = false;
  readonly #pieces: readonly Piece[];

  /** Takes the tokens. */
  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
  }

  get size(): number {
    return this.#pieces.length;
  }

  bytes(token: number): Uint8Array {
    return this.#pieces[token]?.bytes ?? new Uint8Array();
  }

  isSpecial(token: number): boolean {
    return this.#pieces[token]?.special ?? false;
  }
}
