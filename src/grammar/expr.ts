/**
 * Grammars as data: what an answer may be, in code points. Everything that binds an answer (a JSON Schema, a pattern,
 * EBNF, Lark, the calls of a dialect) becomes one of these, and src/guide tells from it which tokens may come next.
 *
 * @module
 */

/** An inclusive range of code points; surrogates are none. */
export type CodePointRange = readonly [first: number, last: number];

/** What may stand at a place. */
export type Expr =
  /** Exactly this text. */
  | { readonly kind: "text"; readonly text: string }
  /** A token that a model has beside its text, by its spelling; a model without it spells it in text. */
  | { readonly kind: "token"; readonly spelling: string }
  /** One code point of these ranges, which are sorted and apart. */
  | { readonly kind: "class"; readonly ranges: readonly CodePointRange[] }
  /** All, in order. */
  | { readonly kind: "sequence"; readonly items: readonly Expr[] }
  /** One of them; none: nothing fits. */
  | { readonly kind: "choice"; readonly items: readonly Expr[] }
  /** `item` from `min` to `max` times; `max` null: without end. */
  | { readonly kind: "repeat"; readonly item: Expr; readonly min: number; readonly max: number | null }
  /** What a rule says. */
  | { readonly kind: "rule"; readonly name: string };

/** Rules and the one to begin with. */
export interface Grammar {
  /** By name. Every `rule` expression names one of them. */
  readonly rules: ReadonlyMap<string, Expr>;
  /** Name of the first. */
  readonly root: string;
}

/** Fits nothing. */
export const NEVER: Expr = { kind: "choice", items: [] };
/** Fits the empty text. */
export const EMPTY: Expr = { kind: "sequence", items: [] };

/** Exactly a text. */
export function text(value: string): Expr {
  return value === "" ? EMPTY : { kind: "text", text: value };
}

/** A token beside the text. */
export function token(spelling: string): Expr {
  return { kind: "token", spelling };
}

/** What a rule says. */
export function rule(name: string): Expr {
  return { kind: "rule", name };
}

/** All in order; strings are texts. Nothing fits if one of them fits nothing. */
export function sequence(...items: readonly (Expr | string)[]): Expr {
  const parts = items.map((item) => typeof item === "string" ? text(item) : item)
    .flatMap((item) => item.kind === "sequence" ? item.items : [item]);
  if (parts.some(isNever)) return NEVER;
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { kind: "sequence", items: parts };
}

/** One of them; strings are texts. */
export function choice(...items: readonly (Expr | string)[]): Expr {
  const parts = items.map((item) => typeof item === "string" ? text(item) : item)
    .flatMap((item) => item.kind === "choice" ? item.items : [item]);
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { kind: "choice", items: parts };
}

/** From `min` to `max` times; `max` null: without end. */
export function repeat(item: Expr, min: number, max: number | null): Expr {
  if (max === 0) return EMPTY;
  if (isNever(item)) return min === 0 ? EMPTY : NEVER;
  if (min === 1 && max === 1) return item;
  return { kind: "repeat", item, min, max };
}

/** It or nothing. */
export function optional(item: Expr): Expr {
  return repeat(item, 0, 1);
}

/** Whether nothing fits, as far as the expression itself shows. */
export function isNever(expr: Expr): boolean {
  return expr.kind === "choice" && expr.items.length === 0;
}
