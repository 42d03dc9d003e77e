/**
 * Text up to the first time that something stands in it: thinking up to its closing tag, a value up to its own.
 *
 * @module
 */
import { ALL_CODE_POINTS, codePointsOf, complement, oneOf, unite } from "./code_points.ts";
import { choice, EMPTY, type Expr, repeat, rule, sequence } from "./expr.ts";

/** Any text. */
export const ANY_TEXT: Expr = repeat(oneOf(ALL_CODE_POINTS), 0, null);

/**
 * Text without `end` and then `end`, as rules: one for each part of `end` that may stand last (Knuth, Morris, Pratt).
 *
 * @param define Keeps a rule under a name of its own and gives a reference to it.
 * @param closed Whether `end` is written too; without, any text that does not hold it.
 */
export function textUntil(
  end: string,
  name: string,
  define: (name: string, expr: Expr) => Expr,
  closed = true,
): Expr {
  const chars = [...end];
  for (const length of chars.keys()) {
    const heads = [...new Set(chars)];
    const steps = heads.flatMap((head) => {
      const next = matched([...chars.slice(0, length), head], chars);
      if (next === chars.length) return closed ? [oneOf(codePointsOf(head))] : [];
      return [sequence(head, rule(`${name}.${next}`))];
    });
    const others = oneOf(complement(unite(...heads.map(codePointsOf))));
    define(`${name}.${length}`, choice(...(closed ? [] : [EMPTY]), sequence(others, rule(`${name}.0`)), ...steps));
  }
  return rule(`${name}.0`);
}

/** Longest beginning of `end` that a text ends with. */
function matched(text: readonly string[], end: readonly string[]): number {
  for (let length = Math.min(text.length, end.length); length > 0; length--) {
    if (end.slice(0, length).every((char, at) => text[text.length - length + at] === char)) return length;
  }
  return 0;
}
