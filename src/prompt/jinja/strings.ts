/**
 * Methods of strings, as Python has them: white space, characters and splits are Python's, not JavaScript's.
 *
 * Source: https://docs.python.org/3.13/library/stdtypes.html#string-methods
 *
 * @module
 */
import { Bound } from "./arguments.ts";
import { JinjaError } from "./errors.ts";
import { formatBraces } from "./format.ts";
import { Callable, iterate, type Named, sequenceItems, Tuple, typeName, type Value } from "./values.ts";

/** What `str.isspace` holds for. */
const SPACE = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";
const SPACES = new RegExp(`[${SPACE}]+`, "g");
const LEADING = new RegExp(`^[${SPACE}]+`);
// deno-lint-ignore no-control-regex -- they are line ends to Python
const LINE_ENDS = /\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]/g;

/** Takes characters, or white space, off the ends of a text. */
export function strip(text: string, characters: string | undefined, side: "both" | "left" | "right"): string {
  const set = characters === undefined ? undefined : new Set(characters);
  const units = Array.from(text);
  const taken = (character: string): boolean => set === undefined ? LEADING.test(character) : set.has(character);
  let start = 0;
  let end = units.length;
  if (side !== "right") { while (start < end && taken(units[start]!)) start++; }
  if (side !== "left") { while (end > start && taken(units[end - 1]!)) end--; }
  return start === 0 && end === units.length ? text : units.slice(start, end).join("");
}

/** Python's `str.splitlines()`. */
export function splitLines(text: string, keepEnds = false): string[] {
  const lines: string[] = [];
  let start = 0;
  for (const { 0: end, index } of text.matchAll(LINE_ENDS)) {
    lines.push(text.slice(start, keepEnds ? index + end.length : index));
    start = index + end.length;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

/** Python's `str.capitalize()`. */
export function capitalize(text: string): string {
  const [first = ""] = text;
  return first.toUpperCase() + text.slice(first.length).toLowerCase();
}

/** Replaces up to `count` places; all of them if it is left out or negative. */
export function replace(text: string, from: string, to: string, count = -1): string {
  if (from === "") {
    const units = Array.from(text);
    const places = count < 0 ? units.length + 1 : count;
    return units.map((unit, i) => (i < places ? to : "") + unit).join("") + (units.length < places ? to : "");
  }
  if (count < 0) return text.split(from).join(to);
  const parts = text.split(from);
  if (parts.length <= count + 1) return parts.join(to);
  return [...parts.slice(0, count), parts.slice(count).join(from)].map((part, i) => (i > 0 ? to : "") + part).join("");
}

function split(text: string, separator: string | undefined, limit: number, fromRight: boolean): string[] {
  if (separator === "") throw new JinjaError("empty separator");
  if (separator === undefined) return splitBySpace(text, limit, fromRight);
  const parts = text.split(separator);
  if (limit < 0 || parts.length <= limit + 1) return parts;
  if (fromRight) {
    const at = parts.length - limit;
    return [parts.slice(0, at).join(separator), ...parts.slice(at)];
  }
  return [...parts.slice(0, limit), parts.slice(limit).join(separator)];
}

function splitBySpace(text: string, limit: number, fromRight: boolean): string[] {
  const stripped = strip(text, undefined, "both");
  if (stripped === "") return [];
  const gaps = [...stripped.matchAll(SPACES)];
  const cuts = limit < 0 ? gaps : fromRight ? gaps.slice(Math.max(0, gaps.length - limit)) : gaps.slice(0, limit);
  const parts: string[] = [];
  let start = 0;
  for (const { 0: gap, index } of cuts) {
    parts.push(stripped.slice(start, index));
    start = index + gap.length;
  }
  parts.push(stripped.slice(start));
  // What is left when the limit is reached keeps the space at its far end.
  if (limit < 0 || cuts.length < limit) return parts;
  if (fromRight) {
    return [strip(text, undefined, "right").slice(0, -stripped.length || undefined) + parts[0], ...parts.slice(1)];
  }
  return [...parts.slice(0, -1), parts.at(-1) + strip(text, undefined, "left").slice(stripped.length)];
}

function affix(text: string, args: Bound, test: (text: string, affix: string) => boolean): boolean {
  const value = args.require("prefix");
  const options = sequenceItems(value) ?? [value];
  return options.some((option) => {
    if (typeof option !== "string") throw new JinjaError(`an affix must be str, not ${typeName(option)}`);
    return test(text, option);
  });
}

/** Offset in characters. */
function find(text: string, part: string, last: boolean): number {
  const at = last ? text.lastIndexOf(part) : text.indexOf(part);
  return at < 0 ? -1 : Array.from(text.slice(0, at)).length;
}

function partition(text: string, separator: string, last: boolean): Tuple {
  const at = last ? text.lastIndexOf(separator) : text.indexOf(separator);
  if (at < 0) return new Tuple(last ? ["", "", text] : [text, "", ""]);
  return new Tuple([text.slice(0, at), separator, text.slice(at + separator.length)]);
}

function pad(text: string, args: Bound, side: "left" | "right" | "both"): string {
  const missing = Math.max(0, (args.integer("width") ?? 0) - Array.from(text).length);
  if (missing > 10_000) throw new JinjaError(`a text can't be padded by ${missing} characters`);
  const fill = args.text("fillchar") ?? " ";
  const left = side === "left" ? 0 : side === "right" ? missing : Math.floor(missing / 2);
  return fill.repeat(left) + text + fill.repeat(missing - left);
}

/** Python's `str.title()`: a letter after anything that is no letter. */
function title(text: string): string {
  return text.toLowerCase().replace(/\p{L}+/gu, capitalize);
}

type Method = (text: string, args: Bound, rest: readonly Value[], named: Named) => Value;

/** Method → parameters and what it does. */
const METHODS: Readonly<Record<string, readonly [parameters: readonly string[], Method]>> = {
  capitalize: [[], (text) => capitalize(text)],
  casefold: [[], (text) => text.toLowerCase()],
  center: [["width", "fillchar"], (text, args) => pad(text, args, "both")],
  count: [["sub"], (text, args) => BigInt(text.split(args.text("sub") ?? "").length - 1)],
  endswith: [["prefix"], (text, args) => affix(text, args, (whole, end) => whole.endsWith(end))],
  find: [["sub"], (text, args) => BigInt(find(text, args.text("sub") ?? "", false))],
  index: [["sub"], (text, args) => {
    const at = find(text, args.text("sub") ?? "", false);
    if (at < 0) throw new JinjaError("substring not found");
    return BigInt(at);
  }],
  isalnum: [[], (text) => /^[\p{L}\p{N}]+$/u.test(text)],
  isalpha: [[], (text) => /^\p{L}+$/u.test(text)],
  isdigit: [[], (text) => /^[\p{Nd}²³¹⁰⁴-⁹₀-₉]+$/u.test(text)],
  islower: [[], (text) => /\p{Ll}/u.test(text) && !/[\p{Lu}\p{Lt}]/u.test(text)],
  isspace: [[], (text) => text !== "" && strip(text, undefined, "both") === ""],
  isupper: [[], (text) => /\p{Lu}/u.test(text) && !/[\p{Ll}\p{Lt}]/u.test(text)],
  join: [["iterable"], (text, args) =>
    [...iterate(args.require("iterable"))].map((item) => {
      if (typeof item !== "string") throw new JinjaError(`expected str instance, ${typeName(item)} found`);
      return item;
    }).join(text)],
  ljust: [["width", "fillchar"], (text, args) => pad(text, args, "left")],
  lower: [[], (text) => text.toLowerCase()],
  lstrip: [["chars"], (text, args) => strip(text, args.text("chars"), "left")],
  partition: [["sep"], (text, args) => partition(text, args.text("sep") ?? "", false)],
  removeprefix: [["prefix"], (text, args) => {
    const prefix = args.text("prefix") ?? "";
    return text.startsWith(prefix) ? text.slice(prefix.length) : text;
  }],
  removesuffix: [["suffix"], (text, args) => {
    const suffix = args.text("suffix") ?? "";
    return suffix !== "" && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
  }],
  replace: [
    ["old", "new", "count"],
    (text, args) => replace(text, args.text("old") ?? "", args.text("new") ?? "", args.integer("count")),
  ],
  rfind: [["sub"], (text, args) => BigInt(find(text, args.text("sub") ?? "", true))],
  rjust: [["width", "fillchar"], (text, args) => pad(text, args, "right")],
  rpartition: [["sep"], (text, args) => partition(text, args.text("sep") ?? "", true)],
  rsplit: [
    ["sep", "maxsplit"],
    (text, args) => split(text, args.text("sep"), args.integer("maxsplit") ?? -1, true),
  ],
  rstrip: [["chars"], (text, args) => strip(text, args.text("chars"), "right")],
  split: [
    ["sep", "maxsplit"],
    (text, args) => split(text, args.text("sep"), args.integer("maxsplit") ?? -1, false),
  ],
  splitlines: [["keepends"], (text, args) => splitLines(text, args.flag("keepends"))],
  startswith: [["prefix"], (text, args) => affix(text, args, (whole, start) => whole.startsWith(start))],
  strip: [["chars"], (text, args) => strip(text, args.text("chars"), "both")],
  title: [[], (text) => title(text)],
  upper: [[], (text) => text.toUpperCase()],
  zfill: [["width"], (text, args) => text.padStart(Math.min(args.integer("width") ?? 0, 10_000), "0")],
};

/** A method of a string, if Python has it and chat templates may use it. */
export function stringMethod(text: string, name: string): Callable | undefined {
  if (name === "format") return new Callable("format", (args, named) => formatBraces(text, args, named));
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  if (method === undefined) return undefined;
  const [parameters, run] = method;
  return new Callable(name, (args, named) => run(text, new Bound(name, parameters, args, named), args, named));
}
