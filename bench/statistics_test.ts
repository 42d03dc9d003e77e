import assert from "node:assert/strict";
import { toLine, toQuantile, toSummary } from "./statistics.ts";

Deno.test("a quantile lies between its neighbours by proportion, in whatever order the samples come", () => {
  assert.equal(toQuantile([4, 1, 3, 2], 0.5), 2.5);
  assert.equal(toQuantile([4, 1, 3, 2], 0), 1);
  assert.equal(toQuantile([4, 1, 3, 2], 1), 4);
  assert.equal(toQuantile([10, 20], 0.25), 12.5);
  assert.throws(() => toQuantile([], 0.5), RangeError);
});

Deno.test("the best sample is the largest rate or the shortest time", () => {
  assert.deepEqual(toSummary([5, 1, 3, 2, 4], "higher"), { best: 5, median: 3, low: 2, high: 4 });
  assert.equal(toSummary([5, 1, 3, 2, 4], "lower").best, 1);
});

Deno.test("a line through exact points has their slope and no error; noise shows as error", () => {
  const exact = [0, 10, 20, 30].map((x) => ({ x, y: 7 + x / 2 }));
  assert.deepEqual(toLine(exact), { slope: 0.5, slopeError: 0, start: 7 });
  const noisy = exact.map(({ x, y }, i) => ({ x, y: y + (i % 2 === 0 ? 1 : -1) }));
  const { slope, slopeError } = toLine(noisy);
  // By hand: residual sum of squares 3.2 over 2 degrees of freedom, sum of squares of x 500.
  assert(Math.abs(slope - 0.46) < 1e-12);
  assert(Math.abs(slopeError - Math.sqrt(3.2 / 2 / 500)) < 1e-12);
  assert.throws(() => toLine([{ x: 1, y: 1 }, { x: 1, y: 2 }, { x: 1, y: 3 }]), RangeError);
});
