/**
 * Sets of code points: sorted ranges that do not touch, without surrogates.
 *
 * @module
 */
import { type CodePointRange, type Expr, NEVER } from "./expr.ts";

/** A set. */
export type CodePoints = readonly CodePointRange[];

/** Largest code point. */
export const CODE_POINT_MAX = 0x10ffff;
const SURROGATES: CodePointRange = [0xd800, 0xdfff];

/** Every code point that text may hold. */
export const ALL_CODE_POINTS: CodePoints = [[0, 0xd7ff], [0xe000, CODE_POINT_MAX]];

/** Sorts, joins, and takes surrogates away. */
export function toCodePoints(ranges: readonly CodePointRange[]): CodePoints {
  const sorted = ranges.flatMap(withoutSurrogates).sort((left, right) => left[0] - right[0]);
  const joined: [number, number][] = [];
  for (const [first, last] of sorted) {
    const before = joined.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else joined.push([first, last]);
  }
  return joined;
}

function withoutSurrogates([first, last]: CodePointRange): CodePointRange[] {
  const [low, high] = SURROGATES;
  if (last < low || first > high) return [[first, last]];
  return [...(first < low ? [[first, low - 1] as const] : []), ...(last > high ? [[high + 1, last] as const] : [])];
}

/** The characters of a string. */
export function codePointsOf(characters: string): CodePoints {
  return toCodePoints([...characters].map((one) => [one.codePointAt(0) ?? 0, one.codePointAt(0) ?? 0]));
}

/** In either. */
export function unite(...sets: readonly CodePoints[]): CodePoints {
  return toCodePoints(sets.flat());
}

/** In none. */
export function complement(set: CodePoints): CodePoints {
  const rest: CodePointRange[] = [];
  let next = 0;
  for (const [first, last] of set) {
    if (first > next) rest.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= CODE_POINT_MAX) rest.push([next, CODE_POINT_MAX]);
  return toCodePoints(rest);
}

/** In both. */
export function intersect(left: CodePoints, right: CodePoints): CodePoints {
  return complement(unite(complement(left), complement(right)));
}

/** In the first, not in the second. */
export function subtract(left: CodePoints, right: CodePoints): CodePoints {
  return intersect(left, complement(right));
}

/** Whether a code point is in it. */
export function contains(set: CodePoints, point: number): boolean {
  return set.some(([first, last]) => first <= point && point <= last);
}

/** One of them. */
export function oneOf(set: CodePoints): Expr {
  return set.length === 0 ? NEVER : { kind: "class", ranges: set };
}
