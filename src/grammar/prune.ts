/**
 * Takes away what can never be written: choices that need a value which no text is, such as an object that must hold
 * itself.
 *
 * @module
 */
import { choice, type Expr, type Grammar, isNever, NEVER, repeat, sequence } from "./expr.ts";

/** The same texts without dead ends; undefined: there is no text at all. */
export function prune(grammar: Grammar): Grammar | undefined {
  const alive = findAlive(grammar);
  if (!alive.has(grammar.root)) return undefined;
  const rules = new Map<string, Expr>();
  for (const name of findReached(grammar, alive)) {
    const expr = grammar.rules.get(name);
    if (expr !== undefined) rules.set(name, withoutDead(expr, alive));
  }
  return { rules, root: grammar.root };
}

/** Rules that some text fits. */
function findAlive({ rules }: Grammar): Set<string> {
  const alive = new Set<string>();
  for (let grew = true; grew;) {
    grew = false;
    for (const [name, expr] of rules) {
      if (alive.has(name) || !isAlive(expr, alive)) continue;
      alive.add(name);
      grew = true;
    }
  }
  return alive;
}

function isAlive(expr: Expr, alive: ReadonlySet<string>): boolean {
  switch (expr.kind) {
    case "text":
    case "token":
      return true;
    case "class":
      return expr.ranges.length > 0;
    case "sequence":
      return expr.items.every((item) => isAlive(item, alive));
    case "choice":
      return expr.items.some((item) => isAlive(item, alive));
    case "repeat":
      return expr.min === 0 || isAlive(expr.item, alive);
    case "rule":
      return alive.has(expr.name);
  }
}

function withoutDead(expr: Expr, alive: ReadonlySet<string>): Expr {
  switch (expr.kind) {
    case "rule":
      return alive.has(expr.name) ? expr : NEVER;
    case "sequence":
      return sequence(...expr.items.map((item) => withoutDead(item, alive)));
    case "choice":
      return choice(...expr.items.map((item) => withoutDead(item, alive)).filter((item) => !isNever(item)));
    case "repeat":
      return repeat(withoutDead(expr.item, alive), expr.min, expr.max);
    default:
      return expr;
  }
}

/** Rules that the root comes to. */
function findReached({ rules, root }: Grammar, alive: ReadonlySet<string>): Set<string> {
  const reached = new Set([root]);
  // A set grows while it is gone through.
  for (const name of reached) {
    const expr = rules.get(name);
    if (expr !== undefined) { for (const next of rulesIn(expr)) if (alive.has(next)) reached.add(next); }
  }
  return reached;
}

function rulesIn(expr: Expr): string[] {
  switch (expr.kind) {
    case "rule":
      return [expr.name];
    case "sequence":
    case "choice":
      return expr.items.flatMap(rulesIn);
    case "repeat":
      return rulesIn(expr.item);
    default:
      return [];
  }
}
