/**
 * TOML, edited line by line: no library writes it back with its comments.
 *
 * A line edit is taken only if the parser reads exactly the wanted value from the result; where it does not (a value
 * over several lines, an inline table), the whole file is written anew, without its comments.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { parse, stringify } from "smol-toml";
import type { PathPart, Value } from "../agent.ts";
import type { Change } from "./edit.ts";

type Table = Record<string, unknown>;

/** The value. @throws {Error} At the first fault. */
export function parseToml(text: string): unknown {
  return parse(text);
}

/** The text with a change. */
export function editToml(text: string, { path, value }: Change): string {
  const keys = path.map(requireKey);
  const wanted = withValue(parse(text), keys, value);
  const edited = editLines(text, keys, value);
  return reads(edited, wanted) ? edited : stringify(wanted);
}

function reads(text: string, wanted: Table): boolean {
  try {
    return isDeepStrictEqual(plain(parse(text)), plain(wanted));
  } catch {
    return false;
  }
}

/** Objects of one kind: the parser's have no prototype. Dates are compared as text. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function withValue(table: Table, [key, ...rest]: readonly string[], value: Value | undefined): Table {
  if (key === undefined) return table;
  const copy = { ...table };
  const below = copy[key];
  if (rest.length > 0) copy[key] = withValue(typeof below === "object" ? below as Table : {}, rest, value);
  else if (value === undefined) delete copy[key];
  else copy[key] = value;
  return copy;
}

/** Sets `key = value` in the lines of its table, which is added at the end if there is none. */
function editLines(text: string, keys: readonly string[], value: Value | undefined): string {
  const table = keys.slice(0, -1);
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const isEmptied = value !== undefined && isTable(value) && Object.keys(value).length === 0;
  if (isEmptied) return text;
  const header = table.length === 0 ? -1 : lines.findIndex((line) => isHeader(line, table));
  const name = toKey(keys.at(-1) ?? "");
  if (header === -1 && table.length > 0) {
    if (value === undefined) return withoutTable(lines, keys);
    return toText([
      ...lines,
      ...(lines.length > 0 ? [""] : []),
      `[${table.map(toKey).join(".")}]`,
      `${name} = ${toValue(value)}`,
    ]);
  }
  const end = endOfTable(lines, header);
  const found = lines.findIndex((line, at) => at > header && at < end && keyOf(line) === keys.at(-1));
  if (value === undefined) {
    return found === -1 ? withoutTable(lines, keys) : toText(lines.toSpliced(found, 1));
  }
  const line = `${name} = ${toValue(value)}`;
  if (found !== -1) return toText(lines.toSpliced(found, 1, line));
  let place = end;
  while (place > header + 1 && (lines[place - 1] ?? "").trim() === "") place--;
  const added = table.length === 0 && place === 0 && lines.length > 0 ? [line, ""] : [line];
  return toText(lines.toSpliced(place, 0, ...added));
}

/** Takes away a table that is left without keys, header included. */
function withoutTable(lines: readonly string[], table: readonly string[]): string {
  const header = lines.findIndex((line) => isHeader(line, table));
  if (header === -1) return toText(lines);
  const end = endOfTable(lines, header);
  const from = header > 0 && (lines[header - 1] ?? "").trim() === "" ? header - 1 : header;
  return toText(lines.toSpliced(from, end - from));
}

function endOfTable(lines: readonly string[], header: number): number {
  const next = lines.findIndex((line, at) => at > header && /^\s*\[/.test(line));
  return next === -1 ? lines.length : next;
}

/** Whether a line is `[a.b]`; spelt otherwise it counts as absent, and the parser's check catches what follows. */
function isHeader(line: string, table: readonly string[]): boolean {
  const inner = /^\s*\[([^[\]]+)\]\s*(#.*)?$/.exec(line)?.[1];
  return inner !== undefined && inner.split(".").map((key) => unquote(key.trim())).join("\0") === table.join("\0");
}

function keyOf(line: string): string | undefined {
  const key = /^\s*("[^"]*"|'[^']*'|[A-Za-z0-9_-]+)\s*=/.exec(line)?.[1];
  return key === undefined ? undefined : unquote(key);
}

function unquote(key: string): string {
  return /^(".*"|'.*')$/.test(key) ? key.slice(1, -1) : key;
}

function toKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

function toValue(value: Value): string {
  return stringify({ value }).replace(/^value = /, "").trimEnd();
}

function isTable(value: Value): value is { readonly [key: string]: Value } {
  return typeof value === "object" && !Array.isArray(value);
}

function toText(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function requireKey(part: PathPart): string {
  if (typeof part === "string") return part;
  throw new Error(`TOML has no list to search for ${part.key}=${part.is}`);
}
