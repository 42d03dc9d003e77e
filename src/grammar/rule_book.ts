/**
 * Joins several grammars into one: each keeps its rules, under names of its own.
 *
 * @module
 */
import { type Expr, type Grammar, rule } from "./expr.ts";
import { JSON_RULES, jsonRules } from "./json.ts";

const SHARED: ReadonlySet<string> = new Set(Object.values(JSON_RULES));

/** Rules that are being gathered. */
export class RuleBook {
  readonly #rules = new Map<string, Expr>(jsonRules());
  #books = 0;

  /** Takes over a grammar. @returns Its root. */
  include(grammar: Grammar): Expr {
    const rename = this.renaming(grammar.rules);
    return rename(rule(grammar.root));
  }

  /** Takes over rules. @returns What renames an expression that speaks of them; other names stay. */
  renaming(rules: ReadonlyMap<string, Expr>): (expr: Expr) => Expr {
    const prefix = `${++this.#books}.`;
    const own = new Set([...rules].filter(([name, expr]) => !this.#isShared(name, expr)).map(([name]) => name));
    const rename = (expr: Expr): Expr => {
      switch (expr.kind) {
        case "rule":
          return own.has(expr.name) ? rule(prefix + expr.name) : expr;
        case "sequence":
        case "choice":
          return { ...expr, items: expr.items.map(rename) };
        case "repeat":
          return { ...expr, item: rename(expr.item) };
        default:
          return expr;
      }
    };
    for (const [name, expr] of rules) if (own.has(name)) this.#rules.set(prefix + name, rename(expr));
    return rename;
  }

  /** A rule of its own. */
  define(name: string, expr: Expr): Expr {
    this.#rules.set(name, expr);
    return rule(name);
  }

  /** Everything, beginning with `root`. */
  toGrammar(root: Expr): Grammar {
    this.#rules.set("root", root);
    return { rules: this.#rules, root: "root" };
  }

  /** A client's own grammar may use the names of the shared rules for something else. */
  #isShared(name: string, expr: Expr): boolean {
    const shared = SHARED.has(name) ? this.#rules.get(name) : undefined;
    return shared !== undefined && JSON.stringify(shared) === JSON.stringify(expr);
  }
}
