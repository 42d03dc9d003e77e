/**
 * Raw text of a parameter → JSON, by the tool's schema.
 *
 * Text stays text. For other declared types the text must read as one of them, as JSON or as a Python literal; without
 * a declared type whatever it reads as wins, else it is text.
 *
 * @module
 */
import type { Tool } from "../../flow.ts";
import { JsonReader } from "../json_reader.ts";

/** Types that a schema allows; undefined: it does not say. */
export function declaredTypes(schema: unknown, depth = 0): ReadonlySet<string> | undefined {
  if (typeof schema !== "object" || schema === null || depth > 8) return undefined;
  const { type, anyOf, oneOf, enum: values, items, properties } = schema as Record<string, unknown>;
  if (typeof type === "string") return new Set([type]);
  if (Array.isArray(type)) return new Set(type.filter((one) => typeof one === "string"));
  const options = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (options !== undefined) {
    const types = options.map((option) => declaredTypes(option, depth + 1));
    return types.includes(undefined) ? undefined : new Set(types.flatMap((one) => [...one ?? []]));
  }
  if (Array.isArray(values)) return new Set(values.map(typeOf));
  if (properties !== undefined) return new Set(["object"]);
  return items === undefined ? undefined : new Set(["array"]);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** Whether a parameter can only be text, so that its value can be given on as it comes. */
export function isTextParameter(tool: Tool, name: string): boolean {
  const types = declaredTypes(schemaOf(tool, name));
  return types !== undefined && types.size === 1 && types.has("string");
}

/** Whether the schema says what a parameter may be. */
export function isDeclared(tool: Tool, name: string): boolean {
  return declaredTypes(schemaOf(tool, name)) !== undefined;
}

/** A value's JSON, and whether it is of a declared type. Without a tool it is of whatever type it reads as. */
export function coerceValue(raw: string, tool: Tool | undefined, name: string): { json: string; fits: boolean } {
  const types = tool === undefined ? undefined : declaredTypes(schemaOf(tool, name));
  const json = readJson(raw.trim());
  const found = json === undefined ? undefined : typeOf(JSON.parse(json));
  const fits = found !== undefined &&
    (types === undefined || types.has(found) || (found === "integer" && types.has("number")));
  // A quoted text where text may stand is that text, quotes and all, unless text is the only reading.
  if (json !== undefined && fits && !(found === "string" && types?.has("string") === true)) return { json, fits };
  return { json: JSON.stringify(raw), fits: types === undefined || types.has("string") };
}

/** What the tool says of a parameter. */
export function schemaOf(tool: Tool, name: string): unknown {
  const properties = tool.parameters?.["properties"];
  if (typeof properties !== "object" || properties === null || !Object.hasOwn(properties, name)) return undefined;
  return (properties as Record<string, unknown>)[name];
}

function readJson(text: string): string | undefined {
  const reader = new JsonReader();
  const { json, next } = reader.push(text);
  const tail = reader.finish();
  if (reader.state !== "done" || next < text.length) return undefined;
  // A missing bracket means that something is missing: no single reading.
  return reader.repairs.includes("missing_bracket_added") ? undefined : json + tail;
}
