/**
 * Patterns in the syntax of ECMAScript (flag u, as JSON Schema has them) → grammars.
 *
 * Known: characters and escapes, classes, `.`, groups (named too), alternation, quantifiers (lazy ones as well: which
 * texts fit is the same), and `^` and `$` at the ends. Anchors elsewhere, look-around, back references, word borders
 * and `\p` are refused by name.
 *
 * @module
 */
import {
  ALL_CODE_POINTS,
  type CodePoints,
  codePointsOf,
  complement,
  oneOf,
  subtract,
  toCodePoints,
  unite,
} from "./code_points.ts";
import { GrammarError } from "./errors.ts";
import { choice, EMPTY, type Expr, repeat, sequence, text } from "./expr.ts";
import { GROUPS_DEPTH_MAX, REPEAT_MAX } from "./limits.ts";

const DIGIT: CodePoints = [[0x30, 0x39]];
const WORD = unite(DIGIT, [[0x41, 0x5a], [0x61, 0x7a]], codePointsOf("_"));
const LINE_ENDS = codePointsOf("\n\r\u2028\u2029");
const SPACE = unite(
  codePointsOf("\t\v\f \u00a0\u1680\u202f\u205f\u3000\ufeff"),
  LINE_ENDS,
  toCodePoints([[0x2000, 0x200a]]),
);
const CLASS_ESCAPES: Readonly<Record<string, CodePoints>> = {
  d: DIGIT,
  D: complement(DIGIT),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
};
const CONTROL_ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v", 0: "\0" };

/** Alternatives of a pattern's top level. */
interface Alternative {
  expr: Expr;
  /** It has `^` in front, `$` behind. */
  anchored: { start: boolean; end: boolean };
}

/**
 * All texts that a pattern finds something in.
 *
 * @param whole The pattern is to fit the whole text even without anchors (`guided_regex`); else anything may stand
 * around it, as JSON Schema has it.
 * @throws {GrammarError} With the construct that is not known.
 */
export function parseRegex(pattern: string, whole: boolean): Expr {
  const alternatives = new RegexParser(pattern).parse();
  const anything = repeat(oneOf(ALL_CODE_POINTS), 0, null);
  return choice(
    ...alternatives.map(({ expr, anchored }) =>
      sequence(anchored.start || whole ? EMPTY : anything, expr, anchored.end || whole ? EMPTY : anything)
    ),
  );
}

class RegexParser {
  readonly #source: string;
  readonly #chars: string[];
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
    try {
      new RegExp(source, "u");
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new GrammarError(`The pattern is no regular expression: ${reason}.`, { keyword: "pattern" });
    }
    this.#chars = [...source];
  }

  /** The alternatives of the top level, each with its anchors. */
  parse(): Alternative[] {
    const alternatives: Alternative[] = [];
    do {
      const start = this.#take("^");
      const expr = this.#sequence();
      const end = this.#take("$");
      if (end && !(this.#at >= this.#chars.length || this.#peek() === "|")) this.#refuse("$ before the end");
      alternatives.push({ expr, anchored: { start, end } });
    } while (this.#take("|"));
    if (this.#at < this.#chars.length) this.#refuse(this.#peek());
    const [only] = alternatives;
    if (alternatives.length === 1 && only !== undefined) return [only];
    return alternatives;
  }

  #peek(): string {
    return this.#chars[this.#at] ?? "";
  }

  #next(): string {
    return this.#chars[this.#at++] ?? "";
  }

  #take(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.#at++;
    return true;
  }

  #refuse(what: string): never {
    const shown = this.#source.length > 100 ? `${this.#source.slice(0, 100)}…` : this.#source;
    throw new GrammarError(`The pattern ${JSON.stringify(shown)} has ${what}, which can't be followed.`, {
      keyword: "pattern",
    });
  }

  #sequence(): Expr {
    const items: Expr[] = [];
    for (let char = this.#peek(); char !== "" && char !== "|" && char !== ")" && char !== "$"; char = this.#peek()) {
      items.push(this.#quantified(this.#atom()));
    }
    return sequence(...items);
  }

  #atom(): Expr {
    const char = this.#next();
    switch (char) {
      case "(":
        return this.#group();
      case "[":
        return oneOf(this.#class());
      case ".":
        return oneOf(complement(LINE_ENDS));
      case "\\": {
        const set = this.#escape(false);
        return typeof set === "string" ? text(set) : oneOf(set);
      }
      case "^":
        return this.#refuse("^ behind the start");
      default:
        return text(char);
    }
  }

  #group(): Expr {
    if (++this.#depth > GROUPS_DEPTH_MAX) this.#refuse(`groups nested deeper than ${GROUPS_DEPTH_MAX}`);
    if (this.#take("?")) {
      if (this.#take("<")) {
        if (this.#peek() === "=" || this.#peek() === "!") this.#refuse("a look-behind");
        while (this.#next() !== ">");
      } else if (!this.#take(":")) {
        this.#refuse(this.#peek() === "=" || this.#peek() === "!" ? "a look-ahead" : `the group (?${this.#peek()}`);
      }
    }
    const items: Expr[] = [];
    do {
      items.push(this.#sequence());
      if (this.#peek() === "$") this.#refuse("$ inside a group");
    } while (this.#take("|"));
    this.#at++; // the bracket, which RegExp has seen
    this.#depth--;
    return choice(...items);
  }

  #quantified(item: Expr): Expr {
    const bounds = this.#bounds();
    if (bounds === undefined) return item;
    this.#take("?"); // lazy: the same texts fit
    const [min, max] = bounds;
    if (min > REPEAT_MAX || (max ?? 0) > REPEAT_MAX) this.#refuse(`a repetition of more than ${REPEAT_MAX} times`);
    return repeat(item, min, max);
  }

  #bounds(): [min: number, max: number | null] | undefined {
    if (this.#take("*")) return [0, null];
    if (this.#take("+")) return [1, null];
    if (this.#take("?")) return [0, 1];
    const counted = /^\{(\d+)(,(\d*))?\}/.exec(this.#chars.slice(this.#at, this.#at + 40).join(""));
    if (counted === null) return undefined;
    this.#at += counted[0].length;
    const min = Number(counted[1]);
    if (counted[2] === undefined) return [min, min];
    return [min, counted[3] === "" ? null : Number(counted[3])];
  }

  /** Behind a backslash: a set, or a character. */
  #escape(inClass: boolean): CodePoints | string {
    const char = this.#next();
    const set = CLASS_ESCAPES[char];
    if (set !== undefined) return set;
    const control = CONTROL_ESCAPES[char];
    if (control !== undefined) return control;
    if (char === "b" && inClass) return "\b";
    if (char === "b" || char === "B") this.#refuse("a word border");
    if (char === "p" || char === "P") this.#refuse(`\\${char}`);
    if (char === "k" || /[1-9]/.test(char)) this.#refuse("a back reference");
    if (char === "c") return String.fromCharCode((this.#next().codePointAt(0) ?? 0) % 32);
    if (char === "x") return this.#hex(2);
    if (char !== "u") return char;
    if (this.#take("{")) {
      let digits = "";
      for (let digit = this.#next(); digit !== "}"; digit = this.#next()) digits += digit;
      return String.fromCodePoint(parseInt(digits, 16));
    }
    const unit = this.#hex(4);
    if (!/[\ud800-\udbff]/.test(unit)) return unit;
    if (this.#peek() !== "\\" || this.#chars[this.#at + 1] !== "u") this.#refuse("half of a surrogate pair");
    this.#at += 2;
    return unit + this.#hex(4);
  }

  #hex(length: number): string {
    const digits = this.#chars.slice(this.#at, this.#at + length).join("");
    this.#at += length;
    return String.fromCharCode(parseInt(digits, 16));
  }

  /** Behind a bracket. */
  #class(): CodePoints {
    const negated = this.#take("^");
    const sets: CodePoints[] = [];
    while (!this.#take("]")) {
      const first = this.#classAtom();
      const isRange = this.#peek() === "-" && this.#chars[this.#at + 1] !== "]" && typeof first === "string";
      if (!isRange) {
        sets.push(typeof first === "string" ? codePointsOf(first) : first);
        continue;
      }
      this.#at++;
      const last = this.#classAtom();
      if (typeof last !== "string") this.#refuse("a range that ends in a class");
      else sets.push(toCodePoints([[first.codePointAt(0) ?? 0, last.codePointAt(0) ?? 0]]));
    }
    const set = unite(...sets);
    return negated ? subtract(ALL_CODE_POINTS, set) : set;
  }

  #classAtom(): CodePoints | string {
    return this.#take("\\") ? this.#escape(true) : this.#next();
  }
}
