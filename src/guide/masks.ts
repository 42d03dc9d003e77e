/**
 * State → the mask of tokens that may come next. Masks are kept by what they depend on and shared by answers.
 *
 * @module
 */
import { MASK_BYTES_MAX, TOKEN_BYTES_MAX } from "./limits.ts";
import { FIRST_TOKEN_SYMBOL } from "./machine.ts";
import { type State, type States, toMaskKey } from "./states.ts";
import { PLAIN_ASCII, PLAIN_CHARS_MAX, setBit, type TokenSet } from "./token_set.ts";
import type { TokenTrie } from "./token_trie.ts";

/** Well-formed UTF-8 beyond ASCII: ranges of the bytes of a character (Unicode 16, table 3-7). */
const MULTIBYTE: readonly (readonly (readonly [number, number])[])[] = [
  [[0xc2, 0xdf], [0x80, 0xbf]],
  [[0xe0, 0xe0], [0xa0, 0xbf], [0x80, 0xbf]],
  [[0xe1, 0xec], [0x80, 0xbf], [0x80, 0xbf]],
  [[0xed, 0xed], [0x80, 0x9f], [0x80, 0xbf]],
  [[0xee, 0xef], [0x80, 0xbf], [0x80, 0xbf]],
  [[0xf0, 0xf0], [0x90, 0xbf], [0x80, 0xbf], [0x80, 0xbf]],
  [[0xf1, 0xf3], [0x80, 0xbf], [0x80, 0xbf], [0x80, 0xbf]],
  [[0xf4, 0xf4], [0x80, 0x8f], [0x80, 0xbf], [0x80, 0xbf]],
];

/** Masks of one vocabulary, bounded in bytes; the oldest leave first. */
export class MaskCache {
  readonly #masks = new Map<string, Uint32Array>();
  #bytes = 0;

  /** The mask of a key, made if it is not kept. */
  get(key: string, make: () => Uint32Array): Uint32Array {
    let mask = this.#masks.get(key);
    if (mask !== undefined) {
      this.#masks.delete(key);
      this.#masks.set(key, mask);
      return mask;
    }
    mask = make();
    this.#masks.set(key, mask);
    this.#bytes += mask.byteLength + key.length;
    for (const [oldest, { byteLength }] of this.#masks) {
      if (this.#bytes <= MASK_BYTES_MAX) break;
      this.#masks.delete(oldest);
      this.#bytes -= byteLength + oldest.length;
    }
    return mask;
  }
}

/** What may come next at a state: a bit a token. The result is shared: do not write. */
export function maskOf(
  state: State,
  states: States,
  tokens: TokenSet,
  cache: MaskCache,
  machineKey: number,
): Uint32Array {
  state.maskKey ??= `${machineKey}|${toMaskKey(state, states.machine, TOKEN_BYTES_MAX)}`;
  return cache.get(state.maskKey, () => makeMask(state, states, tokens));
}

function makeMask(state: State, states: States, tokens: TokenSet): Uint32Array {
  const words = new Uint32Array(tokens.wordCount);
  const run = findPlainRun(state, states);
  if (run === undefined) walk(tokens.all, state, states, words);
  else {
    const plain = tokens.plainUpTo[run];
    if (plain !== undefined) words.set(plain);
    walk(tokens.others, state, states, words);
  }
  states.machine.tokens.forEach((spelling, index) => {
    if (states.step(state, FIRST_TOKEN_SYMBOL + index) === null) return;
    for (const token of tokens.control.get(spelling) ?? []) setBit(words, token);
  });
  if (state.accepting) { for (const token of tokens.endTokens) setBit(words, token); }
  return words;
}

/** Allows every token of a tree that fits. */
function walk(trie: TokenTrie, from: State, states: States, words: Uint32Array): void {
  const { size, bytes, depth, skip, token, twin } = trie;
  const { classOf } = states.machine;
  const path: State[] = [from];
  for (let node = 0; node < size;) {
    const level = depth[node] ?? 0;
    const state = path[level - 1] ?? from;
    const byte = bytes[node] ?? 0;
    const known = state.next[classOf[byte] ?? 0];
    const next = known === undefined ? states.step(state, byte) : known;
    if (next === null) {
      node = skip[node] ?? size;
      continue;
    }
    path[level] = next;
    for (let id = token[node] ?? -1; id >= 0; id = twin.get(id) ?? -1) setBit(words, id);
    node++;
  }
}

/**
 * How many plain characters may follow, if that does not depend on which: PLAIN_CHARS_MAX stands for that many or more.
 * Undefined: it depends, so plain tokens must be walked as well.
 */
function findPlainRun(state: State, states: States): number | undefined {
  let at = state;
  for (let run = 0; run < PLAIN_CHARS_MAX; run++) {
    const next = at.uniform ??= findUniform(at, states);
    if (next === "mixed") return undefined;
    if (next === null) return run;
    if (next === at) return PLAIN_CHARS_MAX;
    at = next;
  }
  return PLAIN_CHARS_MAX;
}

/** The one state behind every plain character, or null if none fits; "mixed" otherwise. */
function findUniform(state: State, states: States): State | null | "mixed" {
  const [first = 0x20] = PLAIN_ASCII;
  const target = states.step(state, first);
  if (PLAIN_ASCII.some((byte) => states.step(state, byte) !== target)) return "mixed";
  return MULTIBYTE.every((ranges) => leadsTo(state, ranges, 0, target, states)) ? target : "mixed";
}

function leadsTo(
  state: State,
  ranges: readonly (readonly [number, number])[],
  index: number,
  target: State | null,
  states: States,
): boolean {
  const range = ranges[index];
  if (range === undefined) return state === target;
  const seen = new Set<State | null>();
  for (let byte = range[0]; byte <= range[1]; byte++) {
    const next = states.step(state, byte);
    if (seen.has(next)) continue;
    seen.add(next);
    if (next === null ? target !== null : !leadsTo(next, ranges, index + 1, target, states)) return false;
  }
  return true;
}
