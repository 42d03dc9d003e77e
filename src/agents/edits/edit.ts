/**
 * Values into a file that may hold more: comments, order and other keys stay where the format's library lets them.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { FileFormat, PathPart, Value } from "../agent.ts";
import { editJson, parseJson } from "./json.ts";
import { editToml, parseToml } from "./toml.ts";
import { editYaml, parseYaml } from "./yaml.ts";

/** A configuration that can't be edited. The message names the file and what is wrong with it. */
export class ConfigFileError extends Error {
  /** @param message Names the file. */
  constructor(message: string) {
    super(message);
    this.name = "ConfigFileError";
  }
}

/** A value to set, or undefined to take it away. */
export interface Change {
  /** As in an Edit. */
  readonly path: readonly PathPart[];
  /** Undefined: removed. */
  readonly value: Value | undefined;
}

/** One format. */
interface Format {
  /** The file's value. @throws {Error} If it can't be read. */
  parse(text: string): unknown;
  /** The text with one change made. */
  edit(text: string, change: Change): string;
}

const FORMATS: Readonly<Record<FileFormat, Format>> = {
  json: { parse: parseJson, edit: editJson },
  toml: { parse: parseToml, edit: editToml },
  yaml: { parse: parseYaml, edit: editYaml },
};

/**
 * Makes changes.
 *
 * @param text Undefined: there is no file yet.
 * @throws {ConfigFileError} If the file is broken, or holds something else where an object or list is needed.
 */
export function applyChanges(
  file: { readonly path: string; readonly format: FileFormat },
  text: string | undefined,
  changes: readonly Change[],
): string {
  let current = text ?? "";
  if (current.trim() !== "") readFile(file, current);
  for (const change of changes) {
    if (isDeepStrictEqual(valueAt(file, current, change.path), change.value)) continue;
    current = FORMATS[file.format].edit(current, change);
    const now = valueAt(file, current, change.path);
    if (!isDeepStrictEqual(now, change.value)) {
      throw new ConfigFileError(`Cannot set ${toShown(change.path)} in ${file.path}: edit the file by hand.`);
    }
  }
  return current;
}

/** What a file holds that has these values and nothing else. */
export function toDocument(edits: readonly Change[]): unknown {
  return parseJson(applyChanges({ path: "a new file", format: "json" }, undefined, edits));
}

/** What a file holds at a path; undefined: nothing. @throws {ConfigFileError} If it is broken. */
export function valueAt(
  file: { readonly path: string; readonly format: FileFormat },
  text: string,
  path: readonly PathPart[],
): unknown {
  let value = text.trim() === "" ? undefined : readFile(file, text);
  for (const [at, part] of path.entries()) {
    if (value === undefined) return undefined;
    const isList = typeof part !== "string";
    if (isList ? !Array.isArray(value) : !isObject(value)) {
      const found = Array.isArray(value) ? "a list" : isObject(value) ? "an object" : JSON.stringify(value);
      const where = at === 0 ? "the whole" : toShown(path.slice(0, at));
      throw new ConfigFileError(
        `Cannot edit ${file.path}: ${where} is ${found}, wanted is ${isList ? "a list" : "an object"}.`,
      );
    }
    value = isList
      ? (value as unknown[]).find((entry) => isObject(entry) && entry[part.key] === part.is)
      : (value as Record<string, unknown>)[part];
  }
  return value;
}

/** The paths above a change that hold nothing once it is undone, innermost first. */
export function toParents(path: readonly PathPart[]): (readonly PathPart[])[] {
  return path.slice(1).map((_, at) => path.slice(0, path.length - 1 - at));
}

/** `env.ANTHROPIC_MODEL`, `models[name=Rapid-MLX]`. */
export function toShown(path: readonly PathPart[]): string {
  return path.map((part, at) => typeof part === "string" ? `${at === 0 ? "" : "."}${part}` : `[${part.key}=${part.is}]`)
    .join("");
}

/** Whether a value has keys. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readFile({ path, format }: { path: string; format: FileFormat }, text: string): unknown {
  try {
    return FORMATS[format].parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new ConfigFileError(`${path} is no ${format.toUpperCase()} (${reason}); mend it, then try again.`);
  }
}
