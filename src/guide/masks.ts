/**
 * State → the mask of tokens that may come next. Masks are kept by what they depend on and shared by answers.
 *
 * Where counts are part of a state, short tokens and long ones are masked apart: a count that can't run out within a
 * short token leaves the mask of those as it is, so that a new count costs a walk over the few longest ones.
 *
 * @module
 */
import { MASK_BYTES_MAX, TOKEN_BYTES_MAX, TOKEN_BYTES_STEPS } from "./limits.ts";
import { FIRST_TOKEN_SYMBOL, type Machine } from "./machine.ts";
import { isCounted, isSameButForCount, roomOf, type State, type States, toMaskKey } from "./states.ts";
import { addBits, PLAIN_ASCII, PLAIN_CHARS_MAX, setBit, type TokenSet } from "./token_set.ts";
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

/** What may come next at a place: a bit a token. Shared: do not write. */
export interface Mask {
  /** Tokens that may come. */
  readonly words: Uint32Array;
  /** Those of them that lead back to the place; absent: none, or a count is part of it. */
  readonly stays?: Uint32Array;
}

function bytesOf(key: string, { words, stays }: Mask): number {
  return key.length + words.byteLength + (stays?.byteLength ?? 0);
}

/** Masks of one vocabulary, bounded in bytes; the oldest leave first. */
export class MaskCache {
  readonly #masks = new Map<string, Mask>();
  #bytes = 0;

  /** The mask of a key, made if it is not kept. */
  get(key: string, make: () => Mask): Mask {
    let mask = this.#masks.get(key);
    if (mask !== undefined) {
      this.#masks.delete(key);
      this.#masks.set(key, mask);
      return mask;
    }
    mask = make();
    this.#masks.set(key, mask);
    this.#bytes += bytesOf(key, mask);
    for (const [oldest, old] of this.#masks) {
      if (this.#bytes <= MASK_BYTES_MAX) break;
      this.#masks.delete(oldest);
      this.#bytes -= bytesOf(oldest, old);
    }
    return mask;
  }
}

/** A place in a text, as masks are made for it. */
interface Place {
  readonly state: State;
  readonly states: States;
  readonly tokens: TokenSet;
  readonly cache: MaskCache;
  /** Number of the grammar: keys of its masks begin with it. */
  readonly machineKey: number;
  /** Plain characters that may follow; undefined: it depends on which. */
  readonly run: number | undefined;
  /** What is walked: trees of all tokens, or of those that are not plain but for the longest. */
  readonly tries: readonly TokenTrie[];
  /** Collects the tokens that lead back to the place; absent where a count is part of it. */
  readonly stays: Uint32Array | undefined;
}

/**
 * Where characters are counted: the tokens that are plain, and how many characters of them may follow before the mask
 * is another one. Undefined: none.
 */
export function roomAt(
  state: State,
  states: States,
  tokens: TokenSet,
): { stays: Uint32Array; room: number } | undefined {
  const uniform = state.uniform ??= findUniform(state, states);
  if (!uniform || uniform === "mixed") return undefined;
  const room = roomOf(state, uniform, states.machine, TOKEN_BYTES_MAX);
  return room === 0 ? undefined : { stays: tokens.plain, room };
}

/** What may come next at a state. */
export function maskOf(
  state: State,
  states: States,
  tokens: TokenSet,
  cache: MaskCache,
  machineKey: number,
): Mask {
  state.maskKey ??= `${machineKey}|${toMaskKey(state, states.machine, TOKEN_BYTES_MAX)}`;
  return cache.get(state.maskKey, () => {
    const run = findPlainRun(state, states);
    const tries = run === undefined ? tokens.all : tokens.others;
    const stays = isCounted(state) ? undefined : new Uint32Array(tokens.wordCount);
    const words = makeUpTo(TOKEN_BYTES_STEPS.length, { state, states, tokens, cache, machineKey, run, tries, stays });
    addMarks(state, states, tokens, words);
    if (stays !== undefined && run !== undefined && state.uniform === state) addPlain(run, 0, tokens, stays);
    return { words, ...(stays?.some((word) => word !== 0) && { stays }) };
  });
}

/** The tokens of a step of lengths and all shorter ones; those are kept apart where a count is part of the state. */
function makeUpTo(step: number, place: Place): Uint32Array {
  const { state, states, tokens, cache, machineKey, run, tries, stays } = place;
  const chars = Math.min(run ?? 0, TOKEN_BYTES_STEPS[step] ?? TOKEN_BYTES_MAX);
  let words: Uint32Array;
  if (step === 0) words = tokens.plainUpTo[chars]?.slice() ?? new Uint32Array(tokens.wordCount);
  else if (stays !== undefined) words = makeUpTo(step - 1, place);
  else {
    const reach = TOKEN_BYTES_STEPS[step - 1] ?? 0;
    const shared = run === undefined ? "all" : Math.min(run, reach);
    const key = `${machineKey}<${step}|${shared}|${toMaskKey(state, states.machine, reach)}`;
    words = cache.get(key, () => ({ words: makeUpTo(step - 1, place) })).words.slice();
  }
  if (step > 0) addPlain(chars, TOKEN_BYTES_STEPS[step - 1] ?? 0, tokens, words);
  const trie = tries[step];
  if (trie !== undefined) walk(trie, state, states, words, stays);
  else if (run !== undefined) addLong(run, place, words);
  return words;
}

/** Adds the long tokens that are not plain: as far as they are, all lead to one place. */
function addLong(run: number, { state, states, tokens, stays }: Place, words: Uint32Array): void {
  let at = state;
  let done = 0;
  for (const { token, chars, rest } of tokens.longOthers) {
    if (chars > run) break;
    for (; done < chars && at.uniform && at.uniform !== "mixed"; done++) at = at.uniform;
    let next: State | null = at;
    for (let index = 0; index < rest.length && next !== null; index++) next = states.step(next, rest[index] ?? 0);
    if (next !== null) setBit(words, token);
    if (next === state && stays !== undefined) setBit(stays, token);
  }
}

/** Adds the plain tokens of at most `chars` characters to those of at most `done`. */
function addPlain(chars: number, done: number, tokens: TokenSet, words: Uint32Array): void {
  const plain = done < PLAIN_CHARS_MAX ? tokens.plainUpTo[Math.min(chars, PLAIN_CHARS_MAX)] : undefined;
  if (plain !== undefined) addBits(words, plain);
  for (const { token, chars: length } of tokens.longPlain) {
    if (length > chars) break;
    setBit(words, token);
  }
}

/** Allows control tokens that the grammar names, and those that end the answer. */
function addMarks(state: State, states: States, tokens: TokenSet, words: Uint32Array): void {
  states.machine.tokens.forEach((spelling, index) => {
    if (states.step(state, FIRST_TOKEN_SYMBOL + index) === null) return;
    for (const token of tokens.control.get(spelling) ?? []) setBit(words, token);
  });
  if (state.accepting) { for (const token of tokens.endTokens) setBit(words, token); }
}

/** Allows every token of a tree that fits, and collects those that lead back. */
function walk(trie: TokenTrie, from: State, states: States, words: Uint32Array, stays: Uint32Array | undefined): void {
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
    for (let id = token[node] ?? -1; id >= 0; id = twin.get(id) ?? -1) {
      setBit(words, id);
      if (next === from && stays !== undefined) setBit(stays, id);
    }
    node++;
  }
}

/**
 * How many plain characters may follow, if that does not depend on which: TOKEN_BYTES_MAX stands for that many or more.
 * Undefined: it depends, so plain tokens must be walked as well.
 */
function findPlainRun(state: State, states: States): number | undefined {
  let at = state;
  for (let run = 0; run < TOKEN_BYTES_MAX; run++) {
    const next = at.uniform ??= findUniform(at, states);
    if (next === "mixed") return undefined;
    if (next === null) return run;
    if (next === at) return TOKEN_BYTES_MAX;
    // Between the bounds of a count one character is as another: the next place need not be looked at.
    if (next.uniform === undefined && isSameButForCount(at, next, states.machine)) {
      next.uniform = states.step(next, PLAIN_ASCII[0] ?? 0x20);
    }
    at = next;
  }
  return TOKEN_BYTES_MAX;
}

/** The one state behind every plain character, or null if none fits; "mixed" otherwise. */
function findUniform(state: State, states: States): State | null | "mixed" {
  const [first = 0x20] = PLAIN_ASCII;
  const target = states.step(state, first);
  if (PLAIN_ASCII.some((byte) => states.step(state, byte) !== target)) return "mixed";
  return multibyteOf(states.machine).every((bytes) => leadsTo(state, bytes, target, states)) ? target : "mixed";
}

const MULTIBYTE_OF = new WeakMap<Machine, number[][][]>();

/** Of each range one byte of each class: what holds for these holds for all. */
function multibyteOf(machine: Machine): number[][][] {
  let found = MULTIBYTE_OF.get(machine);
  if (found === undefined) {
    const { classOf } = machine;
    const isFirst = (byte: number, low: number): boolean => byte === low || classOf[byte] !== classOf[byte - 1];
    found = MULTIBYTE.map((ranges) =>
      ranges.map(([low, high]) =>
        Array.from({ length: high - low + 1 }, (_, at) => low + at).filter((byte) => isFirst(byte, low))
      )
    );
    MULTIBYTE_OF.set(machine, found);
  }
  return found;
}

/** Whether all characters of these bytes lead to a place; null: nowhere. */
function leadsTo(
  state: State,
  bytes: readonly (readonly number[])[],
  target: State | null,
  states: States,
): boolean {
  let reached = new Set([state]);
  for (const [index, choices] of bytes.entries()) {
    const isLast = index === bytes.length - 1;
    const next = new Set<State>();
    for (const from of reached) {
      for (const byte of choices) {
        const to = states.step(from, byte);
        if ((to === null || isLast) && to !== target) return false;
        if (to !== null) next.add(to);
      }
    }
    reached = next;
  }
  return true;
}
