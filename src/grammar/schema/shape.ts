/**
 * A schema without references and unions: what a value must be, type by type. Several schemas that all must hold come
 * together in one shape.
 *
 * @module
 */
import type { Bounds } from "../ranges.ts";

/** A JSON Schema. */
export type Schema = boolean | Readonly<Record<string, unknown>>;

/** A schema and where it stands, as a JSON Pointer from `#`. */
export interface Part {
  /** What is to hold. */
  readonly schema: Schema;
  /** Where it stands. */
  readonly path: string;
}

/** Schemas that all must hold; none: anything. */
export type Parts = readonly Part[];

/** JSON Schema's types; `integer` beside `number` says nothing more. */
export const TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"] as const;

/** A type. */
export type TypeName = typeof TYPES[number];

/** A string constraint and where it stands. */
export interface PatternPart {
  /** Which it was. */
  readonly keyword: "pattern" | "format";
  /** As an ECMAScript pattern. */
  readonly pattern: string;
  /** Of its schema. */
  readonly path: string;
}

/** What a value must be. */
export interface Shape {
  /** Where it comes from, for errors: the first schema of several. */
  path: string;
  /** None: nothing fits. */
  types: ReadonlySet<TypeName>;
  /** `enum` or `const`: one of these. */
  values?: readonly unknown[];
  /** Of numbers. */
  numbers: Bounds;
  /** Of strings; lengths in code points, null: no bound. */
  strings: { min: number; max: number | null; patterns: readonly PatternPart[] };
  /** Of arrays: how many items, and what they are behind those of `prefix`. */
  arrays: { min: number; max: number | null; prefix: readonly Parts[]; items: Parts };
  /** Of objects: `additional` holds for names that nothing else speaks of, `names` for every name. */
  objects: {
    properties: ReadonlyMap<string, Parts>;
    required: ReadonlySet<string>;
    additional: Parts;
    patterns: readonly { pattern: string; path: string; parts: Parts }[];
    names: Parts;
    min: number;
    max: number | null;
  };
}

/** Any value. */
export function anyShape(path: string): Shape {
  return {
    path,
    types: new Set(TYPES.filter((type) => type !== "integer")),
    numbers: {},
    strings: { min: 0, max: null, patterns: [] },
    arrays: { min: 0, max: null, prefix: [], items: [] },
    objects: {
      properties: new Map(),
      required: new Set(),
      additional: [],
      patterns: [],
      names: [],
      min: 0,
      max: null,
    },
  };
}

/** The smaller of two upper ends. */
export function leastOf(left: number | null, right: number | null): number | null {
  return left === null ? right : right === null ? left : Math.min(left, right);
}

/** Types that both allow. */
export function commonTypes(left: ReadonlySet<TypeName>, right: ReadonlySet<TypeName>): Set<TypeName> {
  const has = (types: ReadonlySet<TypeName>, type: TypeName): boolean =>
    types.has(type) || (type === "integer" && types.has("number"));
  const common = new Set(TYPES.filter((type) => has(left, type) && has(right, type)));
  if (common.has("number")) common.delete("integer");
  return common;
}

/** Whether two JSON values are equal. */
export function isSame(left: unknown, right: unknown): boolean {
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return left === right;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSame(Reflect.get(left, key), Reflect.get(right, key)));
}
