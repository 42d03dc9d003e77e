/**
 * Names of a template while it runs.
 *
 * As in Jinja a loop's body, a macro, a `with` and a call block have names of their own, an `if` has not: so a `set`
 * inside a loop is gone after the turn, and `namespace()` is there for what should stay.
 *
 * @module
 */
import { JinjaError } from "./errors.ts";
import { Namespace, Undefined, type Value } from "./values.ts";

/** Names, and those around them. */
export class Scope {
  readonly #values = new Map<string, Value>();
  readonly #outer: Scope | undefined;

  /** Names inside `outer`. */
  constructor(outer?: Scope) {
    this.#outer = outer;
  }

  /** A name's value. */
  get(name: string): Value {
    const value = this.#values.get(name);
    if (value !== undefined) return value;
    return this.#outer === undefined ? new Undefined(`'${name}' is undefined`) : this.#outer.get(name);
  }

  /** Gives a name a value, here. */
  set(name: string, value: Value): void {
    this.#values.set(name, value);
  }

  /** Changes an attribute. @throws {JinjaError} If the name is no namespace. */
  setAttribute(name: string, attribute: string, value: Value): void {
    const namespace = this.get(name);
    if (!(namespace instanceof Namespace)) throw new JinjaError("cannot assign attribute on non-namespace object");
    if (attribute.startsWith("_")) {
      throw new JinjaError("Chat templates cannot store underscore-prefixed attributes on a namespace");
    }
    namespace.attributes.set(attribute, value);
  }
}
