/**
 * JSON as grammars: white space, strings, numbers, any value. What is written here any reader of JSON takes.
 *
 * A choice of ours keeps answers readable and finite: white space is at most one blank, or one line break and an
 * indent; numbers have at most 15 digits before the point, which JavaScript keeps exactly.
 *
 * @module
 */
import {
  type CodePoints,
  codePointsOf,
  complement,
  intersect,
  oneOf,
  subtract,
  toCodePoints,
  unite,
} from "./code_points.ts";
import { choice, EMPTY, type Expr, type Grammar, optional, repeat, rule, sequence, text } from "./expr.ts";
import { FRACTION_DIGITS_MAX, INDENT_MAX, INTEGER_DIGITS_MAX } from "./limits.ts";

/** Characters that stand in a string as they are. U+007F may, but no model should be led to it. */
const PLAIN: CodePoints = complement(unite(toCodePoints([[0, 0x1f], [0x7f, 0x7f]]), codePointsOf('"\\')));
const DIGITS: CodePoints = [[0x30, 0x39]];
const HEX = unite(DIGITS, [[0x41, 0x46], [0x61, 0x66]]);
/** Characters that have an escape of one letter. */
const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  "\b": "b",
  "\f": "f",
  "\n": "n",
  "\r": "r",
  "\t": "t",
};

/** A decimal digit. */
export const DIGIT: Expr = oneOf(DIGITS);
/** A digit that is not zero. */
export const NONZERO: Expr = oneOf([[0x31, 0x39]]);

/** Names of the shared rules, apart from those that are made of schemas. */
export const JSON_RULES = {
  space: "space",
  char: "char",
  string: "string",
  integer: "integer",
  number: "number",
  object: "object",
  array: "array",
  value: "value",
} as const;

/** White space between two signs. */
export const SPACE: Expr = rule(JSON_RULES.space);
/** One character of a string. */
export const CHAR: Expr = rule(JSON_RULES.char);

const FRACTION = optional(sequence(".", repeat(DIGIT, 1, FRACTION_DIGITS_MAX)));
const EXPONENT = optional(
  sequence(oneOf(codePointsOf("eE")), optional(oneOf(codePointsOf("+-"))), repeat(DIGIT, 1, 2)),
);
const MAGNITUDE = choice("0", sequence(NONZERO, repeat(DIGIT, 0, INTEGER_DIGITS_MAX - 1)));

/** `\uXXXX` of a character outside of the surrogates, so that an escape is one character whoever counts. */
const HEX_ESCAPE = choice(
  sequence(oneOf(subtract(HEX, codePointsOf("dD"))), repeat(oneOf(HEX), 3, 3)),
  sequence(oneOf(codePointsOf("dD")), oneOf(codePointsOf("01234567")), repeat(oneOf(HEX), 2, 2)),
);

/** The shared rules; every grammar with JSON in it has them. */
export function jsonRules(): [name: string, expr: Expr][] {
  const { space, char, string, integer, number, object, array, value } = JSON_RULES;
  return [
    [space, optional(choice(" ", sequence("\n", repeat(oneOf(codePointsOf(" \t")), 0, INDENT_MAX))))],
    [char, choice(oneOf(PLAIN), sequence("\\", choice(oneOf(codePointsOf('"\\/bfnrt')), sequence("u", HEX_ESCAPE))))],
    [string, quoted(repeat(CHAR, 0, null))],
    [integer, sequence(optional(text("-")), MAGNITUDE)],
    [number, sequence(rule(integer), FRACTION, EXPONENT)],
    [object, objectOf(repeatWithCommas(sequence(rule(string), COLON, rule(value)), 0, null))],
    [array, arrayOf(repeatWithCommas(rule(value), 0, null))],
    [value, choice(rule(string), rule(number), "true", "false", "null", rule(object), rule(array))],
  ];
}

/** Between a key and its value. */
export const COLON: Expr = sequence(":", SPACE);
/** Between two values. */
export const COMMA: Expr = sequence(",", SPACE);

/** Between quotes. */
export function quoted(content: Expr): Expr {
  return sequence('"', content, '"');
}

/** Between braces. */
export function objectOf(content: Expr): Expr {
  return sequence("{", SPACE, content, SPACE, "}");
}

/** Between brackets. */
export function arrayOf(content: Expr): Expr {
  return sequence("[", SPACE, content, SPACE, "]");
}

/** `item` from `min` to `max` times with commas between; `max` null: without end. */
export function repeatWithCommas(item: Expr, min: number, max: number | null): Expr {
  if (max === 0) return EMPTY;
  const more = repeat(sequence(COMMA, item), Math.max(0, min - 1), max === null ? null : max - 1);
  const some = sequence(item, more);
  return min === 0 ? optional(some) : some;
}

/** A value as JSON, with the white space that a model may put between its signs. @param path For errors. */
export function valueOf(value: unknown): Expr {
  if (Array.isArray(value)) {
    return arrayOf(sequence(...value.flatMap((item, index) => [index === 0 ? EMPTY : COMMA, valueOf(item)])));
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    return objectOf(sequence(...entries.flatMap(([key, item], index) => [
      index === 0 ? EMPTY : COMMA,
      text(JSON.stringify(key)),
      COLON,
      valueOf(item),
    ])));
  }
  return text(JSON.stringify(value));
}

/** A grammar whose texts stand between the quotes of a JSON string. */
export function inStrings({ rules, root }: Grammar): Grammar {
  return { rules: new Map([...rules].map(([name, expr]) => [name, inString(expr)])), root };
}

/** A text as it stands between the quotes of a JSON string; every character has one spelling or a short escape. */
export function inString(expr: Expr): Expr {
  switch (expr.kind) {
    case "text":
      return sequence(...[...expr.text].map((char) => charsInString(codePointsOf(char))));
    case "class":
      return charsInString(expr.ranges);
    case "sequence":
      return sequence(...expr.items.map(inString));
    case "choice":
      return choice(...expr.items.map(inString));
    case "repeat":
      return repeat(inString(expr.item), expr.min, expr.max);
    case "rule":
    case "token":
      return expr;
  }
}

function charsInString(set: CodePoints): Expr {
  const escaped = subtract(set, PLAIN);
  const spellings: Expr[] = [];
  const plain = intersect(set, PLAIN);
  if (plain.length > 0) spellings.push(oneOf(plain));
  for (const [first, last] of escaped) {
    for (let point = first; point <= last; point++) {
      const char = String.fromCodePoint(point);
      const short = SHORT_ESCAPES[char];
      spellings.push(text(short === undefined ? `\\u${point.toString(16).padStart(4, "0")}` : `\\${short}`));
    }
  }
  return choice(...spellings);
}
