/**
 * Schemas that all must hold → the shapes of which one must hold: references followed, `allOf` joined, unions dealt
 * out.
 *
 * @module
 */
import { GrammarError } from "../errors.ts";
import { COMBINATIONS_MAX, SCHEMA_DEPTH_MAX } from "../limits.ts";
import type { Bound } from "../ranges.ts";
import { areApart } from "./apart.ts";
import { readSchema, type SchemaContext, type Union } from "./read.ts";
import { anyShape, commonTypes, isSame, leastOf, type Part, type Parts, type Shape } from "./shape.ts";

/** Deals out; no shape: nothing fits. */
export function expand(parts: Parts, context: SchemaContext): Shape[] {
  return new Expansion(context).expand(anyShape(parts[0]?.path ?? "#"), parts, 0);
}

/** A schema on the way, and the one that asked for it. */
interface Step {
  readonly part: Part;
  readonly from?: Step | undefined;
}

class Expansion {
  readonly #context: SchemaContext;

  constructor(context: SchemaContext) {
    this.#context = context;
  }

  /** `base` and all the parts. */
  expand(base: Shape, parts: Parts, depth: number): Shape[] {
    let shape = base;
    const unions: Union[] = [];
    const open: Step[] = parts.map((part) => ({ part }));
    const seen = new Set<unknown>();
    for (let step = open.shift(); step !== undefined; step = open.shift()) {
      const { part } = step;
      if (part.schema === true) continue;
      if (part.schema === false) return [];
      requireNew(step);
      if (seen.has(part.schema)) continue;
      seen.add(part.schema);
      this.#requireShallow(part, depth);
      const read = readSchema(part.schema, part.path, this.#context);
      const joined = intersect(shape, read.shape, this.#context);
      if (joined === undefined) return [];
      shape = joined;
      open.push(...read.also.map((also): Step => ({ part: also, from: step })));
      unions.push(...read.unions);
    }
    return this.#deal(shape, unions, depth);
  }

  #deal(shape: Shape, unions: readonly Union[], depth: number): Shape[] {
    const [union, ...rest] = unions;
    if (union === undefined) return [shape];
    const dealt = union.branches.map((branch) => this.expand(shape, [branch], depth + 1));
    if (union.exclusive) this.#requireApart(dealt, union);
    const shapes = dealt.flat().flatMap((one) => this.#deal(one, rest, depth + 1));
    if (shapes.length > COMBINATIONS_MAX) {
      throw new GrammarError(
        `The unions at ${union.path} can be combined in more than ${COMBINATIONS_MAX} ways.`,
        { path: union.path, keyword: union.exclusive ? "oneOf" : "anyOf" },
      );
    }
    return shapes;
  }

  /** What fits two branches of `oneOf` is not valid, so they must have nothing in common. */
  #requireApart(dealt: readonly Shape[][], { path }: Union): void {
    for (const [index, left] of dealt.entries()) {
      for (const right of dealt.slice(index + 1)) {
        if (left.every((one) => right.every((other) => areApart(one, other, this.#context)))) continue;
        this.#context.refuse(
          "oneOf",
          path,
          "some value may fit two of its schemas; use `anyOf`, or give each a property with a `const` of its own",
        );
        return;
      }
    }
  }

  #requireShallow({ path }: Part, depth: number): void {
    const nested = path.split("/").length - 1;
    if (nested <= 2 * SCHEMA_DEPTH_MAX && depth <= SCHEMA_DEPTH_MAX) return;
    throw new GrammarError(
      `The schema is nested deeper than ${SCHEMA_DEPTH_MAX} levels, or refers to itself at once.`,
      {
        path,
      },
    );
  }
}

/** A schema that asks for itself says nothing by which a value could be judged. The same one twice is no loop. */
function requireNew({ part, from }: Step): void {
  for (let step = from; step !== undefined; step = step.from) {
    if (step.part.schema !== part.schema) continue;
    throw new GrammarError(`\`$ref\` at ${part.path} refers to itself.`, { path: part.path, keyword: "$ref" });
  }
}

/** A shape that both are; undefined: no value is. */
function intersect(left: Shape, right: Shape, context: SchemaContext): Shape | undefined {
  const types = commonTypes(left.types, right.types);
  if (types.size === 0) return undefined;
  const values = commonValues(left, right, context);
  if (values?.length === 0) return undefined;
  return {
    path: left.path,
    types,
    ...(values !== undefined && { values }),
    numbers: {
      ...bound("min", left, right, (one, other) => one > other),
      ...bound("max", left, right, (one, other) => one < other),
    },
    strings: {
      ...counts(left.strings, right.strings),
      patterns: [...left.strings.patterns, ...right.strings.patterns],
    },
    arrays: { ...counts(left.arrays, right.arrays), ...joinItems(left.arrays, right.arrays) },
    objects: joinObjects(left.objects, right.objects, right.path, context),
  };
}

function commonValues(
  { values: left }: Shape,
  { values: right }: Shape,
  context: SchemaContext,
): readonly unknown[] | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  context.spend(left.length * right.length);
  return left.filter((value) => right.some((other) => isSame(value, other)));
}

function bound(
  end: "min" | "max",
  left: Shape,
  right: Shape,
  tighter: (one: number, other: number) => boolean,
): { min?: Bound; max?: Bound } {
  const one = left.numbers[end];
  const other = right.numbers[end];
  if (one === undefined || other === undefined) {
    const only = one ?? other;
    return only === undefined ? {} : { [end]: only };
  }
  const [a, b] = [Number(one.value), Number(other.value)];
  if (a === b) return { [end]: one.exclusive ? one : other };
  return { [end]: tighter(a, b) ? one : other };
}

interface Counts {
  min: number;
  max: number | null;
}

function counts(left: Counts, right: Counts): Counts {
  return { min: Math.max(left.min, right.min), max: leastOf(left.max, right.max) };
}

function joinItems(left: Shape["arrays"], right: Shape["arrays"]): { prefix: Parts[]; items: Parts } {
  const at = (arrays: Shape["arrays"], index: number): Parts => arrays.prefix[index] ?? arrays.items;
  const length = Math.max(left.prefix.length, right.prefix.length);
  const prefix = Array.from({ length }, (_, index) => [...at(left, index), ...at(right, index)]);
  return { prefix, items: [...left.items, ...right.items] };
}

/** A name that one side does not know is an additional one there. */
function joinObjects(
  left: Shape["objects"],
  right: Shape["objects"],
  path: string,
  context: SchemaContext,
): Shape["objects"] {
  const bindsOthers = (one: Shape["objects"], other: Shape["objects"]): boolean =>
    one.patterns.length > 0 && (other.properties.size > 0 || other.additional.length > 0 || other.patterns.length > 0);
  if (bindsOthers(left, right) || bindsOthers(right, left)) {
    context.refuse("patternProperties", path, "it can't be joined with what another schema says of the same object");
  }
  const names = new Set([...left.properties.keys(), ...right.properties.keys()]);
  const partsOf = (objects: Shape["objects"], name: string): Parts =>
    objects.properties.get(name) ?? objects.additional;
  return {
    ...counts(left, right),
    properties: new Map([...names].map((name) => [name, [...partsOf(left, name), ...partsOf(right, name)]])),
    required: new Set([...left.required, ...right.required]),
    additional: [...left.additional, ...right.additional],
    patterns: [...left.patterns, ...right.patterns],
    names: [...left.names, ...right.names],
  };
}
