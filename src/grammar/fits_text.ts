/**
 * Whether a text fits an expression without rules. In time that grows with the text's square at worst, whatever a
 * client's pattern is; JavaScript's own matcher can take for ever.
 *
 * @module
 */
import { contains } from "./code_points.ts";
import type { Expr } from "./expr.ts";

/** Whether all of a text fits. Rules and tokens fit nothing here. */
export function fitsText(expr: Expr, text: string): boolean {
  const chars = [...text];
  return ends(expr, chars, new Set([0])).has(chars.length);
}

/** Where it may end, from each of some starts. */
function ends(expr: Expr, chars: readonly string[], starts: ReadonlySet<number>): Set<number> {
  switch (expr.kind) {
    case "text": {
      const wanted = [...expr.text];
      const fits = [...starts].filter((start) => wanted.every((char, at) => chars[start + at] === char));
      return new Set(fits.map((start) => start + wanted.length));
    }
    case "class": {
      const fits = [...starts].filter((start) => {
        const point = chars[start]?.codePointAt(0);
        return point !== undefined && contains(expr.ranges, point);
      });
      return new Set(fits.map((start) => start + 1));
    }
    case "sequence":
      return expr.items.reduce((from: Set<number>, item) => ends(item, chars, from), new Set(starts));
    case "choice":
      return new Set(expr.items.flatMap((item) => [...ends(item, chars, starts)]));
    case "repeat":
      return repeated(expr.item, expr.min, expr.max, chars, starts);
    case "rule":
    case "token":
      return new Set();
  }
}

function repeated(
  item: Expr,
  min: number,
  max: number | null,
  chars: readonly string[],
  starts: ReadonlySet<number>,
): Set<number> {
  let from = new Set(starts);
  const found = new Set(min === 0 ? from : []);
  // More rounds than characters add nothing but empty ones, which count as rounds.
  const roundsMax = Math.min(max ?? Infinity, Math.max(min, chars.length + 1));
  for (let round = 1; round <= roundsMax && from.size > 0; round++) {
    const next = ends(item, chars, from);
    const isStuck = next.size === from.size && [...next].every((at) => from.has(at));
    from = next;
    if (round >= min || isStuck) { for (const at of from) found.add(at); }
    if (isStuck) break;
  }
  return found;
}
