/**
 * `object.name`, `object[key]` and slices, with the methods that values have.
 *
 * Source: Jinja 3.1.6 `environment.py` (`getattr` looks for an attribute first, `getitem` for an item) and
 * `sandbox.py` (what changes a value is forbidden).
 *
 * @module
 */
import { Bound } from "./arguments.ts";
import { JinjaError } from "./errors.ts";
import { stringMethod } from "./strings.ts";
import { toRepr } from "./text.ts";
import { Callable, Dict, HostObject, isEqual, Namespace, Tuple, typeName, Undefined, type Value } from "./values.ts";

/** Methods that would change a value: transformers' sandbox forbids them. */
const FORBIDDEN: Readonly<Record<string, readonly string[]>> = {
  list: ["append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"],
  dict: ["clear", "pop", "popitem", "setdefault", "update"],
};

/** The attribute of a value, never an item: what the filter `attr` gives. */
export function getOnlyAttribute(object: Value, name: string): Value {
  const attribute = ownAttribute(object, name);
  return attribute === undefined ? missing(object, name) : attribute;
}

/** `object.name`. */
export function getAttribute(object: Value, name: string): Value {
  const attribute = ownAttribute(object, name);
  if (attribute !== undefined) return attribute;
  const item = ownItem(object, name);
  return item === undefined ? missing(object, name) : item;
}

/** `object[key]`. */
export function getItem(object: Value, key: Value): Value {
  const item = ownItem(object, key);
  if (item !== undefined) return item;
  const attribute = typeof key === "string" ? ownAttribute(object, key) : undefined;
  return attribute === undefined ? missing(object, key) : attribute;
}

function missing(object: Value, key: Value): Undefined {
  if (object instanceof Undefined) throw object.error();
  const name = object === null ? "None" : `${typeName(object)} object`;
  if (typeof key === "string") return new Undefined(`'${name}' has no attribute ${toRepr(key)}`);
  return new Undefined(`${name} has no element ${toRepr(key)}`);
}

function ownAttribute(object: Value, name: string): Value | undefined {
  if (object instanceof Undefined) throw object.error();
  if (name.startsWith("_")) return undefined;
  if (typeof object === "string") return stringMethod(object, name);
  if (object instanceof Namespace) return object.attributes.get(name);
  if (object instanceof HostObject) return object.attribute(name);
  if (FORBIDDEN[typeName(object)]?.includes(name)) {
    // Looking is allowed, so that a key of that name is hidden as in Python; calling is not.
    return new Callable(name, () => {
      throw new JinjaError(`access to attribute '${name}' of '${typeName(object)}' object is unsafe.`);
    });
  }
  if (object instanceof Dict) return dictMethod(object, name);
  const items = Array.isArray(object) ? object : object instanceof Tuple ? object.items : undefined;
  return items === undefined ? undefined : sequenceMethod(items, name);
}

function dictMethod(dict: Dict, name: string): Callable | undefined {
  const view = (kind: string, items: () => Value[]): Callable =>
    new Callable(name, (args, named) => {
      new Bound(name, [], args, named);
      return new HostObject(kind, () => undefined, items());
    });
  switch (name) {
    case "get":
      return new Callable(name, (args, named) => {
        const bound = new Bound(name, ["key", "default"], args, named);
        const value = dict.get(bound.require("key"));
        return value === undefined ? bound.value("default") ?? null : value;
      });
    case "items":
      return view("dict_items", () => [...dict.entries].map((entry) => new Tuple(entry)));
    case "keys":
      return view("dict_keys", () => [...dict.entries.keys()]);
    case "values":
      return view("dict_values", () => [...dict.entries.values()]);
    case "copy":
      return new Callable(name, () => new Dict(new Map(dict.entries)));
    default:
      return undefined;
  }
}

function sequenceMethod(items: readonly Value[], name: string): Callable | undefined {
  if (name === "copy") return new Callable(name, () => [...items]);
  if (name !== "index" && name !== "count") return undefined;
  return new Callable(name, (args, named) => {
    const value = new Bound(name, ["value"], args, named).require("value");
    if (name === "count") return BigInt(items.filter((item) => isEqual(item, value)).length);
    const index = items.findIndex((item) => isEqual(item, value));
    if (index < 0) throw new JinjaError(`${toRepr(value)} is not in list`);
    return BigInt(index);
  });
}

function ownItem(object: Value, key: Value): Value | undefined {
  if (object instanceof Undefined) throw object.error();
  if (object instanceof Dict) {
    return typeof key === "object" && key !== null ? undefined : object.get(key);
  }
  if (object instanceof Namespace) return typeof key === "string" ? object.attributes.get(key) : undefined;
  const index = typeof key === "bigint" ? Number(key) : typeof key === "boolean" ? Number(key) : undefined;
  if (index === undefined) return undefined;
  if (typeof object === "string") return Array.from(object).at(index);
  if (Array.isArray(object)) return object.at(index);
  if (object instanceof Tuple) return object.items.at(index);
  if (object instanceof HostObject && object.kind === "range") return object.items?.at(index);
  return undefined;
}

/** `object[start:stop:step]`; None stands for left out. */
export function slice(object: Value, bounds: readonly [Value, Value, Value]): Value {
  const [start, stop, step] = bounds.map((bound) => {
    if (bound === null) return undefined;
    if (typeof bound === "bigint") return Number(bound);
    throw new JinjaError("slice indices must be integers or None");
  });
  if (object instanceof Undefined) throw object.error();
  if (typeof object === "string") return sliceItems(Array.from(object), start, stop, step).join("");
  if (Array.isArray(object)) return sliceItems(object, start, stop, step);
  if (object instanceof Tuple) return new Tuple(sliceItems(object.items, start, stop, step));
  if (object instanceof HostObject && object.kind === "range") return sliceItems(object.items ?? [], start, stop, step);
  return new Undefined(`'${typeName(object)}' object can't be sliced`);
}

function sliceItems<T>(items: readonly T[], start?: number, stop?: number, step = 1): T[] {
  if (step === 0) throw new JinjaError("slice step cannot be zero");
  const count = items.length;
  const clamp = (at: number, low: number, high: number): number =>
    Math.min(Math.max(at < 0 ? at + count : at, low), high);
  const result: T[] = [];
  if (step > 0) {
    const end = clamp(stop ?? count, 0, count);
    for (let i = clamp(start ?? 0, 0, count); i < end; i += step) result.push(items[i]!);
  } else {
    const end = stop === undefined ? -1 : clamp(stop, -1, count - 1);
    for (let i = clamp(start ?? count - 1, -1, count - 1); i > end; i += step) result.push(items[i]!);
  }
  return result;
}
