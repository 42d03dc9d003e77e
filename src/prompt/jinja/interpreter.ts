/**
 * Runs a template: statements and values in, text out.
 *
 * Bounded: steps, depth of macros and length of the text, because templates come with checkpoints from anywhere. What
 * it knows is what it is given; nothing of the host can be reached.
 *
 * Source: Jinja 3.1.6 `compiler.py` and `runtime.py`, with the settings of transformers (sandbox, no autoescape).
 *
 * @module
 */
import { getAttribute, getItem, slice } from "./access.ts";
import type { Arguments, Expression, Filter, Parameter, Statement, Target } from "./ast.ts";
import { JinjaError } from "./errors.ts";
import { applyFilter } from "./filters.ts";
import { calculate, compares, withSign } from "./operators.ts";
import { Scope } from "./scope.ts";
import { runTest } from "./tests.ts";
import { toText } from "./text.ts";
import {
  Callable,
  Dict,
  HostObject,
  isEqual,
  isTrue,
  iterate,
  type Named,
  plain,
  toKey,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

/** What a run may cost. */
export interface RunLimits {
  /** Statements and expressions evaluated. */
  steps: number;
  /** UTF-16 units written. */
  characters: number;
}

/** Macros that may be inside each other. */
const MACRO_DEPTH_MAX = 100;

/** How a body ended. */
type Flow = "next" | "break" | "continue";

/** One run of one template. */
export class Interpreter {
  readonly #limits: RunLimits;
  #steps = 0;
  #macroDepth = 0;
  /** Where text goes: the innermost of the blocks that catch it. */
  #output: string[] = [];
  #written = 0;

  /** Starts with nothing spent. */
  constructor(limits: RunLimits) {
    this.#limits = limits;
  }

  /** The text of a template. @throws {JinjaError} If it fails, raises, or costs too much. */
  run(body: readonly Statement[], scope: Scope): string {
    return this.#capture(body, scope);
  }

  /** A body's text instead of its writing. */
  #capture(body: readonly Statement[], scope: Scope): string {
    const outer = this.#output;
    this.#output = [];
    try {
      this.#runBody(body, scope);
      return this.#output.join("");
    } finally {
      this.#output = outer;
    }
  }

  #runBody(body: readonly Statement[], scope: Scope): Flow {
    for (const statement of body) {
      const flow = this.#runStatement(statement, scope);
      if (flow !== "next") return flow;
    }
    return "next";
  }

  #step(): void {
    if (++this.#steps > this.#limits.steps) {
      throw new JinjaError(`The template takes more than ${this.#limits.steps} steps`);
    }
  }

  #write(text: string): void {
    this.#written += text.length;
    if (this.#written > this.#limits.characters) {
      throw new JinjaError(`The template writes more than ${this.#limits.characters} characters`);
    }
    this.#output.push(text);
  }

  #runStatement(statement: Statement, scope: Scope): Flow {
    this.#step();
    switch (statement.type) {
      case "text":
        this.#write(statement.text);
        return "next";
      case "print":
        this.#write(toText(this.#evaluate(statement.value, scope)));
        return "next";
      case "if": {
        const branch = statement.branches.find(({ test }) => isTrue(this.#evaluate(test, scope)));
        return this.#runBody(branch?.body ?? statement.otherwise, scope);
      }
      case "for":
        this.#runLoop(statement, scope);
        return "next";
      case "set":
        this.#assign(statement.target, this.#evaluate(statement.value, scope), scope);
        return "next";
      case "setBlock":
        this.#assign(statement.target, this.#filtered(statement, scope), scope);
        return "next";
      case "filterBlock":
        this.#write(toText(this.#filtered(statement, scope)));
        return "next";
      case "macro":
        scope.set(statement.name, this.#macro(statement.name, statement.parameters, statement.body, scope));
        return "next";
      case "callBlock":
        this.#runCallBlock(statement, scope);
        return "next";
      case "with": {
        const inner = new Scope(scope);
        for (const [target, value] of statement.values) this.#assign(target, this.#evaluate(value, scope), inner);
        return this.#runBody(statement.body, inner);
      }
      case "generation":
        return this.#runBody(statement.body, scope);
      case "break":
      case "continue":
        return statement.type;
    }
  }

  #filtered(statement: { filters: Filter[]; body: Statement[] }, scope: Scope): Value {
    let value: Value = this.#capture(statement.body, new Scope(scope));
    for (const { name, args } of statement.filters) {
      const { positional, named } = this.#arguments(args, scope);
      value = applyFilter(name, value, positional, named);
    }
    return value;
  }

  #runLoop(loop: Statement & { type: "for" }, scope: Scope): void {
    let items = [...iterate(this.#plain(loop.iterable, scope))];
    const { test } = loop;
    if (test !== undefined) {
      items = items.filter((item) => {
        const inner = new Scope(scope);
        this.#assign(loop.target, item, inner);
        return isTrue(this.#evaluate(test, inner));
      });
    }
    if (items.length === 0) {
      this.#runBody(loop.otherwise, new Scope(scope));
      return;
    }
    const state: LoopState = { items, index: 0, last: undefined };
    const variable = loopVariable(state);
    for (state.index = 0; state.index < items.length; state.index++) {
      this.#step();
      const inner = new Scope(scope);
      inner.set("loop", variable);
      this.#assign(loop.target, items[state.index]!, inner);
      if (this.#runBody(loop.body, inner) === "break") return;
    }
  }

  #assign(target: Target, value: Value, scope: Scope): void {
    if (target.type === "name") return scope.set(target.name, value);
    if (target.type === "namespace") return scope.setAttribute(target.name, target.attribute, value);
    if (value instanceof Undefined) throw value.error();
    const items = [...iterate(value)];
    if (items.length !== target.items.length) {
      const problem = items.length > target.items.length ? "too many" : "not enough";
      throw new JinjaError(`${problem} values to unpack (expected ${target.items.length}, got ${items.length})`);
    }
    target.items.forEach((one, i) => this.#assign(one, items[i]!, scope));
  }

  /** A macro, or the body of a call block: a function that gives its text. */
  #macro(name: string, parameters: readonly Parameter[], body: readonly Statement[], scope: Scope): Callable {
    return new Callable(name, (args, named) => {
      const others = new Map(named);
      const caller = others.get("caller");
      others.delete("caller");
      const inner = new Scope(scope);
      parameters.forEach((parameter, i) => {
        const byName = others.get(parameter.name);
        others.delete(parameter.name);
        const given = i < args.length ? args[i] : byName;
        inner.set(parameter.name, given === undefined ? this.#fallback(parameter, inner) : given);
      });
      inner.set("varargs", new Tuple(args.slice(parameters.length)));
      inner.set("kwargs", new Dict(new Map(others)));
      if (caller !== undefined) inner.set("caller", caller);
      if (++this.#macroDepth > MACRO_DEPTH_MAX) throw new JinjaError(`Macros nest more than ${MACRO_DEPTH_MAX} deep`);
      try {
        return this.#capture(body, inner);
      } finally {
        this.#macroDepth--;
      }
    });
  }

  #fallback(parameter: Parameter, scope: Scope): Value {
    if (parameter.fallback !== undefined) return this.#evaluate(parameter.fallback, scope);
    return new Undefined(`parameter '${parameter.name}' was not provided`);
  }

  #runCallBlock(block: Statement & { type: "callBlock" }, scope: Scope): void {
    const caller = this.#macro("caller", block.parameters, block.body, scope);
    const { positional, named } = this.#arguments(block.call.args, scope);
    const callee = this.#evaluate(block.call.callee, scope);
    this.#write(toText(call(callee, positional, new Map([...named, ["caller", caller]]))));
  }

  #arguments(args: Arguments, scope: Scope): { positional: Value[]; named: Named } {
    const positional = args.positional.map((one) => this.#plain(one, scope));
    if (args.rest !== undefined) positional.push(...iterate(this.#plain(args.rest, scope)));
    const named = new Map(args.named.map(([name, one]): [string, Value] => [name, this.#plain(one, scope)]));
    if (args.namedRest !== undefined) {
      const more = this.#evaluate(args.namedRest, scope);
      if (!(more instanceof Dict)) throw new JinjaError("argument after ** must be a mapping");
      for (const [key, value] of more.entries) named.set(String(key), value);
    }
    return { positional, named };
  }

  /** A value that is more than printed or added to. */
  #plain(expression: Expression, scope: Scope): Value {
    return plain(this.#evaluate(expression, scope));
  }

  #evaluate(expression: Expression, scope: Scope): Value {
    this.#step();
    switch (expression.type) {
      case "const":
        return expression.value;
      case "name":
        return scope.get(expression.name);
      case "list":
        return expression.items.map((item) => this.#plain(item, scope));
      case "tuple":
        return new Tuple(expression.items.map((item) => this.#plain(item, scope)));
      case "dict":
        return new Dict(
          new Map(expression.items.map(([key, value]) => [
            toKey(this.#plain(key, scope)),
            this.#plain(value, scope),
          ])),
        );
      case "attribute":
        return getAttribute(this.#plain(expression.object, scope), expression.name);
      case "item":
        return getItem(this.#plain(expression.object, scope), this.#plain(expression.key, scope));
      case "slice": {
        const part = (one: Expression | undefined): Value => one === undefined ? null : this.#evaluate(one, scope);
        const bounds = [part(expression.start), part(expression.stop), part(expression.step)] as const;
        return slice(this.#plain(expression.object, scope), bounds);
      }
      case "call": {
        const callee = this.#evaluate(expression.callee, scope);
        const { positional, named } = this.#arguments(expression.args, scope);
        return this.#bounded(call(callee, positional, named));
      }
      default:
        return this.#bounded(this.#evaluateOperation(expression, scope));
    }
  }

  #bounded(value: Value): Value {
    if (typeof value === "string" && value.length > this.#limits.characters) {
      throw new JinjaError(`A text has more than ${this.#limits.characters} characters`);
    }
    return value;
  }

  #evaluateOperation(expression: Operation, scope: Scope): Value {
    switch (expression.type) {
      case "filter": {
        const value = this.#plain(expression.value, scope);
        const { positional, named } = this.#arguments(expression.args, scope);
        return applyFilter(expression.name, value, positional, named);
      }
      case "test": {
        const value = this.#plain(expression.value, scope);
        const { positional, named } = this.#arguments(expression.args, scope);
        return runTest(expression.name, value, positional, named);
      }
      case "unary": {
        const value = this.#evaluate(expression.value, scope);
        return expression.operator === "not" ? !isTrue(value) : withSign(expression.operator, value);
      }
      case "binary": {
        const left = this.#evaluate(expression.left, scope);
        return calculate(expression.operator, left, this.#evaluate(expression.right, scope));
      }
      case "logical": {
        const left = this.#evaluate(expression.left, scope);
        const decided = isTrue(left) === (expression.operator === "or");
        return decided ? left : this.#evaluate(expression.right, scope);
      }
      case "concat":
        return expression.items.map((item) => toText(this.#evaluate(item, scope))).join("");
      case "compare":
        return this.#compareChain(expression, scope);
      case "condition":
        if (isTrue(this.#evaluate(expression.test, scope))) return this.#evaluate(expression.then, scope);
        if (expression.otherwise !== undefined) return this.#evaluate(expression.otherwise, scope);
        return new Undefined("the inline if-expression evaluated to false and no else section was defined.");
    }
  }

  #compareChain(expression: Expression & { type: "compare" }, scope: Scope): boolean {
    let left = this.#plain(expression.first, scope);
    for (const { operator, value } of expression.rest) {
      const right = this.#plain(value, scope);
      if (!compares(operator, left, right)) return false;
      left = right;
    }
    return true;
  }
}

type Operation = Extract<
  Expression,
  { type: "filter" | "test" | "unary" | "binary" | "logical" | "concat" | "compare" | "condition" }
>;

function call(callee: Value, args: readonly Value[], named: Named): Value {
  if (callee instanceof Undefined) throw callee.error();
  if (!(callee instanceof Callable)) throw new JinjaError(`'${typeName(callee)}' object is not callable`);
  return callee.call(args, named);
}

interface LoopState {
  items: readonly Value[];
  index: number;
  /** What `changed` was last asked about. */
  last: Value[] | undefined;
}

/** `loop` inside a loop. */
function loopVariable(state: LoopState): HostObject {
  const neighbour = (offset: number, word: string): Value => {
    const item = state.items[state.index + offset];
    return item === undefined ? new Undefined(`there is no ${word} item`) : item;
  };
  const count = state.items.length;
  const attributes: Readonly<Record<string, () => Value>> = {
    index: () => BigInt(state.index + 1),
    index0: () => BigInt(state.index),
    revindex: () => BigInt(count - state.index),
    revindex0: () => BigInt(count - state.index - 1),
    first: () => state.index === 0,
    last: () => state.index === count - 1,
    length: () => BigInt(count),
    depth: () => 1n,
    depth0: () => 0n,
    previtem: () => neighbour(-1, "previous"),
    nextitem: () => neighbour(1, "next"),
    cycle: () =>
      new Callable("cycle", (args) => {
        if (args.length === 0) throw new JinjaError("no items for cycling given");
        return args[state.index % args.length]!;
      }),
    changed: () =>
      new Callable("changed", (args) => {
        const same = state.last !== undefined && isEqual([...args], state.last);
        state.last = [...args];
        return !same;
      }),
  };
  return new HostObject("LoopContext", (name) => Object.hasOwn(attributes, name) ? attributes[name]?.() : undefined);
}
