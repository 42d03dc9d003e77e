import assert from "node:assert/strict";
import { drawSeed, mixSeed } from "./seed.ts";

Deno.test("choice 0 has the given seed, the others have splitmix64 of it cut to 63 bits", () => {
  assert.equal(mixSeed(42n, 0), 42n);
  // First output of Vigna's splitmix64.c for the state 0 is 0xe220a8397b1dcdaf.
  assert.equal(mixSeed(0n, 1), 0xe220a8397b1dcdafn & (2n ** 63n - 1n));
  const seeds = Array.from({ length: 64 }, (_, index) => mixSeed(2n ** 63n - 1n, index));
  assert.equal(new Set(seeds).size, 64);
  assert.ok(seeds.every((seed) => seed >= 0n && seed < 2n ** 63n));
});

Deno.test("drawn seeds have 63 bits and differ", () => {
  const seeds = Array.from({ length: 64 }, () => drawSeed());
  assert.equal(new Set(seeds).size, 64);
  assert.ok(seeds.every((seed) => seed >= 0n && seed < 2n ** 63n));
  assert.ok(seeds.some((seed) => seed >= 2n ** 62n));
});
