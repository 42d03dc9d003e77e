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
import type { Machine, MachineNode } from "./machine.ts";

/** One entry of a stack. `count` is -1 for a call. */
interface Frame {
  readonly id: number;
  /** Where it goes on: behind the call, or at the count. */
  readonly node: number;
  /** Rounds that are done. */
  readonly count: number;
  readonly parent: Frame | undefined;
  readonly depth: number;
  /** Made with the first one: most have none. */
  children: Map<number, Frame> | undefined;
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
  /** Unlike that of every other state of the isolate; absent: nobody has asked. */
  number?: number;
}

/** Counts in a frame's key; both parts stay exact in a double. */
const COUNT_SPAN = 2 ** 21;

/** Readings up to which a list of them is looked through; a set costs more until then. */
const LISTED_MAX = 16;

/** The states of one machine. What one step needs is kept for the next: it would be most of the garbage. */
export class States {
  /** What they are states of. */
  readonly machine: Machine;
  #frames = 0;
  #root: Frame;
  #states = new Map<string, State>();
  /** Those of one reading that may not end, by it. */
  #places = new Map<number, State>();
  #start: State | undefined;
  /** Readings to follow: nodes, and their frames. */
  readonly #openNodes: number[] = [];
  readonly #openFrames: Frame[] = [];
  /** Readings that were met. */
  #seen: number[] = [];
  #seenMany: Set<number> | undefined;

  /** Knows no state yet. */
  constructor(machine: Machine) {
    this.machine = machine;
    this.#root = this.#newFrame(-1, -1, undefined);
  }

  /** States that are kept. */
  get size(): number {
    return this.#states.size + this.#places.size;
  }

  /** The state of the empty text. @throws {GrammarError} If there are too many readings. */
  start(): State {
    if (this.#start !== undefined) return this.#start;
    this.#begin();
    this.#visit(this.machine.start, this.#root);
    return this.#start = this.#close();
  }

  /** Forgets what was learned; states that are in use go on as they are. */
  forget(): void {
    this.#states = new Map();
    this.#places = new Map();
    this.#start = undefined;
    this.#root = this.#newFrame(-1, -1, undefined);
  }

  /** The state behind a symbol; null: it does not fit. @throws {GrammarError} If there are too many readings. */
  step(state: State, symbol: number): State | null {
    const kind = this.machine.classOf[symbol] ?? 0;
    const known = state.next[kind];
    if (known !== undefined) return known;
    this.#begin();
    const { readings } = state;
    for (let at = 0; at < readings.length; at++) {
      const reading = readings[at];
      const place = reading && this.machine.nodes[reading.node];
      if (reading === undefined || place?.kind !== "symbols") continue;
      const { edges } = place;
      for (let index = 0; index < edges.length; index++) {
        const edge = edges[index];
        if (edge && edge.low <= symbol && symbol <= edge.high) this.#visit(edge.next, reading.frame);
      }
    }
    const next = this.#openNodes.length === 0 ? null : this.#close();
    const found = next === null || (next.readings.length === 0 && !next.accepting) ? null : next;
    state.next[kind] = found;
    return found;
  }

  #newFrame(node: number, count: number, parent: Frame | undefined): Frame {
    return { id: this.#frames++, node, count, parent, depth: (parent?.depth ?? 0) + 1, children: undefined };
  }

  #push(parent: Frame, node: number, count: number): Frame {
    const key = node * COUNT_SPAN + count + 1;
    parent.children ??= new Map();
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

  #begin(): void {
    this.#openNodes.length = 0;
    this.#openFrames.length = 0;
    this.#seen.length = 0;
    this.#seenMany = undefined;
  }

  #visit(node: number, frame: Frame): void {
    this.#openNodes.push(node);
    this.#openFrames.push(frame);
  }

  /** Whether a reading was not met before. */
  #isNew(key: number): boolean {
    const seen = this.#seen;
    if (this.#seenMany === undefined) {
      for (let at = 0; at < seen.length; at++) if (seen[at] === key) return false;
      if (seen.push(key) === LISTED_MAX) this.#seenMany = new Set(seen);
      return true;
    }
    if (this.#seenMany.has(key)) return false;
    if (this.#seenMany.add(key).size > READINGS_MAX) {
      throw new GrammarError(`The grammar can be read in more than ${READINGS_MAX} ways at one place.`);
    }
    return true;
  }

  /** The state of the open readings: follows everything that takes no symbol. */
  #close(): State {
    const nodes = this.#openNodes;
    const frames = this.#openFrames;
    const onlyNode = nodes[0] ?? 0;
    const onlyFrame = frames[0];
    // Inside of texts and of characters nothing has to be followed.
    if (nodes.length === 1 && onlyFrame !== undefined && this.#isPlace(onlyNode)) {
      return this.#internPlace(onlyNode, onlyFrame);
    }
    const readings: Reading[] = [];
    let accepting = false;
    for (let frame = frames.pop(); frame !== undefined; frame = frames.pop()) {
      const node = nodes.pop() ?? 0;
      if (!this.#isNew(toReadingKey(node, frame))) continue;
      const at = this.machine.nodes[node];
      if (at === undefined) continue;
      if (at.kind === "symbols") {
        if (at.edges.length > 0) readings.push({ node, frame });
      } else if (at.kind === "return" && frame.parent === undefined) accepting = true;
      else this.#follow(at, node, frame);
    }
    const only = readings[0];
    if (readings.length === 1 && only !== undefined && !accepting) return this.#internPlace(only.node, only.frame);
    return this.#intern(readings, accepting);
  }

  #isPlace(node: number): boolean {
    const at = this.machine.nodes[node];
    return at?.kind === "symbols" && at.edges.length > 0;
  }

  #follow(at: MachineNode, node: number, frame: Frame): void {
    switch (at.kind) {
      case "split":
        for (let index = 0; index < at.next.length; index++) this.#visit(at.next[index] ?? 0, frame);
        return;
      case "call": {
        const entry = this.machine.entries.get(at.rule);
        if (entry === undefined) throw new GrammarError(`The rule ${at.rule} is not defined.`, { keyword: at.rule });
        // A call at the end of a rule needs no way back to it.
        const isTail = this.machine.nodes[at.next]?.kind === "return";
        this.#visit(entry, isTail ? frame : this.#push(frame, at.next, -1));
        return;
      }
      case "count":
        return this.#round(node, 0, frame);
      case "return":
        if (frame.parent === undefined) return;
        if (frame.count < 0) this.#visit(frame.node, frame.parent);
        else this.#round(frame.node, frame.count + 1, frame.parent);
    }
  }

  /** After `count` rounds: another one, or on. */
  #round(node: number, count: number, frame: Frame): void {
    const at = this.machine.nodes[node];
    if (at?.kind !== "count") return;
    const { item, min, max, next } = at;
    // Without an upper bound, more than enough is enough.
    const done = max === null ? Math.min(count, min) : count;
    if (max === null || done < max) this.#visit(item, this.#push(frame, node, done));
    if (done >= min) this.#visit(next, frame);
  }

  #internPlace(node: number, frame: Frame): State {
    const key = toReadingKey(node, frame);
    let state = this.#places.get(key);
    if (state === undefined) this.#places.set(key, state = this.#newState([{ node, frame }], false));
    return state;
  }

  #intern(readings: Reading[], accepting: boolean): State {
    readings.sort(inOrder);
    let key = accepting ? "!" : "";
    for (let at = 0; at < readings.length; at++) {
      const reading = readings[at];
      if (reading) key += `${reading.node}:${reading.frame.id},`;
    }
    let state = this.#states.get(key);
    if (state === undefined) this.#states.set(key, state = this.#newState(readings, accepting));
    return state;
  }

  #newState(readings: Reading[], accepting: boolean): State {
    const next = new Array<State | null | undefined>(this.machine.classCount).fill(undefined);
    return { readings, accepting, next };
  }
}

function inOrder(left: Reading, right: Reading): number {
  return left.node - right.node || left.frame.id - right.frame.id;
}

/** Equal for equal readings of one machine only. */
function toReadingKey(node: number, frame: Frame): number {
  return frame.id * MACHINE_EXPRESSIONS_MAX + node;
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
        const enough = roundsWithin(reach, counter.shortest);
        const left = counter.max === null ? enough : Math.min(enough, counter.max - at.count);
        stack.push(`${at.node}#${left}/${Math.min(enough, Math.max(0, counter.min - at.count))}`);
      }
    }
    return stack.join(";");
  });
  return parts.sort().join(",") + (state.accepting ? "!" : "");
}

/**
 * Whether two states are one but for how often a single repetition was gone through, so that whatever holds for the
 * next character of one holds for that of the other. A round is one character or more, so one at most ends with it.
 * False where a bound of the repetition, or its beginning, is so near that it might matter, and where more than one
 * count differs.
 */
export function isSameButForCount(left: State, right: State, machine: Machine): boolean {
  return findCounted(left, right, machine) !== undefined;
}

/** The frame of the one count in which two states differ, if `isSameButForCount` holds. */
function findCounted(left: State, right: State, machine: Machine): Frame | undefined {
  const { readings } = left;
  if (left.accepting !== right.accepting || readings.length !== right.readings.length) return undefined;
  let counted: { left: Frame; right: Frame } | undefined;
  for (let index = 0; index < readings.length; index++) {
    const reading = readings[index];
    const other = right.readings[index];
    if (reading === undefined || other === undefined || reading.node !== other.node) return undefined;
    // Several readings at one node stand in no order that both states share.
    if (readings[index + 1]?.node === reading.node) return undefined;
    let one: Frame | undefined = reading.frame;
    let two: Frame | undefined = other.frame;
    for (; one !== two; one = one.parent, two = two.parent) {
      if (one === undefined || two === undefined || one.node !== two.node) return undefined;
      if (one.count === two.count) continue;
      counted ??= { left: one, right: two };
      if (one !== counted.left || two !== counted.right || one.parent !== two.parent) return undefined;
    }
  }
  if (counted === undefined) return undefined;
  const found = counted.left;
  if (!isSamePhase(machine.nodes[found.node], found.count, counted.right.count)) return undefined;
  // The same repetition with another count would meet the one that differs.
  const isAlone = readings.every(({ frame }) => {
    for (let at: Frame | undefined = frame; at !== undefined; at = at.parent) {
      if (at.node === found.node && at.count >= 0 && at !== found) return false;
    }
    return true;
  });
  return isAlone ? found : undefined;
}

/**
 * How many characters may follow without changing the `toMaskKey` of any state on the way, where every one of them
 * leads from `state` to `behind`. 0 also where it is not known.
 */
export function roomOf(state: State, behind: State, machine: Machine, reach: number): number {
  const frame = findCounted(state, behind, machine);
  const at = frame && machine.nodes[frame.node];
  if (frame === undefined || at?.kind !== "count") return 0;
  const enough = roundsWithin(reach, at.shortest);
  const toMax = at.max === null ? Infinity : at.max - frame.count - enough;
  const toMin = frame.count >= at.min ? Infinity : at.min - frame.count - enough;
  const room = Math.min(toMax, toMin);
  return Number.isFinite(room) ? Math.max(0, room) : 0;
}

/** Rounds that can begin within so many symbols: the one that has begun may end with the first. */
function roundsWithin(reach: number, shortest: number): number {
  return 2 + Math.floor((reach - 1) / shortest);
}

/** Whether after both counts another round may follow, and what is behind the rounds in both cases or in neither. */
function isSamePhase(at: MachineNode | undefined, left: number, right: number): boolean {
  // A repetition that begins anew would meet one that has just begun.
  if (at?.kind !== "count" || left === 0 || right === 0) return false;
  if (at.max !== null && Math.max(left, right) + 1 >= at.max) return false;
  return left + 1 >= at.min === right + 1 >= at.min;
}

/** Whether counts are part of a state. */
export function isCounted(state: State): boolean {
  return state.readings.some(({ frame }) => {
    for (let at: Frame | undefined = frame; at?.parent !== undefined; at = at.parent) if (at.count >= 0) return true;
    return false;
  });
}
