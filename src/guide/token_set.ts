/**
 * A vocabulary as masks need it: a tree of all spellings, and the plain tokens apart.
 *
 * Plain characters are those that stand in a JSON string as they are. Most tokens hold nothing else, and most places
 * with many choices are inside such a string, so whole sets of plain tokens, by their number of characters, are added
 * to a mask at once; only the others are walked.
 *
 * @module
 */
import type { TokenTableParts } from "../prompt/token_table.ts";
import { SHORT_TOKEN_BYTES_MAX, TOKEN_BYTES_MAX } from "./limits.ts";
import { type SpelledToken, type TokenTrie, toTrie } from "./token_trie.ts";

/** Plain tokens of at most so many characters have a mask a length; the few longer ones are listed. */
export const PLAIN_CHARS_MAX = 32;

/** A vocabulary, prepared. */
export interface TokenSet {
  /** 32-bit words of a mask. */
  readonly wordCount: number;
  /** Ids that end an answer. */
  readonly endTokens: readonly number[];
  /** Spelling of a token that is no control token; undefined: it may not be used. */
  spelling(token: number): Uint8Array | undefined;
  /** Control tokens by spelling; several ids may have one. */
  readonly control: ReadonlyMap<string, readonly number[]>;
  /** All usable tokens, short ones and long ones apart. */
  readonly all: readonly TokenTrie[];
  /** Those that are not plain, likewise. */
  readonly others: readonly TokenTrie[];
  /** Masks of the plain tokens of at most as many characters as the index. */
  readonly plainUpTo: readonly Uint32Array[];
  /** Plain tokens of more than PLAIN_CHARS_MAX characters, the shortest first. */
  readonly longPlain: readonly { token: number; chars: number }[];
}

/**
 * Prepares a vocabulary.
 *
 * @param table As the tokenizer has it.
 * @param size Ids that the model can draw; those that the tokenizer does not know may not be used.
 * @param endTokens Ids that end an answer.
 */
export function toTokenSet(table: TokenTableParts, size: number, endTokens: readonly number[]): TokenSet {
  const wordCount = Math.ceil(size / 32);
  const count = Math.min(size, table.special.length);
  const ends = new Set(endTokens);
  const spellingOf = (token: number): Uint8Array =>
    table.bytes.subarray(table.offsets[token] ?? 0, table.offsets[token + 1] ?? 0);
  const control = new Map<string, number[]>();
  const all: SpelledToken[] = [];
  const others: SpelledToken[] = [];
  const plainUpTo = Array.from({ length: PLAIN_CHARS_MAX + 1 }, () => new Uint32Array(wordCount));
  const longPlain: { token: number; chars: number }[] = [];
  const usable = new Uint8Array(count);
  for (let token = 0; token < count; token++) {
    const bytes = spellingOf(token);
    if (ends.has(token) || bytes.length === 0 || bytes.length > TOKEN_BYTES_MAX) continue;
    if (table.special[token] === 1) {
      const name = new TextDecoder().decode(bytes);
      control.set(name, [...control.get(name) ?? [], token]);
      continue;
    }
    usable[token] = 1;
    all.push({ token, bytes });
    const chars = countPlain(bytes);
    if (chars === undefined) others.push({ token, bytes });
    else if (chars > PLAIN_CHARS_MAX) longPlain.push({ token, chars });
    else {
      for (let length = chars; length <= PLAIN_CHARS_MAX; length++) {
        const words = plainUpTo[length];
        if (words !== undefined) setBit(words, token);
      }
    }
  }
  return {
    wordCount,
    endTokens: endTokens.filter((token) => token < size),
    spelling: (token) => usable[token] === 1 ? spellingOf(token) : undefined,
    control,
    all: toTries(all),
    others: toTries(others),
    plainUpTo,
    longPlain: longPlain.toSorted((left, right) => left.chars - right.chars),
  };
}

function toTries(tokens: readonly SpelledToken[]): TokenTrie[] {
  const isShort = ({ bytes }: SpelledToken): boolean => bytes.length <= SHORT_TOKEN_BYTES_MAX;
  return [toTrie(tokens.filter(isShort)), toTrie(tokens.filter((token) => !isShort(token)))];
}

/** Allows a token. */
export function setBit(words: Uint32Array, token: number): void {
  const at = token >>> 5;
  words[at] = (words[at] ?? 0) | (1 << (token & 31));
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Characters of a plain spelling; undefined: it is not plain. */
function countPlain(bytes: Uint8Array): number | undefined {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return undefined;
  }
  let count = 0;
  for (const char of text) {
    if (!isPlain(char.codePointAt(0) ?? 0)) return undefined;
    count++;
  }
  return count;
}

/** ASCII that stands in a JSON string as it is: all but controls, the quote and the backslash; U+007F is left out. */
export const PLAIN_ASCII: readonly number[] = Array.from({ length: 0x5f }, (_, index) => 0x20 + index)
  .filter((byte) => byte !== 0x22 && byte !== 0x5c);

function isPlain(point: number): boolean {
  return point >= 0x80 || PLAIN_ASCII.includes(point);
}
