/**
 * Where a text may stand in a machine: states, learned while texts are followed and kept, so that a step that was made
 * once is a look-up.
 *
 * A reading is a node and a stack of frames; a state is the set of all readings of the same text. Frames and states are
 * interned: equal ones are one object, so states compare by identity.
 *
 * @module
 */
import { GrammarError } from "../grammar/errors.ts";
import { MACHINE_EXPRESSIONS_MAX, READINGS_MAX, STACK_DEPTH_MAX } from "./limits.ts";
import type { Machine } from "./machine.ts";

/** One entry of a stack. `count` is -1 for a call. */
interface Frame {
  readonly id: number;
  /** Where it goes on: behind the call, or at the count. */
  readonly node: number;
  /** Rounds that are done. */
  readonly count: number;
  readonly parent: Frame | undefined;
  readonly depth: number;
  readonly children: Map<number, Frame>;
}

/** A reading: a node with symbols, and its stack. */
interface Reading {
  readonly node: number;
  readonly frame: Frame;
}

/** All readings of a text. */
export interface State {
  /** Each at a node with symbols. */
  readonly readings: readonly Reading[];
  /** Whether the text may end here. */
  readonly accepting: boolean;
  /** By class of symbol: the state behind it, null: none, undefined: not known yet. */
  readonly next: (State | null | undefined)[];
  /** Where every plain character leads (see masks.ts): null nowhere, "mixed" not all to one place. */
  uniform?: State | null | "mixed";
  /** Key of its mask; equal for states whose masks are. */
  maskKey?: string;
}

/** Counts in a frame's key; both parts stay exact in a double. */
const COUNT_SPAN = 2 ** 21;

/** The states of one machine. */
export class States {
  /** What they are states of. */
  readonly machine: Machine;
  #frames = 0;
  #root: Frame;
  #states = new Map<string, State>();
  #start: State | undefined;

  /** Knows no state yet. */
  constructor(machine: Machine) {
    this.machine = machine;
    this.#root = this.#newFrame(-1, -1, undefined);
  }

  /** States that are kept. */
  get size(): number {
    return this.#states.size;
  }

  /** The state of the empty text. @throws {GrammarError} If there are too many readings. */
  start(): State {
    return this.#start ??= this.#close([{ node: this.machine.start, frame: this.#root }]);
  }

  /** Forgets what was learned; states that are in use go on as they are. */
  forget(): void {
    this.#states = new Map();
    this.#start = undefined;
    this.#root = this.#newFrame(-1, -1, undefined);
  }

  /** The state behind a symbol; null: it does not fit. @throws {GrammarError} If there are too many readings. */
  step(state: State, symbol: number): State | null {
    const kind = this.machine.classOf[symbol] ?? 0;
    const known = state.next[kind];
    if (known !== undefined) return known;
    const reached: Reading[] = [];
    for (const { node, frame } of state.readings) {
      const at = this.machine.nodes[node];
      if (at?.kind !== "symbols") continue;
      for (const edge of at.edges) {
        if (edge.low <= symbol && symbol <= edge.high) reached.push({ node: edge.next, frame });
      }
    }
    const next = reached.length === 0 ? null : this.#close(reached);
    const found = next === null || (next.readings.length === 0 && !next.accepting) ? null : next;
    state.next[kind] = found;
    return found;
  }

  #newFrame(node: number, count: number, parent: Frame | undefined): Frame {
    return { id: this.#frames++, node, count, parent, depth: (parent?.depth ?? 0) + 1, children: new Map() };
  }

  #push(parent: Frame, node: number, count: number): Frame {
    const key = node * COUNT_SPAN + count + 1;
    let frame = parent.children.get(key);
    if (frame === undefined) {
      if (parent.depth >= STACK_DEPTH_MAX) {
        throw new GrammarError(`The answer is nested deeper than ${STACK_DEPTH_MAX} rules of its grammar.`);
      }
      frame = this.#newFrame(node, count, parent);
      parent.children.set(key, frame);
    }
    return frame;
  }

  /** Follows everything that takes no symbol. */
  #close(from: readonly Reading[]): State {
    const [only] = from;
    // Inside of texts and of characters nothing has to be followed.
    if (from.length === 1 && only !== undefined && this.#isPlace(only.node)) {
      return this.#intern([only], false);
    }
    const seen = new Set<number>();
    const open = [...from];
    const readings: Reading[] = [];
    let accepting = false;
    const visit = (node: number, frame: Frame): void => void open.push({ node, frame });
    for (let reading = open.pop(); reading !== undefined; reading = open.pop()) {
      const { node, frame } = reading;
      const key = frame.id * MACHINE_EXPRESSIONS_MAX + node;
      if (seen.has(key)) continue;
      seen.add(key);
      if (seen.size > READINGS_MAX) {
        throw new GrammarError(`The grammar can be read in more than ${READINGS_MAX} ways at one place.`);
      }
      const at = this.machine.nodes[node];
      if (at === undefined) continue;
      if (at.kind === "symbols") {
        if (at.edges.length > 0) readings.push(reading);
      } else if (at.kind === "return" && frame.parent === undefined) accepting = true;
      else this.#follow(node, frame, visit);
    }
    return this.#intern(readings, accepting);
  }

  #isPlace(node: number): boolean {
    const at = this.machine.nodes[node];
    return at?.kind === "symbols" && at.edges.length > 0;
  }

  #follow(node: number, frame: Frame, visit: (node: number, frame: Frame) => void): void {
    const at = this.machine.nodes[node];
    switch (at?.kind) {
      case "split":
        for (const next of at.next) visit(next, frame);
        return;
      case "call": {
        const entry = this.machine.entries.get(at.rule);
        if (entry === undefined) throw new GrammarError(`The rule ${at.rule} is not defined.`, { keyword: at.rule });
        // A call at the end of a rule needs no way back to it.
        const isTail = this.machine.nodes[at.next]?.kind === "return";
        visit(entry, isTail ? frame : this.#push(frame, at.next, -1));
        return;
      }
      case "count":
        return this.#round(node, 0, frame, visit);
      case "return":
        if (frame.parent === undefined) return;
        if (frame.count < 0) visit(frame.node, frame.parent);
        else this.#round(frame.node, frame.count + 1, frame.parent, visit);
    }
  }

  /** After `count` rounds: another one, or on. */
  #round(node: number, count: number, frame: Frame, visit: (node: number, frame: Frame) => void): void {
    const at = this.machine.nodes[node];
    if (at?.kind !== "count") return;
    const { item, min, max, next } = at;
    // Without an upper bound, more than enough is enough.
    const done = max === null ? Math.min(count, min) : count;
    if (max === null || done < max) visit(item, this.#push(frame, node, done));
    if (done >= min) visit(next, frame);
  }

  #intern(readings: Reading[], accepting: boolean): State {
    const sorted = readings.sort((left, right) => left.node - right.node || left.frame.id - right.frame.id);
    const key = sorted.map(({ node, frame }) => `${node}:${frame.id}`).join(",") + (accepting ? "!" : "");
    let state = this.#states.get(key);
    if (state === undefined) {
      const next = new Array<State | null | undefined>(this.machine.classCount).fill(undefined);
      state = { readings: sorted, accepting, next };
      this.#states.set(key, state);
    }
    return state;
  }
}

/**
 * A key that states share whose texts can go on alike for `reach` symbols: counts that can't run out, or be reached,
 * within them are told apart no more.
 */
export function toMaskKey(state: State, machine: Machine, reach: number): string {
  const parts = state.readings.map(({ node, frame }) => {
    const stack: string[] = [String(node)];
    for (let at: Frame | undefined = frame; at?.parent !== undefined; at = at.parent) {
      const counter = at.count < 0 ? undefined : machine.nodes[at.node];
      if (counter?.kind !== "count") stack.push(String(at.node));
      else {
        // The round that has begun may end with the first symbol.
        const enough = 2 + Math.floor((reach - 1) / counter.shortest);
        const left = counter.max === null ? enough : Math.min(enough, counter.max - at.count);
        stack.push(`${at.node}#${left}/${Math.min(enough, Math.max(0, counter.min - at.count))}`);
      }
    }
    return stack.join(";");
  });
  return parts.sort().join(",") + (state.accepting ? "!" : "");
}

/** Whether counts are part of a state. */
export function isCounted(state: State): boolean {
  return state.readings.some(({ frame }) => {
    for (let at: Frame | undefined = frame; at?.parent !== undefined; at = at.parent) if (at.count >= 0) return true;
    return false;
  });
}
