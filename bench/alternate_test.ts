import assert from "node:assert/strict";
import { alternate, type Figure, toComparison, toText } from "./alternate.ts";

const SPEED: Figure = { name: "speed", title: "speed", unit: "tokens/s", better: "higher" };
const WAIT: Figure = { name: "wait", title: "wait", unit: "ms", better: "lower" };

Deno.test("a round measures every side once and the first again, every other round backwards; a lacking figure is absent", async () => {
  const calls: string[] = [];
  const side = (name: string, figures: Record<string, number>) => ({
    name,
    measure: () => {
      calls.push(name);
      return Promise.resolve({ ...figures, speed: calls.length });
    },
  });
  const rounds: number[] = [];
  const [speed, wait] = await alternate([side("a", { wait: 5 }), side("b", {})], [SPEED, WAIT], 2, (round) => {
    rounds.push(round);
  });
  assert.deepEqual(calls, ["a", "b", "a", "a", "b", "a"]);
  assert.deepEqual([...speed!.sides], [["a", [1, 6]], ["b", [2, 5]]]);
  assert.deepEqual(speed!.again, [3, 4]);
  assert.deepEqual([...wait!.sides], [["a", [5, 5]]]);
  assert.deepEqual(rounds, [1, 2]);
});

Deno.test("a ratio over 1 means that the first is better, for rates and for times; a difference has a sign", () => {
  const rates = toComparison([20, 30, 10], [10, 10, 10], SPEED);
  assert.deepEqual(rates, { byRound: 2, low: 1.5, high: 2.5, byMedian: 2, byBest: 3 });
  assert.deepEqual(toComparison([1, 2, 1], [2, 2, 4], WAIT), { byRound: 2, low: 1.5, high: 3, byMedian: 2, byBest: 2 });
  const difference = toComparison([1, 2, 1], [2, 2, 4], { ...WAIT, compared: "difference" });
  assert.deepEqual(difference, { byRound: -1, low: -2, high: -0.5, byMedian: -1, byBest: -1 });
});

Deno.test("numbers are printed with the three digits that matter", () => {
  assert.deepEqual([1520.4, 12.34, 1.5, 0.9531, 0.0004, 0, NaN].map(toText), [
    "1520",
    "12.3",
    "1.50",
    "0.953",
    "0.000",
    "0.000",
    "–",
  ]);
});
