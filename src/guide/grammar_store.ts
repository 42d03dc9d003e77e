/**
 * Grammars of one vocabulary, by content, and the answers that follow them. Lives in the grammar worker.
 *
 * Invariant: every answer that was started holds its states itself, so a grammar may leave the store meanwhile.
 *
 * @module
 */
import type { Grammar } from "../grammar/expr.ts";
import { MACHINE_EXPRESSIONS_MAX, MACHINES_MAX, STATES_MAX } from "./limits.ts";
import { FIRST_TOKEN_SYMBOL, toMachine } from "./machine.ts";
import { type Mask, MaskCache, maskOf, roomAt } from "./masks.ts";
import type { SharedPlace } from "./shared_place.ts";
import { isCounted, type State, States } from "./states.ts";
import type { TokenSet } from "./token_set.ts";

/** A grammar that can be followed. */
export interface Followed {
  /** Of this grammar in its store; masks are kept by it. */
  readonly number: number;
  /** What was learned of it so far. */
  readonly states: States;
}

/** One vocabulary's grammars. */
export class GrammarStore {
  readonly #tokens: TokenSet;
  readonly #masks = new MaskCache();
  readonly #kept = new Map<string, Followed>();
  #nodes = 0;
  #prepared = 0;

  /** Keeps none yet. */
  constructor(tokens: TokenSet) {
    this.#tokens = tokens;
  }

  /** The grammar of a key, if it is kept. */
  find(key: string): Followed | undefined {
    const found = this.#kept.get(key);
    if (found === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, found);
    return found;
  }

  /** The same, made if it is not kept. @throws {GrammarError} If it can't be followed. */
  prepare(key: string, grammar: Grammar): Followed {
    const known = this.find(key);
    if (known !== undefined) return known;
    const machine = toMachine(grammar, (spelling) => this.#tokens.control.has(spelling));
    const followed: Followed = { number: ++this.#prepared, states: new States(machine) };
    followed.states.start();
    this.#kept.set(key, followed);
    this.#nodes += machine.nodes.length;
    for (const [oldest, { states }] of this.#kept) {
      if (this.#kept.size <= MACHINES_MAX && this.#nodes <= MACHINE_EXPRESSIONS_MAX) break;
      if (oldest === key) break;
      this.#kept.delete(oldest);
      this.#nodes -= states.machine.nodes.length;
    }
    return followed;
  }

  /** An answer at its beginning. */
  start(followed: Followed): Matcher {
    let states = 0;
    for (const kept of this.#kept.values()) states += kept.states.size;
    if (states > STATES_MAX) { for (const kept of this.#kept.values()) kept.states.forget(); }
    return new Matcher(followed, this.#tokens, this.#masks);
  }
}

/** Of all stores: places of other grammars have other numbers. */
let placeCount = 0;

/** One answer, followed token by token. */
export class Matcher {
  readonly #followed: Followed;
  readonly #tokens: TokenSet;
  readonly #masks: MaskCache;
  #state: State;
  #ended = false;

  /** At the beginning. */
  constructor(followed: Followed, tokens: TokenSet, masks: MaskCache) {
    this.#followed = followed;
    this.#tokens = tokens;
    this.#masks = masks;
    this.#state = followed.states.start();
  }

  /** Words that `writeMask` writes. */
  get wordCount(): number {
    return this.#tokens.wordCount;
  }

  /** Whether the answer may end here. */
  get accepting(): boolean {
    return this.#state.accepting;
  }

  /** Goes over a token. @returns Whether it fits; if not, the answer stays where it is. */
  accept(token: number): boolean {
    if (this.#ended) return false;
    if (this.#tokens.endTokens.includes(token)) return this.#ended = this.#state.accepting;
    const { states } = this.#followed;
    const bytes = this.#tokens.spelling(token);
    let at: State | null = this.#state;
    if (bytes === undefined) at = this.#overControl(token);
    else for (let index = 0; index < bytes.length && at !== null; index++) at = states.step(at, bytes[index] ?? 0);
    if (at === null) return false;
    this.#state = at;
    return true;
  }

  #overControl(token: number): State | null {
    const { states } = this.#followed;
    const index = states.machine.tokens.findIndex((name) => this.#tokens.control.get(name)?.includes(token) === true);
    return index < 0 ? null : states.step(this.#state, FIRST_TOKEN_SYMBOL + index);
  }

  /** What may come next: bit t % 32 of word t / 32. Nothing behind an end token. */
  writeMask(words: Uint32Array): void {
    if (this.#ended) words.fill(0);
    else words.set(this.#mask().words);
  }

  /** Where it stands: the mask, and what else is known of the place. */
  writePlace(place: SharedPlace): void {
    this.writeMask(place.mask);
    if (this.#ended) return place.tell(0, undefined);
    if (!isCounted(this.#state)) return place.tell(this.#state.number ??= ++placeCount, this.#mask().stays);
    const counted = roomAt(this.#state, this.#followed.states, this.#tokens);
    place.tell(0, counted?.stays, counted?.room);
  }

  #mask(): Mask {
    return maskOf(this.#state, this.#followed.states, this.#tokens, this.#masks, this.#followed.number);
  }
}
