/**
 * Measures several sides in turn and says how they compare: A B A, A B A, …
 *
 * A round measures every side once and the first one a second time, at the other end. That second measurement is the
 * A/A check: it meets the same disturbances and has the same number of samples, so the ratio of the first side to
 * itself is what this run can't tell apart from nothing. Every other round runs backwards, because a process that has
 * just worked gets less of a busy machine than one that has slept. Ratios are taken within rounds, where the machine's
 * mood is the same.
 *
 * @module
 */
import { printTable, write } from "../src/cli/terminal.ts";
import { type Better, type Summary, toSummary } from "./statistics.ts";

/** One thing that is compared. */
export interface Side {
  /** For tables. */
  readonly name: string;
  /** Measures once. @returns Figure's name → value; a figure that this side has not is absent. */
  measure(): Promise<Readonly<Record<string, number>>>;
}

/** What is measured. */
export interface Figure {
  /** Key in what `measure` returns. */
  readonly name: string;
  /** Heading. */
  readonly title: string;
  /** e.g. `tokens/s`. */
  readonly unit: string;
  /** Which direction is good. */
  readonly better: Better;
  /** How sides are compared; absent: by ratio. */
  readonly compared?: "ratio" | "difference";
}

/** Samples of one figure: one a round and side. */
export interface Samples {
  /** Which. */
  readonly figure: Figure;
  /** Side's name → its samples in order of rounds; sides without the figure are absent. */
  readonly sides: ReadonlyMap<string, readonly number[]>;
  /** The first side, measured again at the other end of each round. */
  readonly again: readonly number[];
}

/** How the first side compares with another: a ratio, over 1 when the first is better, or first minus other. */
export interface Comparison {
  /** Median over rounds of what it is within a round. */
  byRound: number;
  /** Middle half of those. */
  low: number;
  /** Middle half of those. */
  high: number;
  /** Of the medians. */
  byMedian: number;
  /** Of the bests. */
  byBest: number;
}

/**
 * Measures.
 *
 * @param sides At least one; the first is the one that ratios are about.
 * @param rounds > 0.
 * @param onRound Hears the number of each finished round, from 1.
 */
export async function alternate(
  sides: readonly [Side, ...Side[]],
  figures: readonly Figure[],
  rounds: number,
  onRound: (round: number) => void = () => {},
): Promise<Samples[]> {
  const taken = figures.map((figure) => ({
    figure,
    sides: new Map<string, number[]>(),
    again: [] as number[],
  }));
  const turns = [...sides.map((side) => ({ side, isAgain: false })), { side: sides[0], isAgain: true }];
  for (let round = 1; round <= rounds; round++) {
    for (const { side, isAgain } of round % 2 === 1 ? turns : turns.toReversed()) {
      const values = await side.measure();
      for (const { figure, sides, again } of taken) {
        const value = values[figure.name];
        if (value === undefined) continue;
        if (isAgain) again.push(value);
        else sides.set(side.name, [...sides.get(side.name) ?? [], value]);
      }
    }
    onRound(round);
  }
  return taken;
}

/** How `ours` compares with `theirs`, which was measured in the same rounds. */
export function toComparison(ours: readonly number[], theirs: readonly number[], figure: Figure): Comparison {
  const { better } = figure;
  const compare = (a: number, b: number): number => {
    if (figure.compared === "difference") return a - b;
    return better === "higher" ? a / b : b / a;
  };
  const rounds = ours.map((value, round) => compare(value, theirs[round] ?? NaN));
  const { median: byRound, low, high } = toSummary(rounds, "higher");
  const [mine, other] = [toSummary(ours, better), toSummary(theirs, better)];
  return { byRound, low, high, byMedian: compare(mine.median, other.median), byBest: compare(mine.best, other.best) };
}

/** Prints samples side by side, how the first side compares with the others, and how it compares with itself. */
export function printSamples({ figure, sides, again }: Samples): void {
  const [first, ...others] = [...sides];
  if (!first) return;
  const [name, ours] = first;
  const good = figure.better === "higher" ? "higher is better" : "lower is better";
  write(`\n${figure.title} (${figure.unit}, ${good}; ${ours.length} rounds)\n`);
  printTable([
    ["", "best", "median", "middle half"],
    ...[...sides].map(([side, samples]) => [side, ...toCells(toSummary(samples, figure.better))]),
  ]);
  const [title, sign] = figure.compared === "difference"
    ? [`difference (${figure.unit})`, "−"]
    : ["ratio, over 1: the first is better", ":"];
  printTable([
    [title, "by rounds", "middle half", "by medians", "by bests"],
    ...others.map((
      [side, theirs],
    ) => [`${name} ${sign} ${side}`, ...toComparisonCells(toComparison(ours, theirs, figure))]),
    [`${name} ${sign} itself (A/A)`, ...toComparisonCells(toComparison(ours, again, figure))],
  ]);
}

function toCells({ best, median, low, high }: Summary): string[] {
  return [toText(best), toText(median), `${toText(low)} – ${toText(high)}`];
}

function toComparisonCells({ byRound, low, high, byMedian, byBest }: Comparison): string[] {
  return [toText(byRound), `${toText(low)} – ${toText(high)}`, toText(byMedian), toText(byBest)];
}

/** Three digits that matter: `0.953`, `12.3`, `1520`. */
export function toText(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(value), 0.001))));
  return value.toFixed(Math.min(digits, 3));
}
