/**
 * Whether a text fits an expression without rules. JavaScript's own matcher can take for ever over a client's pattern;
 * here the work is counted, and a pattern that takes too much is refused.
 *
 * @module
 */
import { contains } from "./code_points.ts";
import { GrammarError } from "./errors.ts";
import type { Expr } from "./expr.ts";
import { FIT_STEPS_A_CHAR_MAX } from "./limits.ts";

/**
 * Whether all of a text fits. Rules and tokens fit nothing here.
 *
 * @param spend Told of the steps that were taken.
 * @throws {GrammarError} If it takes over FIT_STEPS_A_CHAR_MAX steps a character to tell.
 */
export function fitsText(expr: Expr, text: string, spend: (steps: number) => void = () => {}): boolean {
  const chars = [...text];
  const fitting = new Fitting(chars);
  const fits = fitting.ends(expr, new Set([0])).has(chars.length);
  spend(fitting.taken);
  return fits;
}

/** One text, and the work that is left for it. */
class Fitting {
  readonly #chars: readonly string[];
  readonly #stepsMax: number;
  #steps: number;

  constructor(chars: readonly string[]) {
    this.#chars = chars;
    // Short texts may have long patterns.
    this.#stepsMax = (chars.length + 16) * FIT_STEPS_A_CHAR_MAX;
    this.#steps = this.#stepsMax;
  }

  /** Steps so far. */
  get taken(): number {
    return this.#stepsMax - this.#steps;
  }

  /** Where it may end, from each of some starts. */
  ends(expr: Expr, starts: ReadonlySet<number>): Set<number> {
    this.#steps -= starts.size + 1;
    if (this.#steps < 0) {
      const start = JSON.stringify(this.#chars.slice(0, 40).join(""));
      throw new GrammarError(`Whether a pattern fits a text of the schema takes too long to tell: ${start}.`, {
        keyword: "pattern",
      });
    }
    const chars = this.#chars;
    switch (expr.kind) {
      case "text": {
        const wanted = [...expr.text];
        const fits = [...starts].filter((start) => wanted.every((char, at) => chars[start + at] === char));
        return new Set(fits.map((start) => start + wanted.length));
      }
      case "class": {
        const fits = [...starts].filter((start) => {
          const point = chars[start]?.codePointAt(0);
          return point !== undefined && contains(expr.ranges, point);
        });
        return new Set(fits.map((start) => start + 1));
      }
      case "sequence":
        return expr.items.reduce((from: Set<number>, item) => this.ends(item, from), new Set(starts));
      case "choice":
        return new Set(expr.items.flatMap((item) => [...this.ends(item, starts)]));
      case "repeat":
        return this.#repeated(expr.item, expr.min, expr.max, starts);
      case "rule":
      case "token":
        return new Set();
    }
  }

  #repeated(item: Expr, min: number, max: number | null, starts: ReadonlySet<number>): Set<number> {
    let from = new Set(starts);
    for (let round = 1; round <= min && from.size > 0; round++) {
      const next = this.ends(item, from);
      const isStuck = next.size === from.size && next.isSubsetOf(from);
      from = next;
      if (isStuck) break;
    }
    const found = new Set(from);
    // From where it came before it goes nowhere new, whatever the number of rounds.
    for (let round = min; (max === null || round < max) && from.size > 0; round++) {
      from = this.ends(item, from).difference(found);
      for (const at of from) found.add(at);
    }
    return found;
  }
}
