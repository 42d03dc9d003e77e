/**
 * What becomes of each field of a request: it works, it is refused by name, or it is accepted and listed.
 *
 * The tables are data, one a wire object; a field that no table knows is listed. A refusal is for fields that would
 * change the answer and can't be honoured; a value that asks for nothing (an empty list, a default) passes.
 *
 * @module
 */
import { type JsonObject, toSafeName } from "./body.ts";
import { RequestError } from "./errors.ts";

/** How a value of a refusable field is judged. `nothing`: it asks for what happens anyway. */
export type Verdict = "refused" | "listed" | "nothing";

/** What becomes of one field. */
export type FieldRule =
  | { rule: "works" }
  | {
    rule: "listed";
    /** True for a value that asks for what happens anyway; absent: none does. */
    asksNothing?: (value: unknown) => boolean;
  }
  | {
    rule: "refused";
    /** Ends the sentence "`x` is not supported: …". */
    why: string;
    /** Judges a value that is not null; absent: always refused. */
    judge?: (value: unknown, body: JsonObject) => Verdict;
  };

/** The fields of one wire object. */
export type FieldTable = Readonly<Record<string, FieldRule>>;

/** The field is honoured; its schema checks it. */
export const WORKS: FieldRule = { rule: "works" };

/** The field changes no answer here; its name goes into the header and the log. */
export const LISTED: FieldRule = { rule: "listed" };

/** Most names that the header lists. */
export const IGNORED_NAMES_MAX = 32;

/** Names of what was accepted and had no effect, for `x-rapid-mlx-ignored` and the log line. Bounded. */
export class IgnoredFields {
  readonly #names = new Set<string>();
  #more = 0;

  /** Adds a path whose parts come from this server or from `toSafeName`. */
  add(path: string): void {
    if (this.#names.has(path)) return;
    if (this.#names.size < IGNORED_NAMES_MAX) this.#names.add(path);
    else this.#more++;
  }

  /** The names, without those beyond IGNORED_NAMES_MAX. */
  names(): string[] {
    return [...this.#names];
  }

  /** e.g. `user, metadata, messages[].cache_control`; undefined if nothing was ignored. */
  toHeader(): string | undefined {
    if (this.#names.size === 0) return undefined;
    const names = [...this.#names].join(", ");
    return this.#more === 0 ? names : `${names}, +${this.#more} more`;
  }
}

/**
 * Sorts the fields of an object: gives those that work, without nulls, and adds the others to `ignored`.
 *
 * @param path Where the object is (`messages[3]`), or empty for the body.
 * @param listedPath The same for the list of ignored names (`messages[]`), so that repetitions fall together.
 * @throws {RequestError} `unsupported_field`, with the path, for a field that is refused.
 */
export function sortFields(
  table: FieldTable,
  object: JsonObject,
  ignored: IgnoredFields,
  path = "",
  listedPath: string = path,
): Record<string, unknown> {
  const working: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(object)) {
    if (value === null) continue;
    const rule = Object.hasOwn(table, name) ? table[name] ?? LISTED : LISTED;
    if (rule.rule === "works") {
      working[name] = value;
      continue;
    }
    const verdict = rule.rule === "listed"
      ? rule.asksNothing?.(value) ? "nothing" : "listed"
      : rule.judge?.(value, object) ?? "refused";
    if (rule.rule === "refused" && verdict === "refused") {
      const param = join(path, name);
      throw new RequestError("unsupported_field", `\`${param}\` is not supported: ${rule.why}.`, { param });
    }
    if (verdict === "listed") ignored.add(join(listedPath, toSafeName(name)));
  }
  return working;
}

/** A judge for fields that ask for nothing when they have one of these values. */
export function nothingIf(...values: readonly unknown[]): (value: unknown) => Verdict {
  return (value) => values.includes(value) ? "nothing" : "refused";
}

/** True for lists and objects without entries. */
export function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
