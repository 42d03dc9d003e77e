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
import { GROUPS_DEPTH_MAX, REPEAT_MAX } from "./limits.ts";
import { prune } from "./prune.ts";

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

/** A sign of the source. */
interface Sign {
  kind: "name" | "defines" | "text" | "class" | "bounds" | "sign" | "end";
  source: string;
  at: number;
}

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
  readonly #source: string;
  readonly #signs: Sign[];
  readonly #used = new Map<string, number>();
  #next = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
    this.#signs = this.#cut();
  }

  parse(): Map<string, Expr> {
    const rules = new Map<string, Expr>();
    while (this.#peek().kind !== "end") {
      const name = this.#take("name", "the name of a rule");
      this.#take("defines", "::=");
      if (rules.has(name.source)) this.#fail(name.at, `the rule ${name.source} is defined twice`);
      rules.set(name.source, this.#choice());
    }
    for (const [name, at] of this.#used) if (!rules.has(name)) this.#fail(at, `the rule ${name} is not defined`);
    return rules;
  }

  #cut(): Sign[] {
    const signs: Sign[] = [];
    for (let at = 0; at < this.#source.length;) {
      SIGNS.lastIndex = at;
      const match = SIGNS.exec(this.#source);
      if (match === null) this.#fail(at, `${JSON.stringify(this.#source.charAt(at))} has no meaning here`);
      const kind = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined)?.[0];
      if (kind !== undefined && kind !== "skip") signs.push({ kind: kind as Sign["kind"], source: match[0], at });
      at += match[0].length;
    }
    return [...signs, { kind: "end", source: "the end", at: this.#source.length }];
  }

  #fail(at: number, what: string): never {
    const line = this.#source.slice(0, at).split("\n").length;
    throw new GrammarError(`Line ${line} of the grammar: ${what}.`, { path: `line ${line}` });
  }

  #peek(ahead = 0): Sign {
    return this.#signs[Math.min(this.#next + ahead, this.#signs.length - 1)] ??
      { kind: "end", source: "the end", at: this.#source.length };
  }

  #take(kind: Sign["kind"], wanted: string): Sign {
    const sign = this.#peek();
    if (sign.kind !== kind) this.#fail(sign.at, `expected ${wanted}; found ${sign.source.slice(0, 40)}`);
    this.#next++;
    return sign;
  }

  #takeSign(source: string): boolean {
    const sign = this.#peek();
    if (sign.kind !== "sign" || sign.source !== source) return false;
    this.#next++;
    return true;
  }

  #choice(): Expr {
    const items = [this.#sequence()];
    while (this.#takeSign("|")) items.push(this.#sequence());
    return choice(...items);
  }

  #sequence(): Expr {
    const items: Expr[] = [];
    for (;;) {
      const sign = this.#peek();
      // A name with ::= behind it begins the next rule.
      if (sign.kind === "name" && this.#peek(1).kind === "defines") break;
      const isItem = ["name", "text", "class"].includes(sign.kind) || sign.source === "(" || sign.source === ".";
      if (!isItem) break;
      items.push(this.#repeated(this.#item(sign)));
    }
    return sequence(...items);
  }

  #item(sign: Sign): Expr {
    this.#next++;
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
        return this.#group(sign);
    }
  }

  #group(open: Sign): Expr {
    if (++this.#depth > GROUPS_DEPTH_MAX) this.#fail(open.at, `groups are nested deeper than ${GROUPS_DEPTH_MAX}`);
    const inner = this.#choice();
    if (!this.#takeSign(")")) this.#fail(this.#peek().at, `expected ); found ${this.#peek().source.slice(0, 40)}`);
    this.#depth--;
    return inner;
  }

  #repeated(item: Expr): Expr {
    if (this.#takeSign("*")) return this.#repeated(repeat(item, 0, null));
    if (this.#takeSign("+")) return this.#repeated(repeat(item, 1, null));
    if (this.#takeSign("?")) return this.#repeated(repeat(item, 0, 1));
    const sign = this.#peek();
    if (sign.kind !== "bounds") return item;
    this.#next++;
    const [, least = "0", comma, most = ""] = /\{\s*(\d+)\s*(,)?\s*(\d*)\s*\}/.exec(sign.source) ?? [];
    const min = Number(least);
    const max = comma === undefined ? min : most === "" ? null : Number(most);
    if (min > REPEAT_MAX || (max ?? 0) > REPEAT_MAX) {
      this.#fail(sign.at, `at most ${REPEAT_MAX} repetitions are followed`);
    }
    if (max !== null && max < min) this.#fail(sign.at, `${sign.source} ends before it begins`);
    return this.#repeated(max === 0 ? EMPTY : repeat(item, min, max));
  }

  #class(sign: Sign): Expr {
    const negated = sign.source.startsWith("[^");
    const chars = this.#chars(sign.source.slice(negated ? 2 : 1, -1), sign.at);
    const ranges: [number, number][] = [];
    for (let at = 0; at < chars.length; at++) {
      const first = chars[at]?.char.codePointAt(0) ?? 0;
      const isRange = chars[at + 1]?.char === "-" && chars[at + 1]?.escaped === false && chars[at + 2] !== undefined;
      const last = isRange ? chars[at + 2]?.char.codePointAt(0) ?? 0 : first;
      if (last < first) this.#fail(sign.at, `the range in ${sign.source.slice(0, 40)} ends before it begins`);
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
        if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) this.#fail(at, `${hex} is no character`);
        chars.push({ char: String.fromCodePoint(point), escaped: true });
      }
    }
    return chars;
  }

  #escape(escape: string, at: number): string {
    const known: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f", v: "\v", 0: "\0" };
    const char = known[escape];
    if (char !== undefined) return char;
    if (/[A-Za-z0-9]/.test(escape)) this.#fail(at, `the escape \\${escape} is not known`);
    return escape;
  }
}
