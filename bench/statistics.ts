/**
 * Numbers about samples: best, median, middle half, a line through points. Pure; knows nothing of what was measured.
 *
 * @module
 */

/** Which end of the samples is the good one. */
export type Better = "higher" | "lower";

/** What a column of samples comes to. */
export interface Summary {
  /** The good end: machines are disturbed in one direction only. */
  best: number;
  /** Half of the samples are at or under it. */
  median: number;
  /** First quartile. */
  low: number;
  /** Third quartile; the middle half of the samples lies between `low` and it. */
  high: number;
}

/** A straight line through points, by least squares. */
export interface Line {
  /** Change of y for one x. */
  slope: number;
  /** Standard error of the slope, as if the points were independent. */
  slopeError: number;
  /** y at x = 0. */
  start: number;
}

/**
 * The value under which the share `share` of the samples lies, between neighbours by proportion.
 *
 * @param share 0 to 1.
 * @throws {RangeError} If there are no samples.
 */
export function toQuantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  if (below === undefined || above === undefined) throw new RangeError("Cannot summarize: there are no samples");
  return below + (above - below) * (place - Math.floor(place));
}

/** Best, median and middle half. @throws {RangeError} If there are no samples. */
export function toSummary(samples: readonly number[], better: Better): Summary {
  return {
    best: toQuantile(samples, better === "higher" ? 1 : 0),
    median: toQuantile(samples, 0.5),
    low: toQuantile(samples, 0.25),
    high: toQuantile(samples, 0.75),
  };
}

/** The line of least squares. @throws {RangeError} If there are fewer than three points, or all have the same x. */
export function toLine(points: readonly { x: number; y: number }[]): Line {
  const count = points.length;
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / count;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / count;
  const squares = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  if (count < 3 || squares === 0) throw new RangeError("Cannot fit a line: wanted are three points or more along x");
  const slope = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / squares;
  const start = meanY - slope * meanX;
  const rest = points.reduce((sum, { x, y }) => sum + (y - start - slope * x) ** 2, 0);
  return { slope, slopeError: Math.sqrt(rest / (count - 2) / squares), start };
}
