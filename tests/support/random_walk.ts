/**
 * Texts that fit a grammar, drawn at random: at each place one of the bytes that may come next, so that whatever a
 * grammar wrongly allows turns up sooner or later.
 *
 * @module
 */
import type { Grammar } from "../../src/grammar/expr.ts";
import { toMachine } from "../../src/guide/machine.ts";
import { type State, States } from "../../src/guide/states.ts";

/** Numbers in [0, 1) from a seed (mulberry32 by Tommy Ettinger, public domain). */
export function randomFrom(seed: number): () => number {
  let at = seed >>> 0;
  return () => {
    at = (at + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(at ^ (at >>> 15), at | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Bytes after which a walk tries to come to an end. */
const WANDER_BYTES = 120;
/** Bytes after which it is given up. */
const WALK_BYTES_MAX = 6000;
/** Bytes that end things. */
const CLOSERS = [...new TextEncoder().encode('"}],0 :e')];

/** The states of a grammar without tokens of its own. */
export function statesOf(grammar: Grammar): States {
  return new States(toMachine(grammar, () => false));
}

/** A text that fits, or undefined if the walk did not come to an end. */
export function walkAtRandom(states: States, random: () => number): string | undefined {
  const bytes: number[] = [];
  let state = states.start();
  while (bytes.length < WALK_BYTES_MAX) {
    const ending = bytes.length > WANDER_BYTES;
    if (state.accepting && random() < (ending ? 1 : 0.3)) {
      return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes));
    }
    const byte = draw(states, state, random, ending);
    if (byte === undefined) {
      if (state.accepting) continue;
      throw new Error(`Nothing fits behind ${JSON.stringify(new TextDecoder().decode(Uint8Array.from(bytes)))}`);
    }
    bytes.push(byte);
    state = requireState(states.step(state, byte));
  }
  return undefined;
}

function draw(states: States, state: State, random: () => number, ending: boolean): number | undefined {
  const fits = (byte: number): boolean => states.step(state, byte) !== null;
  const closers = CLOSERS.filter(fits);
  if (closers.length > 0 && random() < (ending ? 0.9 : 0.15)) return closers[Math.floor(random() * closers.length)];
  const all = Array.from({ length: 256 }, (_, byte) => byte).filter(fits);
  return all[Math.floor(random() * all.length)];
}

function requireState(state: State | null): State {
  if (state === null) throw new Error("A byte that fits leads nowhere");
  return state;
}

/** Whether a text fits. */
export function accepts(states: States, text: string): boolean {
  let state: State | null = states.start();
  for (const byte of new TextEncoder().encode(text)) {
    state = states.step(state, byte);
    if (state === null) return false;
  }
  return state.accepting;
}
