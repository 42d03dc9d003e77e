/**
 * Whether two shapes have no value in common, and whether a value has a shape. For `oneOf`, and for `enum` beside other
 * keywords.
 *
 * @module
 */
import { COMPARISON_STEPS } from "../limits.ts";
import { expand } from "./expand.ts";
import type { SchemaContext } from "./read.ts";
import { commonTypes, isSame, type Parts, type Shape, type TypeName } from "./shape.ts";

/** How deep properties are looked into for a difference. */
const DEPTH_MAX = 4;

/** True only if no value has both shapes. */
export function areApart(left: Shape, right: Shape, context: SchemaContext, depth = 0): boolean {
  context.spend(COMPARISON_STEPS);
  if (left.values !== undefined) return left.values.every((value) => !hasShape(value, right, context));
  if (right.values !== undefined) return right.values.every((value) => !hasShape(value, left, context));
  return [...commonTypes(left.types, right.types)].every((type) => {
    if (type === "number" || type === "integer") return rangesAreApart(left, right);
    if (type === "object") return objectsAreApart(left, right, context, depth);
    if (type === "array" || type === "string") {
      const [one, other] = type === "array" ? [left.arrays, right.arrays] : [left.strings, right.strings];
      return (one.max ?? Infinity) < other.min || (other.max ?? Infinity) < one.min;
    }
    return false;
  });
}

function rangesAreApart({ numbers: one }: Shape, { numbers: other }: Shape): boolean {
  const isBelow = (low: Shape["numbers"], high: Shape["numbers"]): boolean => {
    if (low.max === undefined || high.min === undefined) return false;
    const [max, min] = [Number(low.max.value), Number(high.min.value)];
    return max < min || (max === min && (low.max.exclusive || high.min.exclusive));
  };
  return isBelow(one, other) || isBelow(other, one);
}

/** One needs a property that the other does not allow, or wants otherwise. */
function objectsAreApart(left: Shape, right: Shape, context: SchemaContext, depth: number): boolean {
  const partsIn = ({ objects }: Shape, name: string): Parts =>
    objects.properties.get(name) ?? (objects.patterns.length > 0 ? [] : objects.additional);
  return [...left.objects.required, ...right.objects.required].some((name) => {
    const one = expand(partsIn(left, name), context);
    const other = expand(partsIn(right, name), context);
    if (one.length === 0 || other.length === 0) return true;
    // A value of both has the property, and both are right about it.
    return depth < DEPTH_MAX && one.every((a) => other.every((b) => areApart(a, b, context, depth + 1)));
  });
}

/** Whether a value is valid. */
export function hasShape(value: unknown, shape: Shape, context: SchemaContext): boolean {
  context.spend(1 + (shape.values?.length ?? 0));
  const type = typeOf(value);
  if (commonTypes(new Set([type]), shape.types).size === 0) return false;
  if (shape.values !== undefined && !shape.values.some((one) => isSame(one, value))) {
    return false;
  }
  if (typeof value === "number") return isBetween(value, shape);
  if (typeof value === "string") {
    const length = [...value].length;
    const { min, max, patterns } = shape.strings;
    return length >= min && length <= (max ?? Infinity) &&
      patterns.every(({ pattern }) => context.fits(pattern, value));
  }
  if (Array.isArray(value)) {
    const { min, max, prefix, items } = shape.arrays;
    return value.length >= min && value.length <= (max ?? Infinity) &&
      value.every((item, index) => isValid(item, prefix[index] ?? items, context));
  }
  return typeof value !== "object" || value === null || isObjectOf(value, shape, context);
}

function isObjectOf(value: object, { objects }: Shape, context: SchemaContext): boolean {
  const entries: [string, unknown][] = Object.entries(value);
  if (entries.length < objects.min || entries.length > (objects.max ?? Infinity)) return false;
  if ([...objects.required].some((name) => !Object.hasOwn(value, name))) return false;
  return entries.every(([name, item]) => {
    const matched = objects.patterns.filter(({ pattern }) => context.fits(pattern, name));
    const own = objects.properties.get(name);
    const parts = [...own ?? (matched.length > 0 ? [] : objects.additional), ...matched.flatMap((one) => one.parts)];
    return isValid(name, objects.names, context) && isValid(item, parts, context);
  });
}

function isValid(value: unknown, parts: Parts, context: SchemaContext): boolean {
  return expand(parts, context).some((shape) => hasShape(value, shape, context));
}

function isBetween(value: number, { numbers: { min, max } }: Shape): boolean {
  if (min !== undefined && (value < Number(min.value) || (min.exclusive && value === Number(min.value)))) return false;
  return max === undefined || !(value > Number(max.value) || (max.exclusive && value === Number(max.value)));
}

function typeOf(value: unknown): TypeName {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  const type = typeof value;
  return type === "string" || type === "boolean" ? type : "object";
}
