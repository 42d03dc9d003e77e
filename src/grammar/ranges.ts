/**
 * Numbers between two bounds, as grammars over their digits.
 *
 * A bound is a decimal text, so nothing is rounded; numbers are written without exponents, and with so few digits that
 * a reader's rounding can't carry one over its bound.
 *
 * @module
 */
import { choice, EMPTY, type Expr, NEVER, optional, repeat, sequence, text } from "./expr.ts";
import { oneOf } from "./code_points.ts";
import { DIGIT, NONZERO } from "./json.ts";
import { INTEGER_DIGITS_MAX } from "./limits.ts";

/** One end of a range. */
export interface Bound {
  /** Decimal, without exponent. */
  value: string;
  /** The value itself is outside. */
  exclusive: boolean;
}

/** Ends; an absent one is open. */
export interface Bounds {
  /** The lower end. */
  min?: Bound;
  /** The upper end. */
  max?: Bound;
}

/** A magnitude: digits before and behind the point, without zeros that say nothing. */
interface Magnitude {
  whole: string;
  fraction: string;
  exclusive: boolean;
}

/** The integers between two bounds, those outside of 15 digits left out. */
export function integersBetween(bounds: Bounds): Expr {
  return signed(bounds, (min, max) => {
    // A bound between two integers is the next one inside.
    const low = min === undefined ? 0n : BigInt(min.whole) + (min.fraction !== "" || min.exclusive ? 1n : 0n);
    const largest = 10n ** BigInt(INTEGER_DIGITS_MAX) - 1n;
    const top = max === undefined ? largest : BigInt(max.whole) - (max.fraction === "" && max.exclusive ? 1n : 0n);
    const high = top > largest ? largest : top;
    return low > high ? NEVER : wholesBetween(low, high);
  });
}

/** The numbers between two bounds. */
export function numbersBetween(bounds: Bounds): Expr {
  return signed(bounds, (min, max) => magnitudesBetween(min, max));
}

/** Splits a range at zero. */
function signed(
  { min, max }: Bounds,
  between: (min: Magnitude | undefined, max: Magnitude | undefined) => Expr,
): Expr {
  const parts: Expr[] = [];
  const isNegative = (bound: Bound): boolean => bound.value.startsWith("-");
  if (max === undefined || !isNegative(max)) {
    parts.push(between(min === undefined || isNegative(min) ? undefined : toMagnitude(min), max && toMagnitude(max)));
  }
  const reachesDown = min === undefined || isNegative(min);
  if (reachesDown) {
    const low = max === undefined || !isNegative(max) ? toMagnitude({ value: "0", exclusive: true }) : toMagnitude(max);
    parts.push(sequence("-", between(low, min && toMagnitude(min))));
  }
  return choice(...parts);
}

function toMagnitude({ value, exclusive }: Bound): Magnitude {
  const [whole = "0", fraction = ""] = value.replace("-", "").split(".");
  return { whole: whole.replace(/^0+(?=\d)/, ""), fraction: fraction.replace(/0+$/, ""), exclusive };
}

/** Integers from `low` to `high`, at least 0. */
function wholesBetween(low: bigint, high: bigint): Expr {
  const parts: Expr[] = [];
  for (let digits = String(low).length; digits <= String(high).length; digits++) {
    const first = digits === 1 ? 0n : 10n ** BigInt(digits - 1);
    const last = 10n ** BigInt(digits) - 1n;
    parts.push(sameLength(String(low > first ? low : first), String(high < last ? high : last)));
  }
  return choice(...parts);
}

/** Digits between two numbers of one length. */
function sameLength(low: string, high: string): Expr {
  if (low === high) return text(low);
  const head = low.charAt(0);
  const top = high.charAt(0);
  const rest = low.length - 1;
  if (head === top) return sequence(head, sameLength(low.slice(1), high.slice(1)));
  const zeros = "0".repeat(rest);
  const nines = "9".repeat(rest);
  const parts: Expr[] = [];
  let first = Number(head);
  let last = Number(top);
  if (low.slice(1) !== zeros) {
    parts.push(sequence(head, sameLength(low.slice(1), nines)));
    first++;
  }
  if (high.slice(1) !== nines) {
    parts.push(sequence(top, sameLength(zeros, high.slice(1))));
    last--;
  }
  if (first <= last) parts.push(sequence(digitBetween(first, last), repeat(DIGIT, rest, rest)));
  return choice(...parts);
}

function digitBetween(first: number, last: number): Expr {
  return first > last ? NEVER : oneOf([[0x30 + first, 0x30 + last]]);
}

/** Numbers without sign between two magnitudes. */
function magnitudesBetween(min: Magnitude | undefined, max: Magnitude | undefined): Expr {
  const low = min ?? { whole: "0", fraction: "", exclusive: false };
  const digits = Math.max(
    low.whole.length + low.fraction.length,
    (max?.whole.length ?? 0) + (max?.fraction.length ?? 0),
  );
  // 15 digits in all survive the way through a double; a bound that has more leaves none to add.
  const room = Math.max(0, INTEGER_DIGITS_MAX - Math.max(digits, max?.whole.length ?? 6));
  const fractionMax = Math.max(room, low.fraction.length, max?.fraction.length ?? 0);
  const lowWhole = BigInt(low.whole);
  const anyFraction = fractionMax === 0 ? EMPTY : optional(sequence(".", repeat(DIGIT, 1, fractionMax)));
  if (max === undefined) {
    // Large numbers come without a fraction, so that the digits stay few.
    const largest = 10n ** BigInt(INTEGER_DIGITS_MAX) - 1n;
    const cap = lowWhole < 999_999n ? 999_999n : lowWhole;
    return choice(
      sequence(low.whole, fractions(low, undefined, fractionMax)),
      lowWhole < cap ? sequence(wholesBetween(lowWhole + 1n, cap), anyFraction) : NEVER,
      cap < largest ? wholesBetween(cap + 1n, largest) : NEVER,
    );
  }
  const highWhole = BigInt(max.whole);
  if (lowWhole > highWhole) return NEVER;
  if (lowWhole === highWhole) return sequence(low.whole, fractions(low, max, fractionMax));
  return choice(
    sequence(low.whole, fractions(low, undefined, fractionMax)),
    lowWhole + 1n <= highWhole - 1n ? sequence(wholesBetween(lowWhole + 1n, highWhole - 1n), anyFraction) : NEVER,
    sequence(max.whole, fractions(undefined, max, fractionMax)),
  );
}

/** What may stand behind the whole part, the point included, so that the fraction lies between two others. */
function fractions(low: Magnitude | undefined, high: Magnitude | undefined, digitsMax: number): Expr {
  const isInside = (low === undefined || (low.fraction === "" && !low.exclusive)) &&
    (high === undefined || high.fraction !== "" || !high.exclusive);
  const tail = tails(
    low === undefined ? undefined : { digits: low.fraction, exclusive: low.exclusive },
    high === undefined ? undefined : { digits: high.fraction, exclusive: high.exclusive },
    digitsMax,
    true,
  );
  return choice(...(isInside ? [EMPTY] : []), sequence(".", tail));
}

interface Tail {
  digits: string;
  exclusive: boolean;
}

/** Digits behind the point between two others, which go on with zeros. `first`: at least one digit is to come. */
function tails(low: Tail | undefined, high: Tail | undefined, left: number, first: boolean): Expr {
  const ends = !first && (low === undefined || (low.digits === "" && !low.exclusive)) &&
    (high === undefined || high.digits !== "" || !high.exclusive);
  if (left <= 0) return ends ? EMPTY : NEVER;
  if (low?.digits === "" && !low.exclusive) return tails(undefined, high, left, first);
  if (low === undefined && high === undefined) return repeat(DIGIT, first ? 1 : 0, left);
  if (low?.digits === "" && high === undefined) return someNonzero(left);
  if (low === undefined && high?.digits === "") return high.exclusive ? NEVER : repeat(text("0"), first ? 1 : 0, left);
  const bottom = low === undefined ? 0 : Number(low.digits.charAt(0) || "0");
  const top = high === undefined ? 9 : Number(high.digits.charAt(0) || "0");
  const restOf = (tail: Tail | undefined): Tail | undefined => tail && { ...tail, digits: tail.digits.slice(1) };
  const parts: Expr[] = ends ? [EMPTY] : [];
  for (let digit = bottom; digit <= top; digit++) {
    const next = tails(
      digit === bottom ? restOf(low) : undefined,
      digit === top ? restOf(high) : undefined,
      left - 1,
      false,
    );
    parts.push(sequence(String(digit), next));
  }
  return choice(...parts);
}

/** Digits that are not all zero. */
function someNonzero(left: number): Expr {
  if (left <= 0) return NEVER;
  return choice(sequence(NONZERO, repeat(DIGIT, 0, left - 1)), sequence("0", someNonzero(left - 1)));
}
