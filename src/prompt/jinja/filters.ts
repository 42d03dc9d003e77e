/**
 * Filters: Jinja's, and `tojson` as transformers has it. One that is not here is refused by name where it is used.
 *
 * Source: Jinja 3.1.6 `filters.py`; transformers v5.24 `chat_template_utils.py` (`tojson`).
 *
 * @module
 */
import { getItem, getOnlyAttribute } from "./access.ts";
import { Bound } from "./arguments.ts";
import { JinjaError } from "./errors.ts";
import { formatPercent } from "./format.ts";
import { capitalize, replace, splitLines, strip } from "./strings.ts";
import { runTest } from "./tests.ts";
import { type JsonOptions, toJson, toText } from "./text.ts";
import {
  compare,
  Dict,
  isEqual,
  isTrue,
  iterate,
  Lazy,
  lengthOf,
  Markup,
  type Named,
  sequenceItems,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

type Filter = readonly [parameters: readonly string[], run: (value: Value, args: Bound) => Value];

/** Applies a filter. @throws {JinjaError} If there is none of that name, or it can't be applied. */
export function applyFilter(name: string, value: Value, args: readonly Value[], named: Named): Value {
  const filter = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
  if (filter !== undefined) return filter[1](value, new Bound(name, filter[0], args, named));
  switch (name) {
    case "map":
      return new Lazy(mapped(value, args, named));
    case "select":
    case "reject":
      return new Lazy(selected(value, args, named, name === "select"));
    case "selectattr":
    case "rejectattr":
      return new Lazy(selectedByAttribute(value, args, named, name === "selectattr"));
    case "format":
      return formatPercent(toText(value), named.size > 0 ? new Dict(new Map(named)) : new Tuple(args));
    default:
      throw new JinjaError(`No filter named '${name}'.`);
  }
}

const FILTERS: Readonly<Record<string, Filter>> = {
  abs: [[], (value) => typeof value === "bigint" ? (value < 0n ? -value : value) : Math.abs(toNumber(value))],
  attr: [["name"], (value, args) => getOnlyAttribute(value, args.text("name") ?? "")],
  batch: [["linecount", "fill_with"], (value, args) => new Lazy(batches(value, args))],
  capitalize: [[], (value) => capitalize(toText(value))],
  count: [[], (value) => BigInt(lengthOf(value))],
  d: [["default_value", "boolean"], orDefault],
  default: [["default_value", "boolean"], orDefault],
  dictsort: [["case_sensitive", "by", "reverse"], dictSort],
  e: [[], (value) => new Markup(escapeHtml(toText(value)))],
  escape: [[], (value) => new Markup(escapeHtml(toText(value)))],
  first: [[], (value) => first(iterate(value), "No first item, sequence was empty.")],
  float: [["default"], (value, args) => toFloat(value) ?? args.value("default") ?? 0],
  forceescape: [[], (value) => new Markup(escapeHtml(toText(value)))],
  indent: [["width", "first", "blank"], indent],
  int: [["default", "base"], toInt],
  items: [[], (value) => new Lazy(itemsOf(value))],
  join: [["d", "attribute"], (value, args) => {
    const items = [...iterate(value)].map(attributeReader(args.value("attribute")));
    return items.map(toText).join(args.text("d") ?? "");
  }],
  last: [[], (value) => {
    if (value instanceof Lazy) throw new JinjaError("'generator' object is not reversible");
    return first([...iterate(value)].reverse(), "No last item, sequence was empty.");
  }],
  length: [[], (value) => BigInt(lengthOf(value))],
  list: [[], (value) => [...iterate(value)]],
  lower: [[], (value) => toText(value).toLowerCase()],
  max: [["case_sensitive", "attribute"], (value, args) => extreme(value, args, 1)],
  min: [["case_sensitive", "attribute"], (value, args) => extreme(value, args, -1)],
  replace: [["old", "new", "count"], (value, args) => {
    const [from, to] = [toText(args.require("old")), toText(args.require("new"))];
    return replace(toText(value), from, to, args.integer("count"));
  }],
  reverse: [[], (value) => {
    if (typeof value === "string") return Array.from(value).reverse().join("");
    return new Lazy([...iterate(value)].reverse());
  }],
  round: [["precision", "method"], round],
  safe: [[], (value) => new Markup(toText(value))],
  slice: [["slices", "fill_with"], (value, args) => new Lazy(slices(value, args))],
  sort: [["reverse", "case_sensitive", "attribute"], sort],
  string: [[], (value) => toText(value)],
  sum: [["attribute", "start"], sum],
  title: [[], (value) => toText(value).split(/([-\s({[<]+)/).map(capitalize).join("")],
  tojson: [["ensure_ascii", "indent", "separators", "sort_keys"], (value, args) => toJson(value, jsonOptions(args))],
  trim: [["chars"], (value, args) => strip(toText(value), args.text("chars"), "both")],
  truncate: [["length", "killwords", "end", "leeway"], truncate],
  unique: [["case_sensitive", "attribute"], (value, args) => new Lazy(unique(value, args))],
  upper: [[], (value) => toText(value).toUpperCase()],
  wordcount: [[], (value) => BigInt((toText(value).match(/[\p{L}\p{N}_]+/gu) ?? []).length)],
};

function orDefault(value: Value, args: Bound): Value {
  const missing = value instanceof Undefined || (args.flag("boolean") && !isTrue(value));
  if (!missing) return value;
  const fallback = args.value("default_value");
  return fallback === undefined ? "" : fallback;
}

/** Text with the five signs that mean something in HTML spelled out, as MarkupSafe does. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>'"]/g, (sign) => `&${{ "&": "amp", "<": "lt", ">": "gt", "'": "#39", '"': "#34" }[sign]};`);
}

function first(items: Iterable<Value>, message: string): Value {
  for (const item of items) return item;
  return new Undefined(message);
}

function* itemsOf(value: Value): Generator<Value> {
  if (value instanceof Undefined) return;
  if (!(value instanceof Dict)) throw new JinjaError("Can only get item pairs from a mapping.");
  for (const entry of value.entries) yield new Tuple(entry);
}

/** Reads `a.b.0` of an item; text is compared without case where `fold` is on. */
function attributeReader(attribute: Value | undefined, fold = false): (item: Value) => Value {
  const path = attribute === undefined || attribute === null ? [] : toText(attribute).split(".");
  return (item) => {
    const value = path.reduce<Value>((object, part) => getItem(object, /^\d+$/.test(part) ? BigInt(part) : part), item);
    return fold && typeof value === "string" ? value.toLowerCase() : value;
  };
}

/** `map`, `select` and their kin take anything false, None too, for an empty sequence. */
function orNothing(value: Value): Iterable<Value> {
  return isTrue(value) ? iterate(value) : [];
}

function* mapped(value: Value, args: readonly Value[], named: Named): Generator<Value> {
  const attribute = named.get("attribute");
  if (args.length === 0 && attribute !== undefined) {
    const read = attributeReader(attribute);
    const fallback = named.get("default");
    for (const item of orNothing(value)) {
      const found = read(item);
      yield found instanceof Undefined && fallback !== undefined ? fallback : found;
    }
    return;
  }
  const [name, ...rest] = args;
  if (name === undefined) throw new JinjaError("map requires a filter argument");
  for (const item of orNothing(value)) yield applyFilter(toText(name), item, rest, named);
}

function* selected(value: Value, args: readonly Value[], named: Named, wanted: boolean): Generator<Value> {
  for (const item of orNothing(value)) if (passes(item, args, named) === wanted) yield item;
}

function* selectedByAttribute(value: Value, args: readonly Value[], named: Named, wanted: boolean): Generator<Value> {
  const [attribute, ...rest] = args;
  if (attribute === undefined) throw new JinjaError("Missing parameter for attribute name");
  const read = attributeReader(attribute);
  for (const item of orNothing(value)) if (passes(read(item), rest, named) === wanted) yield item;
}

function passes(value: Value, args: readonly Value[], named: Named): boolean {
  const [name, ...rest] = args;
  return name === undefined ? isTrue(value) : runTest(toText(name), value, rest, named);
}

function sort(value: Value, args: Bound): Value {
  const read = attributeReader(args.value("attribute"), !args.flag("case_sensitive"));
  const sign = args.flag("reverse") ? -1 : 1;
  return [...iterate(value)].sort((left, right) => sign * compare(read(left), read(right)));
}

function dictSort(value: Value, args: Bound): Value {
  if (!(value instanceof Dict)) throw new JinjaError(`'${typeName(value)}' object has no attribute 'items'`);
  const by = args.text("by") ?? "key";
  if (by !== "key" && by !== "value") throw new JinjaError('You can only sort by either "key" or "value"');
  const read = attributeReader(by === "key" ? 0n : 1n, !args.flag("case_sensitive"));
  const sign = args.flag("reverse") ? -1 : 1;
  const items = [...value.entries].map((entry) => new Tuple(entry));
  return items.sort((left, right) => sign * compare(read(left), read(right)));
}

function* unique(value: Value, args: Bound): Generator<Value> {
  const read = attributeReader(args.value("attribute"), !args.flag("case_sensitive"));
  const seen: Value[] = [];
  for (const item of iterate(value)) {
    const key = read(item);
    if (seen.some((other) => isEqual(other, key))) continue;
    seen.push(key);
    yield item;
  }
}

function extreme(value: Value, args: Bound, sign: 1 | -1): Value {
  const read = attributeReader(args.value("attribute"), !args.flag("case_sensitive"));
  let best: Value | undefined;
  for (const item of iterate(value)) {
    if (best === undefined || sign * compare(read(item), read(best)) > 0) best = item;
  }
  return best === undefined ? new Undefined("No aggregated item, sequence was empty.") : best;
}

function sum(value: Value, args: Bound): Value {
  const read = attributeReader(args.value("attribute"));
  let total = args.value("start") ?? 0n;
  for (const item of iterate(value)) {
    const next = read(item);
    if (typeof total === "bigint" && typeof next === "bigint") total += next;
    else total = toNumber(total) + toNumber(next);
  }
  return total;
}

function* batches(value: Value, args: Bound): Generator<Value> {
  const count = Math.max(1, args.integer("linecount") ?? 1);
  const items = [...iterate(value)];
  for (let i = 0; i < items.length; i += count) {
    const batch = items.slice(i, i + count);
    const fill = args.value("fill_with") ?? null;
    while (fill !== null && batch.length < count) batch.push(fill);
    yield batch;
  }
}

function* slices(value: Value, args: Bound): Generator<Value> {
  const items = [...iterate(value)];
  const count = Math.max(1, Math.min(args.integer("slices") ?? 1, items.length + 1));
  const size = Math.floor(items.length / count);
  const longer = items.length % count;
  for (let i = 0, start = 0; i < count; i++) {
    const end = start + size + (i < longer ? 1 : 0);
    const fill = args.value("fill_with") ?? null;
    yield fill !== null && i >= longer ? [...items.slice(start, end), fill] : items.slice(start, end);
    start = end;
  }
}

function indent(value: Value, args: Bound): Value {
  const width = args.value("width") ?? 4n;
  const space = typeof width === "string" ? width : " ".repeat(Math.min(1000, args.integer("width") ?? 4));
  const [head = "", ...lines] = splitLines(`${toText(value)}\n`);
  const blank = args.flag("blank");
  const text = [head, ...lines.map((line) => line === "" && !blank ? line : space + line)].join("\n");
  return args.flag("first") ? space + text : text;
}

function truncate(value: Value, args: Bound): Value {
  const units = Array.from(toText(value));
  const length = args.integer("length") ?? 255;
  const end = args.text("end") ?? "...";
  if (units.length <= length + (args.integer("leeway") ?? 5)) return units.join("");
  const cut = units.slice(0, Math.max(0, length - end.length)).join("");
  return (args.flag("killwords") ? cut : cut.replace(/ [^ ]*$/, "")) + end;
}

function jsonOptions(args: Bound): JsonOptions {
  const indentation = args.value("indent") ?? null;
  const separators = sequenceItems(args.value("separators") ?? null);
  return {
    ensureAscii: args.flag("ensure_ascii"),
    sortKeys: args.flag("sort_keys"),
    ...(indentation === null
      ? {}
      : { indent: typeof indentation === "string" ? indentation : " ".repeat(args.integer("indent") ?? 0) }),
    ...(separators === undefined
      ? {}
      : { separators: [toText(separators[0] ?? ""), toText(separators[1] ?? "")] as const }),
  };
}

function toNumber(value: Value): number {
  if (typeof value === "bigint" || typeof value === "number" || typeof value === "boolean") return Number(value);
  throw new JinjaError(`bad operand type: '${typeName(value)}'`);
}

function toFloat(value: Value): number | undefined {
  if (typeof value === "bigint" || typeof value === "number" || typeof value === "boolean") return Number(value);
  const text = typeof value === "string" ? strip(value, undefined, "both") : "";
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : undefined;
}

function toInt(value: Value, args: Bound): Value {
  const base = args.integer("base") ?? 10;
  if (typeof value === "string" && base !== 10) {
    const parsed = parseInt(value.replace(/^0[xob]/i, ""), base);
    return Number.isNaN(parsed) ? args.value("default") ?? 0n : BigInt(parsed);
  }
  if (typeof value === "bigint") return value;
  const text = typeof value === "string" ? strip(value, undefined, "both") : "";
  if (/^[-+]?\d+$/.test(text)) return BigInt(text.replace(/^\+/, ""));
  const number = toFloat(value);
  return number === undefined || !Number.isFinite(number) ? args.value("default") ?? 0n : BigInt(Math.trunc(number));
}

/** Python rounds halves to even; Jinja gives a float in any case. */
function round(value: Value, args: Bound): Value {
  const factor = 10 ** (args.integer("precision") ?? 0);
  const scaled = toNumber(value) * factor;
  const method = args.text("method") ?? "common";
  if (method === "ceil") return Math.ceil(scaled) / factor;
  if (method === "floor") return Math.floor(scaled) / factor;
  if (method !== "common") throw new JinjaError("method must be common, ceil or floor");
  const rounded = Math.round(scaled);
  return (Math.abs(scaled % 1) === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded) / factor;
}
