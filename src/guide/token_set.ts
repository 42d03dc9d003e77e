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
import { TOKEN_BYTES_MAX, TOKEN_BYTES_STEPS } from "./limits.ts";
import { sortBySpelling, type Spellings, TOKENS_MAX, type TokenTrie, toTrie } from "./token_trie.ts";

/** Plain tokens of at most so many characters have a mask a length; the few longer ones are listed. */
export const PLAIN_CHARS_MAX = 32;

const LONGEST_STEP = Math.max(...TOKEN_BYTES_STEPS);

/** A long token that is not plain: nearly all are lines of one sign and their end. */
export interface LongToken {
  /** Id. */
  readonly token: number;
  /** Plain characters that it begins with. */
  readonly chars: number;
  /** Its bytes behind them. */
  readonly rest: Uint8Array;
}

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
  /** All usable tokens, by their length: up to each of TOKEN_BYTES_STEPS, and longer ones. */
  readonly all: readonly TokenTrie[];
  /** Those that are not plain, likewise, but for the longest. */
  readonly others: readonly TokenTrie[];
  /** The longest of those that are not plain: over the last of TOKEN_BYTES_STEPS, the shortest beginning first. */
  readonly longOthers: readonly LongToken[];
  /** Masks of the plain tokens of at most as many characters as the index. */
  readonly plainUpTo: readonly Uint32Array[];
  /** All plain tokens. */
  readonly plain: Uint32Array;
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
  if (count > TOKENS_MAX) throw new RangeError(`A vocabulary of ${count} tokens; at most ${TOKENS_MAX} can be masked`);
  const { bytes, offsets } = table;
  const ends = new Set(endTokens);
  const control = new Map<string, number[]>();
  const usable = new Uint8Array(count);
  const [all, others] = [new Int32Array(count), new Int32Array(count)];
  let [allCount, otherCount] = [0, 0];
  const plainUpTo = Array.from({ length: PLAIN_CHARS_MAX + 1 }, () => new Uint32Array(wordCount));
  const longPlain: { token: number; chars: number }[] = [];
  const longOthers: LongToken[] = [];
  for (let token = 0; token < count; token++) {
    const [start, end] = [offsets[token] ?? 0, offsets[token + 1] ?? 0];
    if (ends.has(token) || start === end || end - start > TOKEN_BYTES_MAX) continue;
    if (table.special[token] === 1) {
      const name = new TextDecoder().decode(bytes.subarray(start, end));
      control.set(name, [...control.get(name) ?? [], token]);
      continue;
    }
    usable[token] = 1;
    all[allCount++] = token;
    const { chars, end: plainEnd } = countPlain(bytes, start, end);
    if (plainEnd < end) {
      if (end - start <= LONGEST_STEP) others[otherCount++] = token;
      else longOthers.push({ token, chars, rest: bytes.subarray(plainEnd, end) });
    } else {
      const words = plainUpTo[chars];
      if (words === undefined) longPlain.push({ token, chars });
      else setBit(words, token);
    }
  }
  plainUpTo.reduce((shorter, words) => (addBits(words, shorter), words));
  const plain = plainUpTo[PLAIN_CHARS_MAX]?.slice() ?? new Uint32Array(wordCount);
  for (const { token } of longPlain) setBit(plain, token);
  return {
    wordCount,
    endTokens: endTokens.filter((token) => token < size),
    spelling: (token) => usable[token] === 1 ? bytes.subarray(offsets[token] ?? 0, offsets[token + 1] ?? 0) : undefined,
    control,
    all: toTries(all.subarray(0, allCount), table, [...TOKEN_BYTES_STEPS, TOKEN_BYTES_MAX]),
    others: toTries(others.subarray(0, otherCount), table, TOKEN_BYTES_STEPS),
    longOthers: longOthers.toSorted((left, right) => left.chars - right.chars),
    plainUpTo,
    plain,
    longPlain: longPlain.toSorted((left, right) => left.chars - right.chars),
  };
}

function toTries(tokens: Int32Array, spellings: Spellings, steps: readonly number[]): TokenTrie[] {
  const { offsets } = spellings;
  const sorted = sortBySpelling(tokens, spellings);
  return steps.map((most, at) => {
    const least = (steps[at - 1] ?? 0) + 1;
    const isIn = (length: number): boolean => least <= length && length <= most;
    return toTrie(sorted.filter((token) => isIn((offsets[token + 1] ?? 0) - (offsets[token] ?? 0))), spellings);
  });
}

/** Allows what is allowed in `more` too. */
export function addBits(words: Uint32Array, more: Uint32Array): void {
  // Read as signed: before V8 has compiled this, every larger number would be an object.
  const into = new Int32Array(words.buffer, words.byteOffset, words.length);
  const from = new Int32Array(more.buffer, more.byteOffset, more.length);
  for (let at = 0; at < into.length; at++) into[at] = (into[at] ?? 0) | (from[at] ?? 0);
}

/** Allows a token. */
export function setBit(words: Uint32Array, token: number): void {
  const at = token >>> 5;
  words[at] = (words[at] ?? 0) | (1 << (token & 31));
}

/** ASCII that stands in a JSON string as it is: all but controls, the quote and the backslash; U+007F is left out. */
export const PLAIN_ASCII: readonly number[] = Array.from({ length: 0x5f }, (_, index) => 0x20 + index)
  .filter((byte) => byte !== 0x22 && byte !== 0x5c);

const IS_PLAIN = Uint8Array.from({ length: 0x80 }, (_, byte) => PLAIN_ASCII.includes(byte) ? 1 : 0);

/** The plain characters that a spelling begins with, and where they end. */
function countPlain(bytes: Uint8Array, start: number, end: number): { chars: number; end: number } {
  let chars = 0;
  let at = start;
  for (; at < end; chars++) {
    const lead = bytes[at] ?? 0;
    if (lead < 0x80 && IS_PLAIN[lead] === 0) break;
    const next = at + characterBytes(lead, bytes[at + 1] ?? 0);
    if (next === at || next > end) break;
    let byte = at + 1;
    while (byte < next && ((bytes[byte] ?? 0) & 0xc0) === 0x80) byte++;
    if (byte < next) break;
    at = next;
  }
  return { chars, end: at };
}

/** Bytes of a character that begins with these two; 0: none does (Unicode 16, table 3-7). */
function characterBytes(lead: number, second: number): number {
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return 2;
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  return lead < 0xf0 ? 3 : 4;
}
