/**
 * Arguments of functions, filters and methods, by position or by name, as Python binds them.
 *
 * @module
 */
import { JinjaError } from "./errors.ts";
import { isTrue, type Named, typeName, type Value } from "./values.ts";

/** Bound arguments. Readers give `undefined` for one that was left out. */
export class Bound {
  readonly #name: string;
  readonly #values: ReadonlyMap<string, Value>;

  /** Binds. @throws {JinjaError} If there are too many, or one has an unknown name or two values. */
  constructor(name: string, parameters: readonly string[], args: readonly Value[], named: Named) {
    if (args.length > parameters.length) {
      throw new JinjaError(`${name}() takes at most ${parameters.length} arguments (${args.length} given)`);
    }
    const values = new Map(args.map((value, i): [string, Value] => [parameters[i]!, value]));
    for (const [key, value] of named) {
      if (!parameters.includes(key)) throw new JinjaError(`${name}() got an unexpected keyword argument '${key}'`);
      if (values.has(key)) throw new JinjaError(`${name}() got multiple values for argument '${key}'`);
      values.set(key, value);
    }
    this.#name = name;
    this.#values = values;
  }

  /** As it is. */
  value(name: string): Value | undefined {
    return this.#values.get(name);
  }

  /** As it is. @throws {JinjaError} If it was left out. */
  require(name: string): Value {
    const value = this.#values.get(name);
    if (value === undefined) throw new JinjaError(`${this.#name}() missing required argument: '${name}'`);
    return value;
  }

  /** Text; None counts as left out. @throws {JinjaError} If it is something else. */
  text(name: string): string | undefined {
    const value = this.#values.get(name) ?? undefined;
    if (value === undefined || typeof value === "string") return value;
    throw new JinjaError(`${this.#name}() argument '${name}' must be str, not ${typeName(value)}`);
  }

  /** A whole number; None counts as left out. @throws {JinjaError} If it is something else. */
  integer(name: string): number | undefined {
    const value = this.#values.get(name) ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value === "bigint") return Number(value);
    if (typeof value === "boolean") return Number(value);
    throw new JinjaError(`${this.#name}() argument '${name}' must be int, not ${typeName(value)}`);
  }

  /** Whether it counts as true. */
  flag(name: string, fallback = false): boolean {
    const value = this.#values.get(name);
    return value === undefined ? fallback : isTrue(value);
  }
}
