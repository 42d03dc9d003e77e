/**
 * Values as text: Python's `str`, `repr` and `json.dumps`, and JSON as values.
 *
 * Source: CPython 3.13 `float_repr_style`, `unicode_repr`, `json/encoder.py`; jinja writes None as "None".
 *
 * @module
 */
import { JinjaError } from "./errors.ts";
import {
  Callable,
  Dict,
  HostObject,
  type Key,
  Lazy,
  Markup,
  Namespace,
  sequenceItems,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

/** Python's `str()`; an undefined value is empty. */
export function toText(value: Value): string {
  if (typeof value === "string") return value;
  if (value instanceof Markup) return value.text;
  if (value instanceof Undefined) return "";
  return toRepr(value);
}

/** Python's `repr()`. @throws {JinjaError} If it would show an address. */
export function toRepr(value: Value): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") return floatText(value);
  if (typeof value === "string") return quoted(value);
  if (value instanceof Markup) return `Markup(${quoted(value.text)})`;
  if (value instanceof Undefined) return "Undefined";
  if (Array.isArray(value)) return `[${value.map(toRepr).join(", ")}]`;
  if (value instanceof Tuple) return `(${value.items.map(toRepr).join(", ")}${value.items.length === 1 ? "," : ""})`;
  if (value instanceof Dict) return dictRepr(value);
  if (value instanceof HostObject && value.items !== undefined) {
    return value.kind === "range" ? "range" : `${value.kind}([${value.items.map(toRepr).join(", ")}])`;
  }
  if (value instanceof Namespace) return `<Namespace ${dictRepr(new Dict(new Map(value.attributes)))}>`;
  if (value instanceof Callable || value instanceof Lazy || value instanceof HostObject) {
    throw new JinjaError(`A ${typeName(value)} can't be written out`);
  }
  return value satisfies never;
}

function dictRepr(dict: Dict): string {
  return `{${[...dict.entries].map(([key, value]) => `${toRepr(key)}: ${toRepr(value)}`).join(", ")}}`;
}

/** Python's `repr` of a float: the same digits as JavaScript's, other limits for the exponent. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0.0";
  const [mantissa = "0", power = "0"] = value.toExponential().split("e");
  const exponent = Number(power);
  if (value !== 0 && (exponent < -4 || exponent >= 16)) {
    return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  if (exponent < 0) {
    const sign = mantissa.startsWith("-") ? "-" : "";
    return `${sign}0.${"0".repeat(-exponent - 1)}${mantissa.replace(/[-.]/g, "")}`;
  }
  const plain = value.toString();
  return plain.includes(".") ? plain : `${plain}.0`;
}

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  // What Python calls not printable: other, and separators but the space.
  const body = text.replace(/[\\'"]|[\p{C}\p{Z}]/gu, (character) => {
    if (character === " ") return character;
    if (character === "'" || character === '"') return character === quote ? `\\${character}` : character;
    const known = ESCAPES[character];
    if (known !== undefined) return known;
    const point = (character.codePointAt(0) ?? 0).toString(16);
    if (point.length <= 2) return `\\x${point.padStart(2, "0")}`;
    return point.length <= 4 ? `\\u${point.padStart(4, "0")}` : `\\U${point.padStart(8, "0")}`;
  });
  return quote + body + quote;
}

/** How `json.dumps` writes. */
export interface JsonOptions {
  /** Non-ASCII as `\uXXXX`. */
  ensureAscii: boolean;
  /** What a level is indented by; absent: all in one line. */
  indent?: string;
  /** Between items, and between key and value. */
  separators?: readonly [string, string];
  /** Keys in order. */
  sortKeys: boolean;
}

/** What transformers' `tojson` does without arguments. */
export const JSON_DEFAULTS: JsonOptions = { ensureAscii: false, sortKeys: false };

/** Python's `json.dumps`. @throws {JinjaError} If a value is none of JSON's. */
export function toJson(value: Value, options: JsonOptions = JSON_DEFAULTS, margin = "\n"): string {
  if (value === null) return "null";
  if (typeof value === "boolean" || typeof value === "bigint") return value.toString();
  if (typeof value === "number") return jsonFloat(value);
  if (typeof value === "string") return jsonText(value, options);
  const inner = margin + (options.indent ?? "");
  const [comma, colon] = options.separators ?? [options.indent === undefined ? ", " : ",", ": "];
  const wrap = (open: string, parts: string[], close: string): string => {
    if (parts.length === 0) return open + close;
    return options.indent === undefined
      ? open + parts.join(comma) + close
      : open + inner + parts.join(comma + inner) + margin + close;
  };
  const items = sequenceItems(value);
  if (items !== undefined) return wrap("[", items.map((item) => toJson(item, options, inner)), "]");
  if (value instanceof Dict) {
    const entries = [...value.entries];
    if (options.sortKeys) entries.sort(([a], [b]) => String(a) < String(b) ? -1 : 1);
    return wrap("{", entries.map(([key, item]) => jsonKey(key, options) + colon + toJson(item, options, inner)), "}");
  }
  throw new JinjaError(`Object of type ${typeName(value)} is not JSON serializable`);
}

function jsonKey(key: Key, options: JsonOptions): string {
  return jsonText(typeof key === "string" ? key : typeof key === "number" ? jsonFloat(key) : String(key), options);
}

function jsonFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  return Number.isFinite(value) ? floatText(value) : value > 0 ? "Infinity" : "-Infinity";
}

function jsonText(text: string, options: JsonOptions): string {
  const json = JSON.stringify(text);
  if (!options.ensureAscii) return json;
  return json.replace(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
