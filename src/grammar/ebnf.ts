/**
 * EBNF as clients of llama.cpp (GBNF), xgrammar and vLLM send it → a grammar. Lark goes through lark.ts.
 *
 * ```
 * # a comment
 * root   ::= "yes" | "no" reason?
 * reason ::= ", because " [a-z ]{1,80}
 * ```
 *
 * The rule `root` is the first. A rule ends where the next one begins.
 *
 * Source: llama.cpp `grammars/README.md`, xgrammar `Grammar.from_ebnf`.
 *
 * @module
 */
import { ALL_CODE_POINTS, oneOf, subtract, toCodePoints } from "./code_points.ts";
import { GrammarError } from "./errors.ts";
import { choice, EMPTY, type Expr, type Grammar, repeat, rule, sequence, text } from "./expr.ts";
import { looksLikeLark, parseLark } from "./lark.ts";
import { REPEAT_MAX } from "./limits.ts";
import { prune } from "./prune.ts";
import { type Sign, SignReader } from "./signs.ts";

const ROOT = "root";

/** The grammar of a source in EBNF or in Lark. @throws {GrammarError} With line and what is wrong. */
export function toGrammar(source: string): Grammar {
  return looksLikeLark(source) ? parseLark(source) : parseEbnf(source);
}

/** The grammar of a source in EBNF. @throws {GrammarError} With line and what is wrong. */
export function parseEbnf(source: string): Grammar {
  const rules = new EbnfParser(source).parse();
  if (!rules.has(ROOT)) {
    throw new GrammarError(`The grammar has no rule ${ROOT}, with which it is to begin.`, { keyword: ROOT });
  }
  const grammar = prune({ rules, root: ROOT });
  if (grammar === undefined) throw new GrammarError("No text fits the grammar.", { keyword: ROOT });
  return grammar;
}

type Kind = "name" | "defines" | "text" | "class" | "bounds" | "sign";

const SIGNS = new RegExp(
  [
    "(?<skip>\\s+|#[^\\n]*)",
    "(?<name>[A-Za-z_][A-Za-z0-9_.-]*)",
    "(?<defines>::=)",
    '(?<text>"(?:[^"\\\\\\n]|\\\\.)*")',
    "(?<class>\\[\\^?(?:[^\\]\\\\\\n]|\\\\.)*\\])",
    "(?<bounds>\\{\\s*\\d+\\s*(?:,\\s*\\d*\\s*)?\\})",
    "(?<sign>[|()*+?.])",
  ].join("|"),
  "uy",
);

class EbnfParser {
  readonly #signs: SignReader<Kind>;
  readonly #used = new Map<string, number>();

  constructor(source: string) {
    this.#signs = new SignReader(source, SIGNS);
  }

  parse(): Map<string, Expr> {
    const rules = new Map<string, Expr>();
    while (this.#signs.peek().kind !== "end") {
      const name = this.#take("name", "the name of a rule");
      this.#take("defines", "::=");
      if (rules.has(name.source)) this.#signs.fail(name.at, `the rule ${name.source} is defined twice`);
      rules.set(name.source, this.#choice());
    }
    for (const [name, at] of this.#used) if (!rules.has(name)) this.#signs.fail(at, `the rule ${name} is not defined`);
    return rules;
  }

  #take(kind: Kind, wanted: string): Sign<Kind> {
    const sign = this.#signs.peek();
    return this.#signs.takeIf(kind) ??
      this.#signs.fail(sign.at, `expected ${wanted}; found ${sign.source.slice(0, 40)}`);
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
      // A name with ::= behind it begins the next rule.
      if (sign.kind === "name" && this.#signs.peek(1).kind === "defines") break;
      const isItem = ["name", "text", "class"].includes(sign.kind) || sign.source === "(" || sign.source === ".";
      if (!isItem) break;
      items.push(this.#repeated(this.#item()));
    }
    return sequence(...items);
  }

  #item(): Expr {
    const sign = this.#signs.take();
    switch (sign.kind) {
      case "name":
        if (!this.#used.has(sign.source)) this.#used.set(sign.source, sign.at);
        return rule(sign.source);
      case "text":
        return text([...this.#chars(sign.source.slice(1, -1), sign.at)].map(({ char }) => char).join(""));
      case "class":
        return this.#class(sign);
      default:
        if (sign.source === ".") return oneOf(subtract(ALL_CODE_POINTS, [[10, 10]]));
        return this.#signs.group(sign, ")", () => this.#choice());
    }
  }

  #repeated(item: Expr): Expr {
    if (this.#signs.takeIf("sign", "*")) return this.#repeated(repeat(item, 0, null));
    if (this.#signs.takeIf("sign", "+")) return this.#repeated(repeat(item, 1, null));
    if (this.#signs.takeIf("sign", "?")) return this.#repeated(repeat(item, 0, 1));
    const sign = this.#signs.takeIf("bounds");
    if (sign === undefined) return item;
    const [, least = "0", comma, most = ""] = /\{\s*(\d+)\s*(,)?\s*(\d*)\s*\}/.exec(sign.source) ?? [];
    const min = Number(least);
    const max = comma === undefined ? min : most === "" ? null : Number(most);
    if (min > REPEAT_MAX || (max ?? 0) > REPEAT_MAX) {
      this.#signs.fail(sign.at, `at most ${REPEAT_MAX} repetitions are followed`);
    }
    if (max !== null && max < min) this.#signs.fail(sign.at, `${sign.source} ends before it begins`);
    return this.#repeated(max === 0 ? EMPTY : repeat(item, min, max));
  }

  #class(sign: Sign<Kind>): Expr {
    const negated = sign.source.startsWith("[^");
    const chars = this.#chars(sign.source.slice(negated ? 2 : 1, -1), sign.at);
    const ranges: [number, number][] = [];
    for (let at = 0; at < chars.length; at++) {
      const first = chars[at]?.char.codePointAt(0) ?? 0;
      const isRange = chars[at + 1]?.char === "-" && chars[at + 1]?.escaped === false && chars[at + 2] !== undefined;
      const last = isRange ? chars[at + 2]?.char.codePointAt(0) ?? 0 : first;
      if (last < first) this.#signs.fail(sign.at, `the range in ${sign.source.slice(0, 40)} ends before it begins`);
      ranges.push([first, last]);
      if (isRange) at += 2;
    }
    const set = toCodePoints(ranges);
    return oneOf(negated ? subtract(ALL_CODE_POINTS, set) : set);
  }

  /** Characters, with escapes read. */
  #chars(source: string, at: number): { char: string; escaped: boolean }[] {
    const chars: { char: string; escaped: boolean }[] = [];
    const parts = /\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|\\([\s\S])|([\s\S])/gu;
    for (const [, x, u, long, escape, plain] of source.matchAll(parts)) {
      const hex = x ?? u ?? long;
      if (plain !== undefined) chars.push({ char: plain, escaped: false });
      else if (hex === undefined) chars.push({ char: this.#escape(escape ?? "", at), escaped: true });
      else {
        const point = parseInt(hex, 16);
        if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) this.#signs.fail(at, `${hex} is no character`);
        chars.push({ char: String.fromCodePoint(point), escaped: true });
      }
    }
    return chars;
  }

  #escape(escape: string, at: number): string {
    const known: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f", v: "\v", 0: "\0" };
    const char = known[escape];
    if (char !== undefined) return char;
    if (/[A-Za-z0-9]/.test(escape)) this.#signs.fail(at, `the escape \\${escape} is not known`);
    return escape;
  }
}
