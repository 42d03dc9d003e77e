/**
 * Strings of a shape: a length, a pattern, or both where their meeting can be written down.
 *
 * @module
 */
import { ALL_CODE_POINTS, oneOf, subtract } from "../code_points.ts";
import { type Expr, NEVER, repeat, rule, sequence } from "../expr.ts";
import { CHAR, inString, JSON_RULES, quoted } from "../json.ts";
import { GrammarError } from "../errors.ts";
import { parseRegex } from "../regex_parser.ts";
import type { SchemaContext } from "./read.ts";
import { leastOf, type Shape } from "./shape.ts";

/** Characters of a text: no controls, which none is asked for by name here. */
const TEXT = subtract(ALL_CODE_POINTS, [[0, 0x1f], [0x7f, 0x7f]]);

/** A string with its quotes. */
export function stringExpr(shape: Shape, context: SchemaContext): Expr {
  const { min, max, patterns } = shape.strings;
  if (min === 0 && max === null && patterns.length === 0) return rule(JSON_RULES.string);
  return quoted(stringContent(shape, context));
}

/** What may stand between the quotes. */
export function stringContent(shape: Shape, context: SchemaContext): Expr {
  const { min, max, patterns } = shape.strings;
  if (max !== null && min > max) return NEVER;
  return patterns.length === 0 ? repeat(CHAR, min, max) : inString(textContent(shape, context));
}

/** The text itself, as no JSON. */
export function textContent({ strings, path }: Shape, context: SchemaContext): Expr {
  const { min, max, patterns } = strings;
  const distinct = [...new Map(patterns.map((part) => [part.pattern, part])).values()];
  const [first, second] = distinct;
  if (second !== undefined) {
    context.refuse(second.keyword, second.path, "a string can be bound to one pattern or format only");
  }
  const content = first === undefined ? undefined : parse(first, context);
  if (first === undefined || content === undefined) return repeat(oneOf(TEXT), min, max);
  const bounded = withLength(content, min, max);
  if (bounded !== undefined) return bounded;
  const keyword = min > 0 ? "minLength" : "maxLength";
  context.refuse(keyword, path, `beside this ${first.keyword} it can't be followed; write the length in the pattern`);
  return content;
}

function parse(part: Shape["strings"]["patterns"][number], context: SchemaContext): Expr | undefined {
  try {
    return parseRegex(part.pattern, false);
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error;
    context.refuse(part.keyword, part.path, error.message.replace(/\.$/, ""));
    return undefined;
  }
}

/** Least and most characters; null: without end. */
interface Lengths {
  min: number;
  max: number | null;
}

/** The texts of an expression that have a length; undefined: they can't be written down. */
function withLength(expr: Expr, min: number, max: number | null): Expr | undefined {
  const lengths = lengthsOf(expr);
  if (lengths.min >= min && (max === null || (lengths.max !== null && lengths.max <= max))) return expr;
  if ((max !== null && lengths.min > max) || (lengths.max !== null && lengths.max < min)) return NEVER;
  switch (expr.kind) {
    case "choice": {
      const items = expr.items.map((item) => withLength(item, min, max));
      return items.every((item) => item !== undefined) ? { kind: "choice", items } : undefined;
    }
    case "repeat": {
      const each = lengthsOf(expr.item);
      if (each.min !== each.max || each.min === 0) return undefined;
      const most = leastOf(expr.max, max === null ? null : Math.floor(max / each.min));
      const least = Math.max(expr.min, Math.ceil(min / each.min));
      return most !== null && least > most ? NEVER : repeat(expr.item, least, most);
    }
    case "sequence": {
      // One part may give way if all others have one length.
      const loose = expr.items.filter((item) => lengthsOf(item).min !== lengthsOf(item).max);
      const [only] = loose;
      if (only === undefined || loose.length > 1) return undefined;
      const others = expr.items.filter((item) => item !== only).reduce((sum, item) => sum + lengthsOf(item).min, 0);
      const fitted = withLength(only, Math.max(0, min - others), max === null ? null : max - others);
      return fitted && sequence(...expr.items.map((item) => item === only ? fitted : item));
    }
    default:
      return undefined;
  }
}

function lengthsOf(expr: Expr): Lengths {
  switch (expr.kind) {
    case "text": {
      const length = [...expr.text].length;
      return { min: length, max: length };
    }
    case "sequence":
      return expr.items.map(lengthsOf).reduce(
        (sum, { min, max }) => ({ min: sum.min + min, max: sum.max === null || max === null ? null : sum.max + max }),
        { min: 0, max: 0 },
      );
    case "choice": {
      const all = expr.items.map(lengthsOf);
      const most = all.some(({ max }) => max === null) ? null : Math.max(...all.map(({ max }) => max ?? 0));
      return { min: Math.min(...all.map(({ min }) => min)), max: most };
    }
    case "repeat": {
      const { min, max } = lengthsOf(expr.item);
      return { min: min * expr.min, max: expr.max === null || max === null ? null : max * expr.max };
    }
    default:
      return { min: 1, max: 1 };
  }
}
