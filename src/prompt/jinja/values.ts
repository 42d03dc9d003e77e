/**
 * The values of templates, as Python has them.
 *
 * None is null, bool boolean, int bigint, float number, str string, list an array; the other kinds are classes. So an
 * int is never mistaken for a float, and 12345678901234567890 stays what it is.
 *
 * @module
 */
import { JinjaError } from "./errors.ts";

/** Anything a template can hold. */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Markup
  | Value[]
  | Tuple
  | Dict
  | Lazy
  | Namespace
  | Callable
  | HostObject
  | Undefined;

/** What a dict can be looked up by. */
export type Key = null | boolean | bigint | number | string;

/** What `safe` and `escape` give: text that escapes whatever is added to it, even where nothing else is escaped. */
export class Markup {
  /** As it is. */
  readonly text: string;

  /** Takes the text. */
  constructor(text: string) {
    this.text = text;
  }
}

/** The same as plain text where a value is more than printed or added to. */
export function plain(value: Value): Value {
  return value instanceof Markup ? value.text : value;
}

/** Python's tuple. */
export class Tuple {
  /** In order. */
  readonly items: readonly Value[];

  /** Takes the items. */
  constructor(items: readonly Value[]) {
    this.items = items;
  }
}

/** Python's dict: insertion order, any plain key. */
export class Dict {
  /** Entries by key. */
  readonly entries: Map<Key, Value>;

  /** Takes the entries. */
  constructor(entries: Map<Key, Value> = new Map()) {
    this.entries = entries;
  }

  /** The value of a key. */
  get(key: Value): Value | undefined {
    return this.entries.get(toKey(key));
  }
}

/** A generator, such as `map` and `select` give: it can be walked once, and is true even when it is empty. */
export class Lazy {
  #items: Iterator<Value>;

  /** Takes what it gives. */
  constructor(items: Iterable<Value>) {
    this.#items = items[Symbol.iterator]();
  }

  /** What is left of it. */
  *take(): Generator<Value> {
    for (let next = this.#items.next(); next.done !== true; next = this.#items.next()) yield next.value;
  }
}

/** What `namespace()` makes: attributes that `set` can change from inside loops. */
export class Namespace {
  /** By name. */
  readonly attributes: Map<string, Value>;

  /** Takes the attributes. */
  constructor(attributes: Map<string, Value>) {
    this.attributes = attributes;
  }
}

/** Values by name. */
export type Named = ReadonlyMap<string, Value>;

/** A function, method or macro. */
export class Callable {
  /** For messages. */
  readonly name: string;
  /** What it does. */
  readonly call: (args: readonly Value[], named: Named) => Value;

  /** Takes a name for messages and what to do. */
  constructor(name: string, call: (args: readonly Value[], named: Named) => Value) {
    this.name = name;
    this.call = call;
  }
}

/** Something of ours with attributes, such as `loop`. */
export class HostObject {
  /** For messages. */
  readonly kind: string;
  /** An attribute, if it has it. */
  readonly attribute: (name: string) => Value | undefined;
  /** Its items, if it can be walked. */
  readonly items: readonly Value[] | undefined;

  /** Takes a name for messages, its attributes and items. */
  constructor(kind: string, attribute: (name: string) => Value | undefined, items?: readonly Value[]) {
    this.kind = kind;
    this.attribute = attribute;
    this.items = items;
  }
}

/** A variable, attribute or item that is not there: empty and false, and an error where more is wanted. */
export class Undefined {
  /** Jinja's words for what is missing. */
  readonly message: string;

  /** Takes the message of the error that using it gives. */
  constructor(message: string) {
    this.message = message;
  }

  /** The error of using it. */
  error(): JinjaError {
    return new JinjaError(this.message);
  }
}

/** A value as a dict's key. @throws {JinjaError} If it can't be one. */
export function toKey(value: Value): Key {
  if (typeof value === "number" && Number.isInteger(value)) return BigInt(value);
  if (typeof value === "object" && value !== null) throw new JinjaError(`unhashable type: '${typeName(value)}'`);
  return value;
}

/** Python's name of a value's type. */
export function typeName(value: Value): string {
  if (value === null) return "NoneType";
  if (Array.isArray(value)) return "list";
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return "float";
    case "string":
      return "str";
  }
  if (value instanceof Markup) return "Markup";
  if (value instanceof Tuple) return "tuple";
  if (value instanceof Dict) return "dict";
  if (value instanceof Lazy) return "generator";
  if (value instanceof Namespace) return "Namespace";
  if (value instanceof Undefined) return "Undefined";
  if (value instanceof Callable) return "function";
  return value.kind;
}

/** Whether a value counts as true. */
export function isTrue(value: Value): boolean {
  if (value === null || value === false || value instanceof Undefined) return false;
  if (typeof value === "bigint") return value !== 0n;
  if (typeof value === "number") return value !== 0;
  if (typeof value === "string" || Array.isArray(value)) return value.length > 0;
  if (value instanceof Markup) return value.text.length > 0;
  if (value instanceof Tuple) return value.items.length > 0;
  if (value instanceof Dict) return value.entries.size > 0;
  if (value instanceof HostObject && value.items !== undefined) return value.items.length > 0;
  return true;
}

/** What a value gives in a loop. @throws {JinjaError} If it is nothing to walk over. */
export function iterate(value: Value): Iterable<Value> {
  if (Array.isArray(value) || typeof value === "string") return value;
  if (value instanceof Tuple) return value.items;
  if (value instanceof Dict) return value.entries.keys();
  if (value instanceof Lazy) return value.take();
  if (value instanceof Undefined) return [];
  if (value instanceof HostObject && value.items !== undefined) return value.items;
  throw new JinjaError(`'${typeName(value)}' object is not iterable`);
}

/** Python's `len`. @throws {JinjaError} If it has none. */
export function lengthOf(value: Value): number {
  if (typeof value === "string") return characterCount(value);
  if (Array.isArray(value)) return value.length;
  if (value instanceof Tuple) return value.items.length;
  if (value instanceof Dict) return value.entries.size;
  if (value instanceof Undefined) return 0;
  if (value instanceof HostObject && value.items !== undefined) return value.items.length;
  throw new JinjaError(`object of type '${typeName(value)}' has no len()`);
}

/** Code points of a string, which Python counts. */
export function characterCount(text: string): number {
  let count = text.length;
  // Each pair of surrogates is one character in two units.
  for (const _ of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) count--;
  return count;
}

/** Python's `==`. */
export function isEqual(left: Value, right: Value): boolean {
  if (typeof left === "boolean") left = left ? 1n : 0n;
  if (typeof right === "boolean") right = right ? 1n : 0n;
  if (left === right) return true;
  if (isNumeric(left) && isNumeric(right)) return typeof left !== typeof right && Number(left) === Number(right);
  if (left instanceof Undefined) return right instanceof Undefined;
  const items = sequenceItems(left);
  const others = sequenceItems(right);
  if (items !== undefined && others !== undefined) {
    return Array.isArray(left) === Array.isArray(right) && items.length === others.length &&
      items.every((item, i) => isEqual(item, others[i]!));
  }
  if (left instanceof Dict && right instanceof Dict) {
    if (left.entries.size !== right.entries.size) return false;
    return [...left.entries].every(([key, value]) => {
      const other = right.entries.get(key);
      return other !== undefined && isEqual(value, other);
    });
  }
  return false;
}

/** Python's `<`, as a number: negative, zero, positive. @throws {JinjaError} If the two have no order. */
export function compare(left: Value, right: Value, operator = "<"): number {
  if (typeof left === "boolean") left = left ? 1n : 0n;
  if (typeof right === "boolean") right = right ? 1n : 0n;
  if (isNumeric(left) && isNumeric(right)) return left < right ? -1 : left > right ? 1 : 0;
  if (typeof left === "string" && typeof right === "string") return compareTexts(left, right);
  for (const one of [left, right]) if (one instanceof Undefined) throw one.error();
  const items = sequenceItems(left);
  const others = sequenceItems(right);
  if (items === undefined || others === undefined || Array.isArray(left) !== Array.isArray(right)) {
    const types = `'${typeName(left)}' and '${typeName(right)}'`;
    throw new JinjaError(`'${operator}' not supported between instances of ${types}`);
  }
  for (let i = 0; i < Math.min(items.length, others.length); i++) {
    if (!isEqual(items[i]!, others[i]!)) return compare(items[i]!, others[i]!, operator);
  }
  return items.length - others.length;
}

/** By code point, where JavaScript compares by unit. */
function compareTexts(left: string, right: string): number {
  const others = right[Symbol.iterator]();
  for (const character of left) {
    const other = others.next();
    if (other.done === true) return 1;
    const difference = (character.codePointAt(0) ?? 0) - (other.value.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return others.next().done === true ? 0 : -1;
}

function isNumeric(value: Value): value is bigint | number {
  return typeof value === "bigint" || typeof value === "number";
}

/** Items of a list or a tuple. */
export function sequenceItems(value: Value): readonly Value[] | undefined {
  return Array.isArray(value) ? value : value instanceof Tuple ? value.items : undefined;
}
