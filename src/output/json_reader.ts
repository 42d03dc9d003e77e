/**
 * Reads one JSON value as it arrives, and writes it out as JSON that parses.
 *
 * What is valid passes unchanged. What is damaged in a way that has one reading is repaired and named; what has none,
 * or more than one, ends the reading as broken: a wrong value is worse than none. Knows nothing of tools.
 *
 * Repairs, each seen from small quantized models: raw line ends and tabs in strings, escapes that JSON has not (kept
 * with their backslash, as Python does), `True`/`False`/`None`, strings in single quotes (with Python's rules), bare
 * keys, commas before a closing bracket, and at the end of the answer closing brackets that are missing.
 *
 * Invariant: written text is never taken back, and does not depend on how the input was cut.
 *
 * @module
 */

/** Why output differs from input. */
export type JsonRepair =
  | "control_character_escaped"
  | "invalid_escape_kept"
  | "python_literal"
  | "single_quotes"
  | "bare_key"
  | "trailing_comma_dropped"
  | "missing_bracket_added";

/** Nesting that a call's arguments may have. */
const DEPTH_MAX = 128;

/** What may come next. */
type Expect = "value" | "valueOrEnd" | "key" | "keyOrEnd" | "colon" | "commaOrEnd" | "afterComma" | "done";

/** The token that is being read. */
type Token =
  | { kind: "string"; quote: '"' | "'"; isKey: boolean; escape: string }
  | { kind: "word"; text: string; isKey: boolean };

const SPACE = /[ \t\n\r]+/y;
// deno-lint-ignore no-control-regex -- JSON forbids them in strings
const PLAIN = /[^"'\\\u0000-\u001f]+/y;
const WORD = /[\w$.+-]+/y;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const LITERALS: Readonly<Record<string, string>> = {
  true: "true",
  false: "false",
  null: "null",
  True: "true",
  False: "false",
  None: "null",
};
const SHORT_ESCAPES = new Set(['"', "\\", "/", "b", "f", "n", "r", "t"]);

/** One value on its way in. */
export class JsonReader {
  /** What was repaired so far, each kind once. */
  readonly repairs: JsonRepair[] = [];
  /** `open` until the value is whole or can't be one. */
  state: "open" | "done" | "broken" = "open";
  readonly #closers: ("}" | "]")[] = [];
  #expect: Expect;
  #token: Token | undefined;
  /** A comma and the space after it, until it is clear that a bracket does not follow. */
  #comma = "";
  #out = "";

  /** Reads a value, or an object's key: a string that may be bare. */
  constructor(part: "value" | "key" = "value") {
    this.#expect = part;
  }

  /**
   * Reads from an offset until the value ends.
   *
   * @returns The text written for it, and the offset of the first character that was not read.
   */
  push(text: string, from = 0): { json: string; next: number } {
    let at = from;
    while (at < text.length && this.state === "open") {
      at = this.#token === undefined ? this.#readBetween(text, at) : this.#readToken(text, at, this.#token);
    }
    return { json: this.#take(), next: at };
  }

  /** The text is over, by the model's own will: a last number ends, and brackets that are missing are added. */
  finish(): string {
    if (this.state !== "open") return "";
    if (this.#token?.kind === "word") this.#endWord(this.#token);
    const closable = this.#token === undefined && this.#expect === "commaOrEnd" && this.#closers.length > 0;
    if (closable) {
      this.#repair("missing_bracket_added");
      while (this.#closers.length > 0) this.#close(this.#closers.at(-1) ?? "}");
    }
    if (this.state === "open") this.#break();
    return this.#take();
  }

  #take(): string {
    const out = this.#out;
    this.#out = "";
    return out;
  }

  #repair(name: JsonRepair): void {
    if (!this.repairs.includes(name)) this.repairs.push(name);
  }

  #break(): void {
    this.state = "broken";
  }

  /** Reads what stands between tokens, or begins one. */
  #readBetween(text: string, at: number): number {
    SPACE.lastIndex = at;
    const space = SPACE.exec(text)?.[0];
    if (space !== undefined) {
      if (this.#expect === "afterComma") this.#comma += space;
      else this.#out += space;
      return at + space.length;
    }
    const sign = text.charAt(at);
    if (sign === "}" || sign === "]") return this.#readCloser(sign, at);
    if (this.#expect === "afterComma") {
      this.#out += this.#comma;
      this.#expect = this.#closers.at(-1) === "}" ? "key" : "value";
    }
    switch (this.#expect) {
      case "colon":
      case "commaOrEnd":
        return this.#readSeparator(sign, at);
      case "key":
      case "keyOrEnd":
        return this.#beginToken(sign, text, at, true);
      default:
        return sign === "{" || sign === "[" ? this.#open(sign, at) : this.#beginToken(sign, text, at, false);
    }
  }

  #readCloser(sign: "}" | "]", at: number): number {
    const closes = this.#closers.at(-1) === sign &&
      ["commaOrEnd", "afterComma", sign === "}" ? "keyOrEnd" : "valueOrEnd"].includes(this.#expect);
    if (!closes) {
      this.#break();
      return at;
    }
    if (this.#expect === "afterComma") {
      this.#repair("trailing_comma_dropped");
      this.#out += this.#comma.slice(1);
    }
    this.#close(sign);
    return at + 1;
  }

  #close(sign: "}" | "]"): void {
    this.#out += sign;
    this.#closers.pop();
    this.#endValue();
  }

  #readSeparator(sign: string, at: number): number {
    if (this.#expect === "colon" && sign === ":") {
      this.#out += sign;
      this.#expect = "value";
    } else if (this.#expect === "commaOrEnd" && sign === ",") {
      this.#comma = sign;
      this.#expect = "afterComma";
    } else {
      this.#break();
      return at;
    }
    return at + 1;
  }

  #open(sign: "{" | "[", at: number): number {
    if (this.#closers.length >= DEPTH_MAX) {
      this.#break();
      return at;
    }
    this.#out += sign;
    this.#closers.push(sign === "{" ? "}" : "]");
    this.#expect = sign === "{" ? "keyOrEnd" : "valueOrEnd";
    return at + 1;
  }

  #beginToken(sign: string, text: string, at: number, isKey: boolean): number {
    if (sign === '"' || sign === "'") {
      if (sign === "'") this.#repair("single_quotes");
      this.#out += '"';
      this.#token = { kind: "string", quote: sign, isKey, escape: "" };
      return at + 1;
    }
    WORD.lastIndex = at;
    if (!WORD.test(text)) {
      this.#break();
      return at;
    }
    this.#token = { kind: "word", text: "", isKey };
    return at;
  }

  #readToken(text: string, at: number, token: Token): number {
    if (token.kind === "word") {
      WORD.lastIndex = at;
      const more = WORD.exec(text)?.[0] ?? "";
      token.text += more;
      if (at + more.length < text.length) this.#endWord(token);
      return at + more.length;
    }
    if (token.escape !== "") return this.#readEscape(text, at, token);
    PLAIN.lastIndex = at;
    const plain = PLAIN.exec(text)?.[0];
    if (plain !== undefined) {
      this.#out += plain;
      return at + plain.length;
    }
    const sign = text.charAt(at);
    if (sign === token.quote) {
      this.#out += '"';
      this.#endToken(token.isKey);
    } else if (sign === "\\") token.escape = sign;
    else if (sign === '"') this.#out += '\\"';
    else if (sign === "'") this.#out += sign;
    else {
      this.#repair("control_character_escaped");
      this.#out += JSON.stringify(sign).slice(1, -1);
    }
    return at + 1;
  }

  #readEscape(text: string, at: number, token: Token & { kind: "string" }): number {
    const sign = text.charAt(at);
    if (token.escape === "\\") {
      if (sign === "u") token.escape = "\\u";
      else {
        token.escape = "";
        if (SHORT_ESCAPES.has(sign)) this.#out += `\\${sign}`;
        else if (sign === "'") {
          // Python's way to write one; in double quotes JSON has no such escape.
          if (token.quote === '"') this.#repair("invalid_escape_kept");
          this.#out += token.quote === "'" ? "'" : "\\\\'";
        } else {
          this.#repair("invalid_escape_kept");
          // The sign itself is read again: it may need escaping or be a character of two units.
          this.#out += "\\\\";
          return at;
        }
      }
      return at + 1;
    }
    if (!/[\da-fA-F]/.test(sign)) {
      this.#repair("invalid_escape_kept");
      this.#out += `\\${token.escape}`;
      token.escape = "";
      return at;
    }
    token.escape += sign;
    if (token.escape.length === 6) {
      this.#out += token.escape;
      token.escape = "";
    }
    return at + 1;
  }

  #endWord(token: Token & { kind: "word" }): void {
    const { text, isKey } = token;
    const literal = Object.hasOwn(LITERALS, text) ? LITERALS[text] : undefined;
    if (isKey && /^[A-Za-z_$][\w$-]*$/.test(text)) {
      this.#repair("bare_key");
      this.#out += JSON.stringify(text);
    } else if (!isKey && literal !== undefined) {
      if (literal !== text) this.#repair("python_literal");
      this.#out += literal;
    } else if (!isKey && NUMBER.test(text)) this.#out += text;
    else return this.#break();
    this.#endToken(isKey);
  }

  #endToken(isKey: boolean): void {
    this.#token = undefined;
    if (isKey && this.#closers.length > 0) this.#expect = "colon";
    else this.#endValue();
  }

  #endValue(): void {
    this.#expect = this.#closers.length === 0 ? "done" : "commaOrEnd";
    if (this.#expect === "done") this.state = "done";
  }
}
