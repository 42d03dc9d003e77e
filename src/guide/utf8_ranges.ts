/**
 * Ranges of code points → sequences of byte ranges, as UTF-8 writes them.
 *
 * The splitting is that of Russ Cox's "Regular Expression Matching in the Wild" (2010) and RE2's compile.cc.
 *
 * @module
 */
import type { CodePointRange } from "../grammar/expr.ts";

/** An inclusive range of bytes. */
export type ByteRange = readonly [first: number, last: number];

/** Last code point of one, two, three and four bytes. */
const LAST_BY_LENGTH = [0x7f, 0x7ff, 0xffff, 0x10ffff] as const;

/** Every sequence is one choice of a byte from each of its ranges; together they spell exactly the range. */
export function toByteSequences([first, last]: CodePointRange): ByteRange[][] {
  const sequences: ByteRange[][] = [];
  let start = first;
  for (const [index, longest] of LAST_BY_LENGTH.entries()) {
    if (start > longest) continue;
    if (start > last) break;
    split(start, Math.min(last, longest), index + 1, sequences);
    start = longest + 1;
  }
  return sequences;
}

/** Both ends are spelled in `length` bytes. */
function split(first: number, last: number, length: number, sequences: ByteRange[][]): void {
  for (let tail = 1; tail < length; tail++) {
    const mask = 2 ** (6 * tail) - 1;
    if ((first & ~mask) === (last & ~mask)) continue;
    if ((first & mask) !== 0) {
      split(first, first | mask, length, sequences);
      split((first | mask) + 1, last, length, sequences);
      return;
    }
    if ((last & mask) !== mask) {
      split(first, (last & ~mask) - 1, length, sequences);
      split(last & ~mask, last, length, sequences);
      return;
    }
  }
  const low = encode(first, length);
  const high = encode(last, length);
  sequences.push(low.map((byte, index) => [byte, high[index] ?? byte]));
}

function encode(point: number, length: number): number[] {
  if (length === 1) return [point];
  const lead = [0, 0, 0xc0, 0xe0, 0xf0][length] ?? 0;
  const bytes = [lead | (point >> (6 * (length - 1)))];
  for (let at = length - 2; at >= 0; at--) bytes.push(0x80 | ((point >> (6 * at)) & 0x3f));
  return bytes;
}
