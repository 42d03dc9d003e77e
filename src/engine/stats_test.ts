/** Counters and histograms of the pump. */
import assert from "node:assert/strict";
import { EngineCounters, Histogram } from "./stats.ts";

Deno.test("Histogram counts a value at its bound into that bucket, and cumulates", () => {
  const histogram = new Histogram([0.1, 1]);
  for (const seconds of [0.05, 0.1, 0.5, 7]) histogram.observe(seconds);
  const { cumulativeCounts, sumSeconds } = histogram.snapshot();
  assert.deepEqual(cumulativeCounts, [2, 3, 4]);
  assert.ok(Math.abs(sumSeconds - 7.65) < 1e-9);
});

Deno.test("EngineCounters measure time to first token from submit and the mean between tokens", () => {
  const counters = new EngineCounters();
  const rest = { promptTokens: 1, cachedTokens: 0, draftedTokens: 0, acceptedTokens: 0 };
  counters.finished({ ...rest, completionTokens: 5, queueUs: 100_000, prefillUs: 400_000, decodeUs: 80_000 });
  counters.finished({ ...rest, completionTokens: 1, queueUs: 0, prefillUs: 5000, decodeUs: 0 });
  counters.finished({ ...rest, completionTokens: 0, queueUs: 9, prefillUs: 0, decodeUs: 0 });
  const { firstToken, betweenTokens } = counters.snapshot();
  assert.equal(firstToken.cumulativeCounts.at(-1), 2);
  assert.ok(Math.abs(firstToken.sumSeconds - 0.505) < 1e-9);
  assert.equal(betweenTokens.cumulativeCounts.at(-1), 1);
  assert.ok(Math.abs(betweenTokens.sumSeconds - 0.02) < 1e-9);
});
