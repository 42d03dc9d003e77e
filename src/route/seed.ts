/**
 * Seeds of choices. Sampling in the core is a function of (seed, position, logits), so a seed is all that an answer
 * depends on beside its prompt and parameters.
 *
 * @module
 */

const SEED_BITS = 63n;
const GOLDEN = 0x9E3779B97F4A7C15n;

/**
 * Seed of choice `index` of a request that gave a seed.
 *
 * Choice 0 has the given seed itself, so that a request with `n` and one without agree on it. Others have
 * splitmix64(seed + index · golden ratio), cut to 63 bits (Steele, Lea, Flood 2014; constants of Vigna's splitmix64.c).
 */
export function mixSeed(seed: bigint, index: number): bigint {
  if (index === 0) return seed;
  let x = BigInt.asUintN(64, seed + BigInt(index) * GOLDEN);
  x = BigInt.asUintN(64, (x ^ (x >> 30n)) * 0xBF58476D1CE4E5B9n);
  x = BigInt.asUintN(64, (x ^ (x >> 27n)) * 0x94D049BB133111EBn);
  return BigInt.asUintN(Number(SEED_BITS), x ^ (x >> 31n));
}

/** 63 random bits, for a choice whose request gave no seed. */
export function drawSeed(): bigint {
  const [word = 0n] = crypto.getRandomValues(new BigUint64Array(1));
  return BigInt.asUintN(Number(SEED_BITS), word);
}
