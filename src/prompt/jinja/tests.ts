/**
 * Tests, the words after `is`.
 *
 * Source: Jinja 3.1.6 `tests.py`.
 *
 * @module
 */
import { Bound } from "./arguments.ts";
import { JinjaError } from "./errors.ts";
import {
  Callable,
  compare,
  Dict,
  HostObject,
  isEqual,
  iterate,
  Lazy,
  type Named,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

/** Whether a test holds. @throws {JinjaError} If there is none of that name, or it can't be asked. */
export function runTest(name: string, value: Value, args: readonly Value[], named: Named): boolean {
  const test = Object.hasOwn(TESTS, name) ? TESTS[name] : undefined;
  if (test === undefined) throw new JinjaError(`No test named '${name}'.`);
  const [parameters, holds] = test;
  return holds(value, new Bound(name, parameters, args, named));
}

/** Python's `in`. @throws {JinjaError} If nothing can be in there. */
export function contains(container: Value, value: Value): boolean {
  if (typeof container === "string") {
    if (typeof value === "string") return container.includes(value);
    if (value instanceof Undefined) throw value.error();
    throw new JinjaError(`'in <string>' requires string as left operand, not ${typeName(value)}`);
  }
  if (container instanceof Dict) {
    return value instanceof Undefined ? false : container.get(value) !== undefined;
  }
  for (const item of iterable(container)) if (isEqual(item, value)) return true;
  return false;
}

function iterable(container: Value): Iterable<Value> {
  if (isIterable(container)) return iterate(container);
  throw new JinjaError(`argument of type '${typeName(container)}' is not iterable`);
}

function isIterable(value: Value): boolean {
  return typeof value === "string" || Array.isArray(value) || value instanceof Tuple || value instanceof Dict ||
    value instanceof Lazy || value instanceof Undefined || (value instanceof HostObject && value.items !== undefined);
}

function isSequence(value: Value): boolean {
  return isIterable(value) && !(value instanceof Lazy) && !(value instanceof HostObject);
}

/** A whole number; true and false are 1 and 0. */
function integer(value: Value): bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "boolean") return value ? 1n : 0n;
  throw new JinjaError(`unsupported operand type for %: '${typeName(value)}'`);
}

type Test = readonly [parameters: readonly string[], holds: (value: Value, args: Bound) => boolean];

const OTHER = ["other"];
const equal: Test = [OTHER, (value, args) => isEqual(value, args.require("other"))];
const different: Test = [OTHER, (value, args) => !isEqual(value, args.require("other"))];
const ordered = (operator: string, holds: (order: number) => boolean): Test => [
  OTHER,
  (value, args) => holds(compare(value, args.require("other"), operator)),
];
const less = ordered("<", (order) => order < 0);
const atMost = ordered("<=", (order) => order <= 0);
const greater = ordered(">", (order) => order > 0);
const atLeast = ordered(">=", (order) => order >= 0);

const TESTS: Readonly<Record<string, Test>> = {
  "!=": different,
  "<": less,
  "<=": atMost,
  "==": equal,
  ">": greater,
  ">=": atLeast,
  boolean: [[], (value) => typeof value === "boolean"],
  callable: [[], (value) => value instanceof Callable],
  defined: [[], (value) => !(value instanceof Undefined)],
  divisibleby: [["num"], (value, args) => {
    const divisor = integer(args.require("num"));
    if (divisor === 0n) throw new JinjaError("integer modulo by zero");
    return integer(value) % divisor === 0n;
  }],
  eq: equal,
  equalto: equal,
  escaped: [[], () => false],
  even: [[], (value) => integer(value) % 2n === 0n],
  false: [[], (value) => value === false],
  float: [[], (value) => typeof value === "number"],
  ge: atLeast,
  greaterthan: greater,
  gt: greater,
  in: [["seq"], (value, args) => contains(args.require("seq"), value)],
  integer: [[], (value) => typeof value === "bigint"],
  iterable: [[], isIterable],
  le: atMost,
  lessthan: less,
  lower: [[], (value) => isCased(value, /\p{Ll}/u, /[\p{Lu}\p{Lt}]/u)],
  lt: less,
  mapping: [[], (value) => value instanceof Dict],
  ne: different,
  none: [[], (value) => value === null],
  number: [[], (value) => ["bigint", "number", "boolean"].includes(typeof value)],
  odd: [[], (value) => integer(value) % 2n !== 0n],
  sameas: [OTHER, (value, args) => value === args.require("other")],
  sequence: [[], isSequence],
  string: [[], (value) => typeof value === "string"],
  true: [[], (value) => value === true],
  undefined: [[], (value) => value instanceof Undefined],
  upper: [[], (value) => isCased(value, /\p{Lu}/u, /[\p{Ll}\p{Lt}]/u)],
};

function isCased(value: Value, some: RegExp, none: RegExp): boolean {
  return typeof value === "string" && some.test(value) && !none.test(value);
}
