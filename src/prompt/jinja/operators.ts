/**
 * Arithmetic as Python has it: ints of any size, floor division, texts and lists that can be added and repeated.
 *
 * @module
 */
import type { BinaryOperator, CompareOperator } from "./ast.ts";
import { JinjaError } from "./errors.ts";
import { escapeHtml } from "./filters.ts";
import { formatPercent } from "./format.ts";
import { contains } from "./tests.ts";
import { compare, isEqual, Markup, plain, Tuple, typeName, Undefined, type Value } from "./values.ts";

/** Items or characters that a sum or a repetition may give. */
const ITEMS_MAX = 1_000_000;

/** Bits of an int: no chat needs 1,234 digits. */
const INT_BITS_MAX = 4096n;
const INT_MAX = 2n ** INT_BITS_MAX;

/** `left operator right`. @throws {JinjaError} If Python knows no such operation. */
export function calculate(operator: BinaryOperator, left: Value, right: Value): Value {
  if (operator === "%" && typeof left === "string") return formatPercent(left, right);
  for (const one of [left, right]) if (one instanceof Undefined) throw one.error();
  const a = toNumeric(left);
  const b = toNumeric(right);
  if (typeof a === "bigint" && typeof b === "bigint") return calculateInts(operator, a, b);
  if (a !== undefined && b !== undefined) return calculateFloats(operator, Number(a), Number(b));
  if (left instanceof Markup || right instanceof Markup) {
    if (operator !== "+") return calculate(operator, plain(left), plain(right));
    return new Markup(escaped(left) + escaped(right));
  }
  if (operator === "+") {
    if (typeof left === "string" && typeof right === "string") return left + right;
    if (Array.isArray(left) && Array.isArray(right)) return joined(left, right);
    if (left instanceof Tuple && right instanceof Tuple) return new Tuple(joined(left.items, right.items));
    if (typeof left === "string") {
      throw new JinjaError(`can only concatenate str (not "${typeName(right)}") to str`);
    }
  }
  if (operator === "*") {
    if (typeof b === "bigint") return repeat(left, Number(b)) ?? unsupported(operator, left, right);
    if (typeof a === "bigint") return repeat(right, Number(a)) ?? unsupported(operator, left, right);
  }
  return unsupported(operator, left, right);
}

/** `left operator right`, for what gives true or false. @throws {JinjaError} If the two can't be compared. */
export function compares(operator: CompareOperator, left: Value, right: Value): boolean {
  switch (operator) {
    case "==":
      return isEqual(left, right);
    case "!=":
      return !isEqual(left, right);
    case "<":
      return compare(left, right, operator) < 0;
    case "<=":
      return compare(left, right, operator) <= 0;
    case ">":
      return compare(left, right, operator) > 0;
    case ">=":
      return compare(left, right, operator) >= 0;
    case "in":
      return contains(right, left);
    case "not in":
      return !contains(right, left);
  }
}

/** `-value` or `+value`. @throws {JinjaError} If it is no number. */
export function withSign(sign: "-" | "+", value: Value): Value {
  const number = toNumeric(value);
  if (value instanceof Undefined) throw value.error();
  if (number === undefined) throw new JinjaError(`bad operand type for unary ${sign}: '${typeName(value)}'`);
  return sign === "-" ? -number : number;
}

/** A part of markup: what is plain text is escaped. @throws {JinjaError} If it is no text. */
function escaped(value: Value): string {
  if (value instanceof Markup) return value.text;
  if (typeof value === "string") return escapeHtml(value);
  throw new JinjaError(`can only concatenate str (not "${typeName(value)}") to Markup`);
}

function toNumeric(value: Value): bigint | number | undefined {
  if (typeof value === "boolean") return value ? 1n : 0n;
  return typeof value === "bigint" || typeof value === "number" ? value : undefined;
}

function joined(left: readonly Value[], right: readonly Value[]): Value[] {
  if (left.length + right.length > ITEMS_MAX) throw new JinjaError(`a list may have ${ITEMS_MAX} items at most`);
  return [...left, ...right];
}

function bounded(value: bigint): bigint {
  if (value > INT_MAX || value < -INT_MAX) throw new JinjaError("the number is too large");
  return value;
}

function calculateInts(operator: BinaryOperator, a: bigint, b: bigint): Value {
  switch (operator) {
    case "+":
      return bounded(a + b);
    case "-":
      return bounded(a - b);
    case "*":
      return bounded(a * b);
    case "/":
      if (b === 0n) throw new JinjaError("division by zero");
      return Number(a) / Number(b);
    case "//":
    case "%": {
      if (b === 0n) throw new JinjaError("integer division or modulo by zero");
      const remainder = ((a % b) + b) % b;
      return operator === "%" ? remainder : (a - remainder) / b;
    }
    case "**":
      if (b < 0n) return Number(a) ** Number(b);
      if (BigInt(a.toString(2).length) * b > INT_BITS_MAX) throw new JinjaError("the number is too large");
      return a ** b;
  }
}

function calculateFloats(operator: BinaryOperator, a: number, b: number): Value {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "**":
      return a ** b;
  }
  if (b === 0) throw new JinjaError("float division by zero");
  if (operator === "/") return a / b;
  const floor = Math.floor(a / b);
  return operator === "//" ? floor : a - floor * b;
}

function repeat(value: Value, count: number): Value | undefined {
  const times = Math.max(0, count);
  if (typeof value !== "string" && !Array.isArray(value)) return undefined;
  if (value.length * times > ITEMS_MAX) throw new JinjaError(`a repetition may give ${ITEMS_MAX} items at most`);
  return typeof value === "string" ? value.repeat(times) : Array.from({ length: times }, () => value).flat();
}

function unsupported(operator: BinaryOperator, left: Value, right: Value): never {
  throw new JinjaError(`unsupported operand type(s) for ${operator}: '${typeName(left)}' and '${typeName(right)}'`);
}
