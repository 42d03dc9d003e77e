/**
 * Bytes of a request body → a JSON object, or the error that says what is wrong with them.
 *
 * Runs before any schema: invalid UTF-8, nesting that could exhaust a recursive reader, malformed JSON and lone
 * surrogates (which no tokenizer and no UTF-8 writer can hold) end here.
 *
 * @module
 */
import { RequestError } from "./errors.ts";

/** A parsed body: field → value, nothing else known. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Deepest nesting of a body, counted in open brackets. Real tool schemas stay under 20. */
export const BODY_DEPTH_MAX = 128;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Reads a body.
 *
 * @throws {RequestError} `invalid_json`, `request_body_too_deep` or `invalid_request`.
 */
export function parseBody(bytes: Uint8Array): JsonObject {
  requireShallow(bytes);
  const text = decodeUtf8(bytes);
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const found = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
    throw new RequestError("invalid_request", `Invalid request body: expected a JSON object, found ${found}.`);
  }
  if (text.includes("\\u") && /\\u[dD][89a-fA-F]/.test(text)) requireWellFormed(value, "");
  return value as JsonObject;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new RequestError("invalid_json", "The request body is not valid UTF-8.");
  }
}

function parseJson(text: string): unknown {
  if (text.trim() === "") {
    throw new RequestError("invalid_json", "The request body is empty: expected a JSON object.");
  }
  try {
    return fromJsonText(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RequestError("invalid_json", `The request body is not valid JSON: ${reason}`);
  }
}

/**
 * Digits or an exponent that may be more than a number of JavaScript holds, in a place where a number may be. The bound
 * that schemas of integers have is none of them, and looking at every number of a body takes ten times as long.
 */
const LONG_NUMBER = /[:,[]\s*-?(?!9007199254740991[\s,\]}])(?:[\d.]{16,}|[\d.]+[eE])/;

/** Numbers of bodies that JavaScript does not hold exactly: the object or list they are in → field → their digits. */
const exactNumbers = new WeakMap<object, Map<string, string>>();

/** Parses and notes inexact numbers; a body's `seed` of that kind becomes its digits. */
function parseExact(text: string): unknown {
  const note = function (this: object, key: string, item: unknown, context?: { source?: string }): unknown {
    const source = context?.source;
    if (typeof item === "number" && source !== undefined && !isExact(item, source)) {
      const known = exactNumbers.get(this) ?? new Map<string, string>();
      exactNumbers.set(this, known.set(key, source));
    }
    return item;
  };
  const value: unknown = JSON.parse(text, note);
  const seed = typeof value === "object" && value !== null ? exactNumbers.get(value)?.get("seed") : undefined;
  return seed === undefined || !/^-?\d+$/.test(seed) ? value : { ...value as object, seed };
}

/** Above 2^53 some integers print as they were written by chance; nobody can know which. */
function isExact(item: number, source: string): boolean {
  return JSON.stringify(item) === source && (!Number.isInteger(item) || Number.isSafeInteger(item));
}

/** What `toJsonText` wrote, its numbers again to the last digit. @throws {SyntaxError} If it is no JSON. */
export function fromJsonText(text: string): unknown {
  return LONG_NUMBER.test(text) ? parseExact(text) : JSON.parse(text);
}

/** A part of a body as JSON again, its numbers to the last digit as the client wrote them. */
export function toJsonText(part: unknown): string {
  return JSON.stringify(part, function (this: object, key: string, item: unknown): unknown {
    const source = typeof item === "number" ? exactNumbers.get(this)?.get(key) : undefined;
    return source === undefined ? item : rawJson(source);
  });
}

/** ECMAScript's `JSON.rawJSON`, which TypeScript's library does not know yet: writes a number as this text has it. */
export const rawJson = Reflect.get(JSON, "rawJSON") as (text: string) => unknown;

/** JSON text as a value that is written again with its numbers as they were: 64-bit ids, 1.0, -0. */
export function toExactJson(text: string): unknown {
  const keep = (_key: string, value: unknown, context?: { source?: string }): unknown => {
    if (typeof value !== "number" || context?.source === undefined) return value;
    return JSON.stringify(value) === context.source ? value : rawJson(context.source);
  };
  return JSON.parse(text, keep);
}

/**
 * Counts open brackets outside of strings; a linear scan that never recurses. Strings are jumped over: they are nearly
 * all of a long prompt, and byte by byte they take longer than to parse.
 */
function requireShallow(bytes: Uint8Array): void {
  let depth = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) i = toStringEnd(bytes, i + 1);
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > BODY_DEPTH_MAX) {
        throw new RequestError(
          "request_body_too_deep",
          `The request body is nested deeper than ${BODY_DEPTH_MAX} levels, the most that this server reads.`,
        );
      }
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
}

/** Where a string that begins at `start` has its closing quote: the first with an even number of backslashes before. */
function toStringEnd(bytes: Uint8Array, start: number): number {
  for (let from = start;;) {
    const end = bytes.indexOf(QUOTE, from);
    if (end < 0) return bytes.length;
    let before = end;
    while (before > from && bytes[before - 1] === BACKSLASH) before--;
    if ((end - before) % 2 === 0) return end;
    from = end + 1;
  }
}

/** Recursion is safe here: requireShallow has bounded the depth. */
function requireWellFormed(value: unknown, path: string): void {
  if (typeof value === "string") {
    if (value.isWellFormed()) return;
    throw new RequestError(
      "invalid_request",
      `Invalid request body: ${path} holds a lone UTF-16 surrogate (half of a \\ud800-\\udfff pair), which is no text.`,
      { param: path },
    );
  }
  if (Array.isArray(value)) value.forEach((item, index) => requireWellFormed(item, `${path}[${index}]`));
  else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      const name = toSafeName(key);
      requireWellFormed(key, path === "" ? name : `${path}.${name}`);
      requireWellFormed(item, path === "" ? name : `${path}.${name}`);
    }
  }
}

/** A client's field name as it may be repeated in a header or a message: others than plain ones are masked. */
export function toSafeName(name: string): string {
  return /^[A-Za-z0-9_.-]{1,64}$/.test(name) ? name : "<field>";
}
