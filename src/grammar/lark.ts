/**
 * Lark grammars, as Codex sends them for freeform tools → a grammar.
 *
 * ```
 * start: line+                       // a comment
 * line: ("+" | "-") /(.*)/ LF -> changed
 * %import common.LF
 * ```
 *
 * Known: rules and terminals, strings (with i), patterns (with i and s), groups, `[…]`, `|`, `* + ? ~n ~n..m`,
 * aliases, the modifiers `?` and `!`, priorities, and the small terminals of `common`. All else is refused by its name:
 * `%ignore`, `%declare`, `%extend`, templates, other imports. What a rule means does not depend on Lark's lexer: a text
 * fits if some reading of the rules fits it.
 *
 * Source: lark `docs/grammar.md`.
 *
 * @module
 */
import { codePointsOf, oneOf, toCodePoints } from "./code_points.ts";
import { GrammarError } from "./errors.ts";
import { choice, type Expr, type Grammar, optional, repeat, rule, sequence, text } from "./expr.ts";
import { REPEAT_MAX } from "./limits.ts";
import { prune } from "./prune.ts";
import { parseRegex } from "./regex_parser.ts";
import { type Sign, SignReader } from "./signs.ts";

const START = "start";

/** Terminals of `common` as patterns; the longer ones are bounded so that an answer ends. */
const COMMON: Readonly<Record<string, string>> = {
  LF: "\\n",
  CR: "\\r",
  NEWLINE: "(?:\\r?\\n)+",
  WS: "[ \\t\\f\\r\\n]+",
  WS_INLINE: "[ \\t]+",
  DIGIT: "[0-9]",
  HEXDIGIT: "[0-9a-fA-F]",
  INT: "[0-9]+",
  SIGNED_INT: "[+-]?[0-9]+",
  DECIMAL: "[0-9]+\\.[0-9]*|\\.[0-9]+",
  NUMBER: "[0-9]+(?:\\.[0-9]*)?(?:[eE][+-]?[0-9]+)?",
  SIGNED_NUMBER: "[+-]?[0-9]+(?:\\.[0-9]*)?(?:[eE][+-]?[0-9]+)?",
  LETTER: "[a-zA-Z]",
  UCASE_LETTER: "[A-Z]",
  LCASE_LETTER: "[a-z]",
  WORD: "[a-zA-Z]+",
  CNAME: "[a-zA-Z_][a-zA-Z0-9_]*",
  ESCAPED_STRING: '"(?:[^"\\\\\\n]|\\\\.)*"',
};

/** Whether a source is Lark rather than EBNF: it defines rules by a colon alone. */
export function looksLikeLark(source: string): boolean {
  return !source.includes("::=") && /^[?!]?[A-Za-z_]\w*(?:\.-?\d+)?\s*:/m.test(source);
}

type Kind = "define" | "directive" | "name" | "text" | "regex" | "count" | "alias" | "sign";

const SIGNS = new RegExp(
  [
    "(?<skip>\\s+|//[^\\n]*|#[^\\n]*)",
    "(?<directive>%[a-z]+[^\\n]*)",
    "(?<define>[?!]{0,2}[A-Za-z_]\\w*(?:\\{[^}]*\\})?(?:\\.-?\\d+)?[ \\t]*:)",
    "(?<alias>->[ \\t]*\\w+)",
    "(?<name>[A-Za-z_]\\w*(?:\\{[^}]*\\})?)",
    '(?<text>"(?:[^"\\\\\\n]|\\\\.)*"i?)',
    "(?<regex>/(?!/)(?:[^/\\\\\\n]|\\\\.)+/[imslux]*)",
    "(?<count>~[ \\t]*\\d+(?:[ \\t]*\\.\\.[ \\t]*\\d+)?)",
    "(?<sign>[|()\\[\\]*+?]|\\.\\.)",
  ].join("|"),
  "uy",
);

/** The grammar of a source. @throws {GrammarError} With the line, and the construct that is not known. */
export function parseLark(source: string): Grammar {
  const rules = new LarkParser(source).parse();
  if (!rules.has(START)) {
    throw new GrammarError(`The grammar has no rule ${START}, with which it is to begin.`, { keyword: START });
  }
  const grammar = prune({ rules, root: START });
  if (grammar === undefined) throw new GrammarError("No text fits the grammar.", { keyword: START });
  return grammar;
}

class LarkParser {
  readonly #signs: SignReader<Kind>;
  readonly #rules = new Map<string, Expr>();
  readonly #used = new Map<string, number>();

  constructor(source: string) {
    this.#signs = new SignReader(source, SIGNS);
  }

  parse(): Map<string, Expr> {
    for (let sign = this.#signs.take(); sign.kind !== "end"; sign = this.#signs.take()) {
      if (sign.kind === "directive") this.#directive(sign);
      else if (sign.kind === "define") this.#define(sign);
      else this.#signs.fail(sign.at, `expected a rule; found ${sign.source.slice(0, 40)}`, sign.source);
    }
    for (const [name, at] of this.#used) {
      if (!this.#rules.has(name)) this.#signs.fail(at, `the rule ${name} is not defined`, name);
    }
    return this.#rules;
  }

  #directive({ source, at }: Sign<Kind>): void {
    const imported = /^%import\s+common\s*\.\s*(\w+)(?:\s*->\s*(\w+))?\s*(?:\/\/.*)?$/.exec(source);
    const [name = ""] = source.split(/\s/);
    if (imported === null) {
      const known = "of the directives, %import common.NAME alone can be followed";
      return this.#signs.fail(at, `${source.slice(0, 60).trim()} is not supported: ${known}`, name);
    }
    const [, terminal = "", alias] = imported;
    const pattern = Object.hasOwn(COMMON, terminal) ? COMMON[terminal] : undefined;
    if (pattern === undefined) {
      const known = Object.keys(COMMON).join(", ");
      return this.#signs.fail(at, `common.${terminal} is not supported; known are ${known}`, `common.${terminal}`);
    }
    this.#add(alias ?? terminal, parseRegex(pattern, true), at);
  }

  #define({ source, at }: Sign<Kind>): void {
    const name = source.replace(/^[?!]*/, "").replace(/(?:\.-?\d+)?\s*:$/, "");
    if (name.includes("{")) this.#signs.fail(at, `the template ${name} is not supported`, name);
    this.#add(name, this.#choice(), at);
  }

  #add(name: string, expr: Expr, at: number): void {
    if (this.#rules.has(name)) this.#signs.fail(at, `the rule ${name} is defined twice`, name);
    this.#rules.set(name, expr);
  }

  #choice(): Expr {
    const items = [this.#sequence()];
    while (this.#signs.takeIf("sign", "|")) items.push(this.#sequence());
    return choice(...items);
  }

  #sequence(): Expr {
    const items: Expr[] = [];
    for (;;) {
      const sign = this.#signs.peek();
      if (sign.kind === "alias") {
        // The name of a branch says nothing about its text.
        this.#signs.take();
        continue;
      }
      const isItem = ["name", "text", "regex"].includes(sign.kind) || sign.source === "(" || sign.source === "[";
      if (!isItem) return sequence(...items);
      this.#signs.take();
      items.push(this.#repeated(this.#item(sign)));
    }
  }

  #item(sign: Sign<Kind>): Expr {
    switch (sign.kind) {
      case "name":
        if (sign.source.includes("{")) {
          this.#signs.fail(sign.at, `the template ${sign.source} is not supported`, sign.source);
        }
        if (!this.#used.has(sign.source)) this.#used.set(sign.source, sign.at);
        return rule(sign.source);
      case "text":
        return this.#text(sign);
      case "regex":
        return this.#regex(sign);
      default:
        return this.#group(sign);
    }
  }

  #text({ source, at }: Sign<Kind>): Expr {
    const isLoose = source.endsWith("i");
    let value: string;
    try {
      value = JSON.parse(source.replace(/i$/, "").replace(/\\'/g, "'").replace(/\\x(..)/g, "\\u00$1"));
    } catch {
      return this.#signs.fail(at, `the string ${source.slice(0, 40)} has an escape that is not known`, source);
    }
    if (this.#signs.peek().source === "..") return this.#range(value);
    return isLoose ? sequence(...[...value].map(anyCase)) : text(value);
  }

  /** `"a".."z"` */
  #range(first: string): Expr {
    this.#signs.take();
    const sign = this.#signs.take();
    const [low, high] = [first.codePointAt(0) ?? 0, sign.source.codePointAt(1) ?? 0];
    if (sign.kind !== "text" || high < low) this.#signs.fail(sign.at, "the range has no end", "..");
    return oneOf(toCodePoints([[low, high]]));
  }

  #regex({ source, at }: Sign<Kind>): Expr {
    const end = source.lastIndexOf("/");
    const flags = source.slice(end + 1);
    const unknown = flags.replace(/[isu]/g, "");
    if (unknown !== "") this.#signs.fail(at, `the flag ${unknown} of ${source.slice(0, 40)} is not supported`, unknown);
    // What Python escapes needlessly, ECMAScript does not know.
    const pattern = source.slice(1, end).replace(/\\([^\w\\^$.*+?()[\]{}|/-])/gu, "$1");
    try {
      const expr = parseRegex(flags.includes("s") ? pattern.replace(/(?<!\\)\./g, "[^]") : pattern, true);
      return flags.includes("i") ? ignoringCase(expr) : expr;
    } catch (error) {
      if (!(error instanceof GrammarError)) throw error;
      return this.#signs.fail(at, error.message.replace(/\.$/, ""), source);
    }
  }

  #group(open: Sign<Kind>): Expr {
    const inner = this.#signs.group(open, open.source === "(" ? ")" : "]", () => this.#choice());
    return open.source === "(" ? inner : optional(inner);
  }

  #repeated(item: Expr): Expr {
    if (this.#signs.takeIf("sign", "*")) return repeat(item, 0, null);
    if (this.#signs.takeIf("sign", "+")) return repeat(item, 1, null);
    if (this.#signs.takeIf("sign", "?")) return optional(item);
    const sign = this.#signs.takeIf("count");
    if (sign === undefined) return item;
    const [min = 0, max = min] = [...sign.source.matchAll(/\d+/g)].map(Number);
    if (max < min || max > REPEAT_MAX) {
      this.#signs.fail(sign.at, `${sign.source} is no count of at most ${REPEAT_MAX}`, "~");
    }
    return repeat(item, min, max);
  }
}

function anyCase(char: string): Expr {
  return oneOf(codePointsOf(char.toLowerCase() + char.toUpperCase()));
}

function ignoringCase(expr: Expr): Expr {
  switch (expr.kind) {
    case "text":
      return sequence(...[...expr.text].map(anyCase));
    case "class": {
      const letters = expr.ranges.flatMap(([first, last]) =>
        [...LETTERS].filter((letter) => first <= letter.charCodeAt(0) && letter.charCodeAt(0) <= last)
      ).join("");
      return oneOf(toCodePoints([...expr.ranges, ...codePointsOf(letters.toLowerCase() + letters.toUpperCase())]));
    }
    case "sequence":
      return sequence(...expr.items.map(ignoringCase));
    case "choice":
      return choice(...expr.items.map(ignoringCase));
    case "repeat":
      return repeat(ignoringCase(expr.item), expr.min, expr.max);
    default:
      return expr;
  }
}

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
