/**
 * All the ways to cut a text that a streaming parser must not notice: every position, every pair of positions for
 * short texts, and unit by unit.
 *
 * @module
 */

/** Texts up to this length are also cut at every pair of positions: 60 gives 1,711 pairs. */
export const PAIRS_LENGTH_MAX = 60;

/** Cuts of something with a length: the pieces of each, joined, are the whole. Empty pieces never occur. */
export function* splits<T extends { length: number; slice(start: number, end?: number): T }>(
  whole: T,
  pairsLengthMax = PAIRS_LENGTH_MAX,
): Generator<T[]> {
  yield whole.length === 0 ? [] : [whole];
  for (let at = 1; at < whole.length; at++) yield [whole.slice(0, at), whole.slice(at)];
  if (whole.length <= pairsLengthMax) {
    for (let first = 1; first < whole.length - 1; first++) {
      for (let second = first + 1; second < whole.length; second++) {
        yield [whole.slice(0, first), whole.slice(first, second), whole.slice(second)];
      }
    }
  }
  const units: T[] = [];
  for (let at = 0; at < whole.length; at++) units.push(whole.slice(at, at + 1));
  yield units;
}
