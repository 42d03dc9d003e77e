/**
 * JSON text and plain data → values. Numbers keep their kind (1 is an int, 1.0 a float, of any size) and keys their
 * order, which `JSON.parse` loses.
 *
 * @module
 */
import { JinjaError } from "./errors.ts";
import { Dict, type Key, Undefined, type Value } from "./values.ts";

/** Nesting of JSON; the door allows less. */
const DEPTH_MAX = 2000;

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
// deno-lint-ignore no-control-regex -- JSON forbids exactly these
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;

/** A JSON text as a value. @throws {SyntaxError} If it is none. */
export function parseJson(text: string): Value {
  const reader = new JsonReader(text);
  const value = reader.read(0);
  reader.expectEnd();
  return value;
}

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(depth: number): Value {
    if (depth > DEPTH_MAX) throw new SyntaxError(`JSON nests more than ${DEPTH_MAX} levels deep`);
    this.#skipSpace();
    const start = this.#text[this.#at];
    if (start === "{") return this.#readObject(depth);
    if (start === "[") return this.#readArray(depth);
    if (start === '"') return this.#readString();
    for (const [word, value] of [["true", true], ["false", false], ["null", null]] as const) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    NUMBER.lastIndex = this.#at;
    const number = NUMBER.exec(this.#text);
    if (number === null) throw this.#unexpected();
    this.#at += number[0].length;
    return number[1] === undefined && number[2] === undefined ? BigInt(number[0]) : Number(number[0]);
  }

  expectEnd(): void {
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected();
  }

  #readObject(depth: number): Dict {
    const entries = new Map<Key, Value>();
    this.#at++;
    if (this.#skip("}")) return new Dict(entries);
    for (;;) {
      this.#skipSpace();
      const key = this.#readString();
      if (!this.#skip(":")) throw this.#unexpected();
      entries.set(key, this.read(depth + 1));
      if (this.#skip("}")) return new Dict(entries);
      if (!this.#skip(",")) throw this.#unexpected();
    }
  }

  #readArray(depth: number): Value[] {
    const items: Value[] = [];
    this.#at++;
    if (this.#skip("]")) return items;
    for (;;) {
      items.push(this.read(depth + 1));
      if (this.#skip("]")) return items;
      if (!this.#skip(",")) throw this.#unexpected();
    }
  }

  #readString(): string {
    STRING.lastIndex = this.#at;
    const text = STRING.exec(this.#text)?.[0];
    if (text === undefined) throw this.#unexpected();
    this.#at += text.length;
    return JSON.parse(text) as string;
  }

  #skip(sign: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== sign) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    SPACE.lastIndex = this.#at;
    this.#at += SPACE.exec(this.#text)?.[0].length ?? 0;
  }

  #unexpected(): SyntaxError {
    const found = this.#text[this.#at];
    return new SyntaxError(
      found === undefined ? "JSON ends too early" : `Unexpected ${JSON.stringify(found)} in JSON at ${this.#at}`,
    );
  }
}

/** Plain data as a value: whole numbers are ints. @throws {JinjaError} If it holds what JSON can't. */
export function toValue(data: unknown, depth = 0): Value {
  if (depth > DEPTH_MAX) throw new JinjaError(`A variable nests more than ${DEPTH_MAX} levels deep`);
  if (data === null || typeof data === "boolean" || typeof data === "string" || typeof data === "bigint") return data;
  if (data === undefined) return new Undefined("undefined");
  if (typeof data === "number") return Number.isSafeInteger(data) ? BigInt(data) : data;
  if (data instanceof Dict) return data;
  if (Array.isArray(data)) return data.map((item) => toValue(item, depth + 1));
  if (typeof data !== "object") throw new JinjaError(`A variable can't hold a ${typeof data}`);
  const entries = Object.entries(data).filter(([, value]) => value !== undefined);
  return new Dict(new Map(entries.map(([key, value]): [Key, Value] => [key, toValue(value, depth + 1)])));
}
