/**
 * What must be known of a grammar before a machine can follow it: which rules may be empty, how short they are, and
 * whether one begins with itself.
 *
 * @module
 */
import type { Expr, Grammar } from "../grammar/expr.ts";

/** Rules that fit the empty text. */
export function findNullable(grammar: Grammar): Set<string> {
  const nullable = new Set<string>();
  // Rules are defined before what they go on with, so from the end one round finds nearly all.
  const rules = [...grammar.rules].reverse();
  for (let grew = true; grew;) {
    grew = false;
    for (const [name, expr] of rules) {
      if (nullable.has(name) || !isNullable(expr, nullable)) continue;
      nullable.add(name);
      grew = true;
    }
  }
  return nullable;
}

/** Whether an expression fits the empty text, as far as `nullable` knows of its rules. */
export function isNullable(expr: Expr, nullable: ReadonlySet<string>): boolean {
  switch (expr.kind) {
    case "text":
      return expr.text === "";
    case "token":
    case "class":
      return false;
    case "sequence":
      return expr.items.every((item) => isNullable(item, nullable));
    case "choice":
      return expr.items.some((item) => isNullable(item, nullable));
    case "repeat":
      return expr.min === 0 || isNullable(expr.item, nullable);
    case "rule":
      return nullable.has(expr.name);
  }
}

/** Lengths over this one are told apart no more: no token is longer. */
const LENGTH_MAX = 128;
/** Rounds over the rules: each makes the bounds larger, none makes them wrong. */
const LENGTH_ROUNDS = 3;

/** Symbols that each rule needs at least; may be less than it really needs. */
export function findShortest(grammar: Grammar): Map<string, number> {
  const shortest = new Map<string, number>();
  const rules = [...grammar.rules].reverse();
  for (let round = 0; round < LENGTH_ROUNDS; round++) {
    for (const [name, expr] of rules) shortest.set(name, shortestOf(expr, shortest));
  }
  return shortest;
}

/** Symbols that an expression needs at least, as far as `shortest` knows of its rules; LENGTH_MAX stands for more. */
export function shortestOf(expr: Expr, shortest: ReadonlyMap<string, number>): number {
  switch (expr.kind) {
    case "text":
      // A token of that spelling is none of these, a character one symbol at least.
      return Math.min(LENGTH_MAX, expr.text.length);
    case "token":
    case "class":
      return 1;
    case "sequence":
      return Math.min(LENGTH_MAX, expr.items.reduce((sum, item) => sum + shortestOf(item, shortest), 0));
    case "choice":
      return Math.min(LENGTH_MAX, ...expr.items.map((item) => shortestOf(item, shortest)));
    case "repeat":
      return Math.min(LENGTH_MAX, expr.min * shortestOf(expr.item, shortest));
    case "rule":
      return shortest.get(expr.name) ?? 0;
  }
}

/** A rule that may begin with itself, directly or through others. */
export function findLeftRecursion(grammar: Grammar): string | undefined {
  const nullable = findNullable(grammar);
  const done = new Set<string>();
  for (const root of grammar.rules.keys()) {
    // Depth first without recursion: rules may be as many as a schema has parts.
    const path: { name: string; left: string[] }[] = [];
    const open = new Set<string>();
    const enter = (name: string): void => {
      const expr = grammar.rules.get(name);
      open.add(name);
      path.push({ name, left: expr === undefined ? [] : [...beginnings(expr, nullable)] });
    };
    if (!done.has(root)) enter(root);
    for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
      const next = at.left.pop();
      if (next === undefined) {
        done.add(at.name);
        open.delete(at.name);
        path.pop();
      } else if (open.has(next)) return next;
      else if (!done.has(next)) enter(next);
    }
  }
  return undefined;
}

/** Rules that may stand first. */
function beginnings(expr: Expr, nullable: ReadonlySet<string>, found = new Set<string>()): Set<string> {
  switch (expr.kind) {
    case "rule":
      found.add(expr.name);
      break;
    case "choice":
      for (const item of expr.items) beginnings(item, nullable, found);
      break;
    case "repeat":
      beginnings(expr.item, nullable, found);
      break;
    case "sequence":
      for (const item of expr.items) {
        beginnings(item, nullable, found);
        if (!isNullable(item, nullable)) break;
      }
      break;
  }
  return found;
}
