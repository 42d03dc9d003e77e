/**
 * Texts that fit a grammar, drawn at random: at each place one of the bytes that may come next, so that whatever a
 * grammar wrongly allows turns up sooner or later.
 *
 * @module
 */
import type { Grammar } from "../../src/grammar/expr.ts";
import { FIRST_TOKEN_SYMBOL, toMachine } from "../../src/guide/machine.ts";
import { type State, States } from "../../src/guide/states.ts";

/** Bytes after which a walk tries to come to an end. */
const WANDER_BYTES = 120;
/** Bytes after which it is given up. */
const WALK_BYTES_MAX = 6000;
/** Bytes that end things. */
const CLOSERS = [...new TextEncoder().encode('"}],0 :e\n</')];

/** The states of a grammar without tokens of its own. */
export function statesOf(grammar: Grammar): States {
  return new States(toMachine(grammar, () => false));
}

/** A text that fits, or undefined if the walk did not come to an end. */
export function walkAtRandom(states: States, random: () => number): string | undefined {
  const symbols = walkSymbols(states, random);
  return symbols && new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(symbols));
}

/** The same as symbols: bytes, and from FIRST_TOKEN_SYMBOL on the tokens that the grammar names. */
export function walkSymbols(states: States, random: () => number): number[] | undefined {
  const symbols: number[] = [];
  let state = states.start();
  while (symbols.length < WALK_BYTES_MAX) {
    const ending = symbols.length > WANDER_BYTES;
    if (state.accepting && random() < (ending ? 1 : 0.3)) return symbols;
    const symbol = draw(states, state, random, ending);
    if (symbol === undefined) {
      if (state.accepting) continue;
      throw new Error(`Nothing fits behind ${symbols.join(" ")}`);
    }
    symbols.push(symbol);
    state = requireState(states.step(state, symbol));
  }
  return undefined;
}

function draw(states: States, state: State, random: () => number, ending: boolean): number | undefined {
  const fits = (symbol: number): boolean => states.step(state, symbol) !== null;
  const pick = (symbols: readonly number[]): number | undefined => symbols[Math.floor(random() * symbols.length)];
  const tokens = states.machine.tokens.map((_, index) => FIRST_TOKEN_SYMBOL + index).filter(fits);
  const closers = [...CLOSERS.filter(fits), ...tokens];
  if (closers.length > 0 && random() < (ending ? 0.9 : 0.15)) return pick(closers);
  return pick([...Array.from({ length: 256 }, (_, byte) => byte).filter(fits), ...tokens]);
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
