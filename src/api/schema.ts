/**
 * zod at the door: a schema's complaint becomes a sentence with the path of the field, and a RequestError.
 *
 * @module
 */
import type { z } from "zod";
import { toSafeName } from "./body.ts";
import { RequestError } from "./errors.ts";

/**
 * Checks a value against a schema.
 *
 * @param path Where the value is in the body; empty for the body itself.
 * @throws {RequestError} `invalid_request`, with the path of the first field at fault.
 */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown, path = ""): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = findDeepest(parsed.error.issues[0]);
  const param = toParam(path, issue?.path ?? []);
  const found = toFound(valueAt(value, issue?.path ?? []));
  const where = param === "" ? "" : `\`${param}\`: `;
  throw new RequestError(
    "invalid_request",
    `Invalid request body: ${where}${toWanted(issue?.message)}; found ${found}.`,
    param === "" ? {} : { param },
  );
}

/** Longer than any path: a branch of the right type beats every branch of a wrong one. */
const PATH_LENGTH_MAX = 1000;

/** zod's names of types, as a reader of JSON knows them. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: "a list",
  bigint: "an integer",
  boolean: "true or false",
  int: "an integer",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "a string",
};

/** zod's own "Invalid input: expected record, received string" becomes "expected an object". */
function toWanted(message = "unusable value"): string {
  const bound = /^Too (?:big|small): expected \w+ to (?:be|have) ([<>])=?(\S+)(.*)$/.exec(message);
  if (bound) return `expected at ${bound[1] === "<" ? "most" : "least"} ${bound[2]}${bound[3]}`;
  return message.replace(/^Invalid (input|option): /, "").replace(/, received .*$/, "")
    .replace(/^expected (\w+)$/, (whole, type: string) => TYPE_NAMES[type] ? `expected ${TYPE_NAMES[type]}` : whole);
}

interface Found {
  path: readonly PropertyKey[];
  message: string;
}

/** In a union, the branch that got furthest is the one that the client meant: right type first, then longest path. */
function findDeepest(issue: z.core.$ZodIssue | undefined): Found | undefined {
  if (issue?.code !== "invalid_union") return issue;
  let best: { found: Found; score: number } = { found: issue, score: 0 };
  for (const [first] of issue.errors) {
    const inner = findDeepest(first);
    if (!first || !inner) continue;
    const score = inner.path.length + (first.code === "invalid_type" ? 0 : PATH_LENGTH_MAX);
    if (score > best.score) best = { found: { path: [...issue.path, ...inner.path], message: inner.message }, score };
  }
  return best.found;
}

function toParam(path: string, parts: readonly PropertyKey[]): string {
  let param = path;
  for (const part of parts) {
    if (typeof part === "number") param += `[${part}]`;
    else param += param === "" ? toSafeName(String(part)) : `.${toSafeName(String(part))}`;
  }
  return param;
}

function valueAt(value: unknown, parts: readonly PropertyKey[]): unknown {
  let at = value;
  for (const part of parts) {
    if (typeof at !== "object" || at === null) return undefined;
    at = (at as Record<PropertyKey, unknown>)[part];
  }
  return at;
}

/** Says what was found without repeating a client's text. */
function toFound(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "number" && !Number.isFinite(value)) return "a number that is too large";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return value === "" ? "an empty string" : "a string";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  return "an object";
}
