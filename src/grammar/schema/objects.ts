/**
 * Objects of a shape: declared properties in their order, optional ones left out or not, then others.
 *
 * A name that is declared never comes as another one: readers take the last of two, which would be bound by nothing.
 *
 * @module
 */
import { codePointsOf, complement, oneOf, toCodePoints, unite } from "../code_points.ts";
import { choice, EMPTY, type Expr, isNever, NEVER, optional, repeat, rule, sequence, text } from "../expr.ts";
import { COLON, COMMA, inString, JSON_RULES, objectOf, quoted, repeatWithCommas } from "../json.ts";
import { parseRegex } from "../regex_parser.ts";
import { expand } from "./expand.ts";
import type { SchemaContext } from "./read.ts";
import type { Parts, Shape } from "./shape.ts";
import { stringContent } from "./strings.ts";

/** What makes rules of parts of a schema. */
export interface SchemaRules extends SchemaContext {
  /** What fits parts of a schema. */
  valueOf(parts: Parts): Expr;
  /** What fits a shape. */
  shapeOf(shape: Shape): Expr;
  /** A rule of its own. */
  define(expr: Expr): Expr;
}

/** A declared property. */
interface Property {
  pair: Expr;
  required: boolean;
}

/** What may be beside the declared ones; undefined: nothing. */
type OtherPair = Expr | undefined;

/** An object with its braces. */
export function objectExpr(shape: Shape, rules: SchemaRules): Expr {
  const { objects } = shape;
  const names = [...new Set([...objects.properties.keys(), ...objects.required])];
  const keys = findKeyNames(shape, rules);
  if (keys?.kind === "listed") {
    return objectOf(
      pairsOf(shape, [...new Set([...names, ...keys.names])].filter((name) => keys.names.has(name)), rules),
    );
  }
  if (isPlainObject(shape)) return rule(JSON_RULES.object);
  return objectOf(pairsOf(shape, names, rules, keys?.content));
}

function isPlainObject({ objects: { properties, required, additional, patterns, names, min, max } }: Shape): boolean {
  return properties.size + required.size + additional.length + patterns.length + names.length + min === 0 &&
    max === null;
}

/** Names that `propertyNames` allows: a list, or a string's content. */
function findKeyNames(
  { objects, path }: Shape,
  rules: SchemaRules,
): { kind: "listed"; names: Set<string> } | { kind: "content"; content: Expr } | undefined {
  if (objects.names.length === 0) return undefined;
  const shapes = expand(objects.names, rules).filter(({ types }) => types.has("string"));
  if (shapes.every(({ values }) => values !== undefined)) {
    const names = shapes.flatMap(({ values }) => values ?? []).filter((value) => typeof value === "string");
    const missing = [...objects.required].some((name) => !names.includes(name));
    return { kind: "listed", names: new Set(missing ? [] : names) };
  }
  if (objects.properties.size + objects.required.size + objects.patterns.length > 0) {
    rules.refuse("propertyNames", path, "beside `properties` it can only list names");
    return undefined;
  }
  return { kind: "content", content: choice(...shapes.map((shape) => stringContent(shape, rules))) };
}

function pairsOf(shape: Shape, names: readonly string[], rules: SchemaRules, keys?: Expr): Expr {
  const { objects } = shape;
  const properties = names.map((name): Property => ({
    pair: sequence(JSON.stringify(name), COLON, rules.valueOf(partsOf(shape, name, rules))),
    required: objects.required.has(name),
  }));
  const isListed = objects.names.length > 0 && keys === undefined;
  const other = isListed ? undefined : otherPair(shape, names, rules, keys);
  const needed = objects.required.size;
  const declared = properties.length;
  const { min, max } = objects;
  if (declared === 0) {
    // Two names may be equal, so how many there are is sure up to one.
    if (min > 1) rules.refuse("minProperties", shape.path, "more than one can't be counted where any name may come");
    return other === undefined ? (min > 0 ? NEVER : EMPTY) : repeatWithCommas(other, Math.min(min, 1), max);
  }
  if (max !== null && (other !== undefined || declared > max)) {
    if (max < needed) return NEVER;
    rules.refuse("maxProperties", shape.path, "it can't be counted beside `properties`");
  }
  if (min > needed && min > 1) {
    if (other === undefined && min > declared) return NEVER;
    rules.refuse("minProperties", shape.path, "more than one can't be counted; list them in `required`");
  }
  return chain(properties, other, min > needed, rules);
}

/** All that a schema says of a name. */
function partsOf({ objects }: Shape, name: string, rules: SchemaRules): Parts {
  const matched = objects.patterns.filter(({ pattern }) => rules.fits(pattern, name));
  const own = objects.properties.get(name);
  return [...own ?? (matched.length > 0 ? [] : objects.additional), ...matched.flatMap(({ parts }) => parts)];
}

/** One rule for each place behind a pair: all that may follow there. */
function chain(properties: readonly Property[], other: OtherPair, someNeeded: boolean, rules: SchemaRules): Expr {
  let tail: Expr = other === undefined ? EMPTY : rules.define(repeat(sequence(COMMA, other), 0, null));
  let canBeEmpty = !someNeeded;
  let starts: Expr[] = other === undefined ? [] : [sequence(other, tail)];
  for (const { pair, required } of properties.toReversed()) {
    const whole = rules.define(pair);
    const first = sequence(whole, tail);
    starts = required ? [first] : [first, ...starts];
    if (required) canBeEmpty = false;
    const next = sequence(COMMA, whole);
    tail = rules.define(sequence(required ? next : optional(next), tail));
  }
  return choice(...(canBeEmpty ? [EMPTY] : []), ...starts);
}

/** A pair whose name is not declared. */
function otherPair(shape: Shape, names: readonly string[], rules: SchemaRules, keys: Expr | undefined): OtherPair {
  const { objects } = shape;
  const pairs: Expr[] = [];
  const isOpen = expand(objects.additional, rules).length > 0;
  if (isOpen && objects.patterns.length > 0) {
    rules.refuse("patternProperties", shape.path, "it needs `additionalProperties`: false");
  } else if (isOpen) {
    const key = keys === undefined ? otherName(names) : quoted(keys);
    pairs.push(sequence(key, COLON, rules.valueOf(objects.additional)));
  }
  const [first, second] = objects.patterns;
  if (second !== undefined) rules.refuse("patternProperties", shape.path, "one pattern only can be followed");
  if (first !== undefined) {
    const content = parseRegex(first.pattern, false);
    if (names.some((name) => rules.fits(first.pattern, name))) {
      rules.refuse("patternProperties", shape.path, "the pattern also fits a name of `properties`");
    }
    pairs.push(sequence(quoted(inString(content)), COLON, rules.valueOf(first.parts)));
  }
  const pair = choice(...pairs);
  return isNever(pair) ? undefined : rules.define(pair);
}

/** Any name but some, in quotes; without escapes, so that none is spelled in two ways. */
function otherName(names: readonly string[]): Expr {
  if (names.length === 0) return rule(JSON_RULES.string);
  const reserved = names.filter((name) => JSON.stringify(name) === `"${name}"`);
  return quoted(notOf(reserved.map((name) => [...name])));
}

const PLAIN_CHARS = complement(unite(toCodePoints([[0, 0x1f], [0x7f, 0x7f]]), codePointsOf('"\\')));

/** Texts of plain characters other than some. */
function notOf(texts: readonly (readonly string[])[]): Expr {
  const heads = new Set(texts.flatMap(([head]) => head ?? []));
  const others = repeat(oneOf(PLAIN_CHARS), 0, null);
  const elsewhere = oneOf(complement(unite(complement(PLAIN_CHARS), codePointsOf([...heads].join("")))));
  return choice(
    ...(texts.some((chars) => chars.length === 0) ? [] : [EMPTY]),
    sequence(elsewhere, others),
    ...[...heads].map((head) =>
      sequence(text(head), notOf(texts.filter(([first]) => first === head).map((chars) => chars.slice(1))))
    ),
  );
}
