/**
 * A grammar as a machine over symbols: bytes, and behind them the tokens that the grammar names.
 *
 * Nodes are what stands between two symbols. Rules call one another, so a place in a text is a node and a stack (see
 * states.ts); large counts live in the stack too, so that `maxLength: 100000` costs no 100,000 nodes.
 *
 * @module
 */
import { GrammarError } from "../grammar/errors.ts";
import type { Expr, Grammar } from "../grammar/expr.ts";
import { findLeftRecursion, findNullable, findShortest, isNullable, shortestOf } from "./grammar_facts.ts";
import { MACHINE_EXPRESSIONS_MAX, READINGS_MAX } from "./limits.ts";
import { type ByteRange, toByteSequences } from "./utf8_ranges.ts";

/** One past the last byte; the grammar's tokens are the symbols from here on. */
export const FIRST_TOKEN_SYMBOL = 256;

/** A step over one symbol. */
export interface Edge {
  /** First symbol. */
  readonly low: number;
  /** Last symbol. */
  readonly high: number;
  /** Node behind it. */
  readonly next: number;
}

/** What stands at a place. */
export type MachineNode =
  | { kind: "symbols"; edges: Edge[] }
  | { kind: "split"; next: number[] }
  /** Goes into a rule, and on to `next` behind it. */
  | { kind: "call"; rule: string; next: number }
  /** Ends a rule, or one round of a count. */
  | { kind: "return" }
  /** `item` from `min` to `max` times, then `next`. `shortest`: symbols of a round at least, 1 or more. */
  | { kind: "count"; item: number; min: number; max: number | null; next: number; shortest: number };

/** A grammar, ready to be followed. */
export interface Machine {
  /** Places; `call` names are all in `entries`. */
  readonly nodes: readonly MachineNode[];
  /** First node of each rule. */
  readonly entries: ReadonlyMap<string, number>;
  /** First node of the root. */
  readonly start: number;
  /** Spellings of the tokens that are symbols, in order. */
  readonly tokens: readonly string[];
  /** Symbol → class: symbols of one class are on the same side of every edge. */
  readonly classOf: Uint16Array;
  /** How many classes. */
  readonly classCount: number;
}

/** Counts up to this one are written out. */
const UNROLLED_MAX = 16;

/**
 * Builds the machine of a grammar.
 *
 * @param hasToken Whether the vocabulary has a token of that spelling beside its text; others are spelled in text.
 * @throws {GrammarError} If a rule begins with itself, counts what may be empty or counted in too many ways, or comes
 *   to too many places.
 */
export function toMachine(grammar: Grammar, hasToken: (spelling: string) => boolean): Machine {
  const loop = findLeftRecursion(grammar);
  if (loop !== undefined) {
    // Joined grammars have numbers in front of their names.
    const name = loop.replace(/^\d+\./, "");
    throw new GrammarError(`The rule ${name} begins with itself: write it with repetition instead.`, { keyword: name });
  }
  const builder = new Builder(findNullable(grammar), findShortest(grammar), hasToken);
  for (const [name, expr] of grammar.rules) builder.addRule(name, expr);
  return builder.finish(grammar.root);
}

class Builder {
  readonly #nullable: ReadonlySet<string>;
  readonly #shortest: ReadonlyMap<string, number>;
  readonly #hasToken: (spelling: string) => boolean;
  readonly #nodes: MachineNode[] = [];
  readonly #entries = new Map<string, number>();
  readonly #tokens: string[] = [];
  readonly #ranges = new Map<number, number>();
  readonly #sequences = new WeakMap<object, ByteRange[][]>();

  constructor(
    nullable: ReadonlySet<string>,
    shortest: ReadonlyMap<string, number>,
    hasToken: (spelling: string) => boolean,
  ) {
    this.#nullable = nullable;
    this.#shortest = shortest;
    this.#hasToken = hasToken;
    this.#add({ kind: "return" });
  }

  addRule(name: string, expr: Expr): void {
    this.#entries.set(name, this.#build(expr, RETURN));
  }

  finish(root: string): Machine {
    const start = this.#entries.get(root);
    if (start === undefined) throw new GrammarError(`The grammar has no rule ${root}.`, { keyword: root });
    const { classOf, classCount } = toClasses(this.#nodes, FIRST_TOKEN_SYMBOL + this.#tokens.length);
    return { nodes: this.#nodes, entries: this.#entries, start, tokens: this.#tokens, classOf, classCount };
  }

  #add(node: MachineNode): number {
    if (this.#nodes.length >= MACHINE_EXPRESSIONS_MAX) {
      throw new GrammarError(
        `The grammar is too large: written out it has over ${MACHINE_EXPRESSIONS_MAX} expressions.`,
      );
    }
    return this.#nodes.push(node) - 1;
  }

  /** The node at which an expression begins that goes on to `next`. */
  #build(expr: Expr, next: number): number {
    switch (expr.kind) {
      case "text":
        return new TextEncoder().encode(expr.text).reduceRight((after, byte) => this.#symbol(byte, after), next);
      case "token":
        return this.#buildToken(expr.spelling, next);
      case "class":
        return this.#buildClass(expr.ranges, next);
      case "sequence":
        return expr.items.reduceRight((after, item) => this.#build(item, after), next);
      case "choice":
        return this.#add({ kind: "split", next: expr.items.map((item) => this.#build(item, next)) });
      case "rule":
        return this.#add({ kind: "call", rule: expr.name, next });
      case "repeat":
        return this.#buildRepeat(expr.item, expr.min, expr.max, next);
    }
  }

  #symbol(symbol: number, next: number): number {
    return this.#add({ kind: "symbols", edges: [{ low: symbol, high: symbol, next }] });
  }

  #buildToken(spelling: string, next: number): number {
    if (!this.#hasToken(spelling)) return this.#build({ kind: "text", text: spelling }, next);
    let index = this.#tokens.indexOf(spelling);
    if (index < 0) index = this.#tokens.push(spelling) - 1;
    return this.#symbol(FIRST_TOKEN_SYMBOL + index, next);
  }

  #buildClass(ranges: readonly (readonly [number, number])[], next: number): number {
    const edges: Edge[] = [];
    let sequences = this.#sequences.get(ranges);
    if (sequences === undefined) this.#sequences.set(ranges, sequences = ranges.flatMap(toByteSequences));
    for (const sequence of sequences) {
      const [lead, ...tail] = sequence;
      if (lead === undefined) continue;
      const after = tail.reduceRight((node, [low, high]) => this.#range(low, high, node), next);
      edges.push({ low: lead[0], high: lead[1], next: after });
    }
    return this.#add({ kind: "symbols", edges });
  }

  /** One byte of a range; the ends of characters are shared by all that go on alike. */
  #range(low: number, high: number, next: number): number {
    const key = next * 65536 + low * 256 + high;
    let node = this.#ranges.get(key);
    if (node === undefined) this.#ranges.set(key, node = this.#add({ kind: "symbols", edges: [{ low, high, next }] }));
    return node;
  }

  #buildRepeat(item: Expr, min: number, max: number | null, next: number): number {
    const isSmall = (max ?? min) <= UNROLLED_MAX;
    if (isNullable(item, this.#nullable)) {
      // Rounds that write nothing count as rounds: only how many there may be is left.
      if (max === null) return this.#buildLoop(item, 0, next);
      if (isSmall) return this.#unroll(item, 0, max, next);
      throw new GrammarError(`A repetition of ${max} times of what may be empty can't be followed.`, {
        keyword: `{${min},${max}}`,
      });
    }
    // Copies of what holds copies itself would multiply, so only what is plain is written out.
    if (max === null && (min <= 1 || (isSmall && isPlain(item)))) return this.#buildLoop(item, min, next);
    if (max !== null && isSmall && isPlain(item)) return this.#unroll(item, min, max, next);
    const ways = (max ?? min) * countsOf(item);
    if (!isSmall && ways > READINGS_MAX) {
      throw new GrammarError(`A repetition of a repetition can be read in ${ways} ways; at most ${READINGS_MAX}.`, {
        keyword: max === null ? `{${min},}` : `{${min},${max}}`,
      });
    }
    const shortest = Math.max(1, shortestOf(item, this.#shortest));
    return this.#add({ kind: "count", item: this.#build(item, RETURN), min, max, next, shortest });
  }

  /** One copy of the item up to `min` 1: the first round begins where every round does. */
  #buildLoop(item: Expr, min: number, next: number): number {
    const loop = this.#add({ kind: "split", next: [] });
    const entry = this.#build(item, loop);
    this.#nodes[loop] = { kind: "split", next: [entry, next] };
    if (min === 0) return loop;
    return Array.from({ length: min - 1 }).reduce((after: number) => this.#build(item, after), entry);
  }

  #unroll(item: Expr, min: number, max: number, next: number): number {
    let after = next;
    for (let round = max; round > 0; round--) {
      const entry = this.#build(item, after);
      after = round > min ? this.#add({ kind: "split", next: [entry, next] }) : entry;
    }
    return after;
  }
}

/** The node that ends every rule and every round. */
const RETURN = 0;

/** Cheap enough to be written out. */
function isPlain(item: Expr): boolean {
  return item.kind === "class" || item.kind === "text" || item.kind === "rule";
}

/** Symbols between two borders of edges behave alike. */
function toClasses(nodes: readonly MachineNode[], symbolCount: number): { classOf: Uint16Array; classCount: number } {
  const borders = new Uint8Array(symbolCount + 1);
  for (const node of nodes) {
    if (node.kind !== "symbols") continue;
    for (const { low, high } of node.edges) {
      borders[low] = 1;
      borders[high + 1] = 1;
    }
  }
  borders[FIRST_TOKEN_SYMBOL] = 1;
  const classOf = new Uint16Array(symbolCount);
  let current = 0;
  for (let symbol = 0; symbol < symbolCount; symbol++) {
    if (symbol > 0 && borders[symbol] === 1) current++;
    classOf[symbol] = current;
  }
  return { classOf, classCount: current + 1 };
}

/**
 * In how many counts a place can be where rounds of nothing but a repetition come again and again: each of them with
 * each count around it is a way to read the same text. 0: where a round ends is clear, as far as is looked.
 */
function countsOf(item: Expr): number {
  if (item.kind === "sequence" && item.items.length === 1 && item.items[0] !== undefined) {
    return countsOf(item.items[0]);
  }
  if (item.kind !== "repeat" || item.min === item.max) return 0;
  // Small ones are followed whatever they come to.
  const counts = item.max ?? item.min;
  return counts <= UNROLLED_MAX ? countsOf(item.item) : counts * Math.max(1, countsOf(item.item));
}
