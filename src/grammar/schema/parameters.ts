/**
 * The properties of a tool's schema one by one, for dialects that write each between tags of its own: numbers and lists
 * as JSON, text as it is.
 *
 * @module
 */
import { ALL_CODE_POINTS, codePointsOf, oneOf, subtract } from "../code_points.ts";
import { choice, type Expr, isNever, repeat, text } from "../expr.ts";
import { valueOf } from "../json.ts";
import { expand } from "./expand.ts";
import type { SchemaRules } from "./objects.ts";
import type { Parts, Shape } from "./shape.ts";
import { textContent } from "./strings.ts";

/** One property. */
export interface Parameter {
  /** As declared. */
  name: string;
  /** Must be written. */
  required: boolean;
  /** What may stand between its tags. */
  value: Expr;
}

/** Characters of a bound text between tags: a tag can't begin in it, and it keeps to its line. */
const TEXT_CHAR = oneOf(subtract(ALL_CODE_POINTS, codePointsOf("<\n\r")));

/** Properties of an object schema, in order; none if it is no object. */
export function parametersOf(parts: Parts, rules: SchemaRules, anyText: Expr): Parameter[] {
  const shapes = expand(parts, rules).filter(({ types }) => types.has("object"));
  const [shape] = shapes;
  if (shape === undefined) return [];
  if (shapes.length > 1) rules.refuse("anyOf", shape.path, "arguments that are written one by one have one schema");
  const { properties, required, additional } = shape.objects;
  const names = [...new Set([...properties.keys(), ...required])];
  return names.flatMap((name) => {
    const value = valueBetweenTags(properties.get(name) ?? additional, rules, anyText);
    return isNever(value) && !required.has(name) ? [] : [{ name, required: required.has(name), value }];
  });
}

function valueBetweenTags(parts: Parts, rules: SchemaRules, anyText: Expr): Expr {
  const shapes = expand(parts, rules);
  return choice(...shapes.flatMap((shape) => {
    if (shape.values !== undefined) {
      return shape.values.map((value) => typeof value === "string" ? text(value) : valueOf(value));
    }
    const others = new Set([...shape.types].filter((type) => type !== "string"));
    const json = others.size === 0 ? [] : [rules.shapeOf({ ...shape, types: others })];
    return shape.types.has("string")
      ? [...json, textBetweenTags(shape, shapes.length > 1 || others.size > 0, rules, anyText)]
      : json;
  }));
}

/** Text as it is. Beside other types, what reads as one of them is one, so it must not be bound. */
function textBetweenTags(shape: Shape, isMixed: boolean, rules: SchemaRules, anyText: Expr): Expr {
  const { min, max, patterns } = shape.strings;
  const [first] = patterns;
  if (min === 0 && max === null && first === undefined) return anyText;
  if (isMixed || first?.keyword === "pattern") {
    const keyword = first?.keyword ?? (min > 0 ? "minLength" : "maxLength");
    rules.refuse(
      keyword,
      shape.path,
      "in this model's tool calls text stands between tags, where it can't be bound so",
    );
    return anyText;
  }
  return first === undefined ? repeat(TEXT_CHAR, min, max) : textContent(shape, rules);
}
