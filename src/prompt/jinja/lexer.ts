/**
 * A template's source → text, and the tokens between its tags.
 *
 * Options are fixed to those of transformers: `trim_blocks` and `lstrip_blocks` on, no trailing newline kept.
 *
 * Source: Jinja 3.1.6 `lexer.py` (`Lexer.tokeniter`), whose regular expressions these are.
 *
 * @module
 */
import { JinjaError } from "./errors.ts";

/** A token. `begin` and `end` are the borders of a tag, by what opened it. */
export type Token =
  | { type: "text"; value: string }
  | { type: "begin" | "end"; value: "block" | "variable" }
  | { type: "name" | "operator"; value: string }
  | { type: "string"; value: string }
  | { type: "integer"; value: bigint }
  | { type: "float"; value: number };

/** Tokens of a template. @throws {JinjaError} If it is not closed or has a character that means nothing. */
export function tokenize(template: string): Token[] {
  return new Lexer(template).run();
}

const TAG = /\{([{%#])([-+]?)/g;
const RAW_BEGIN = /\{%[-+]?\s*raw\s*(?:-%\}\s*|%\})/y;
const RAW_END = /\{%([-+]?)\s*endraw\s*(?:\+%\}|-%\}\s*|%\}\n?)/g;
const COMMENT_END = /\+#\}|-#\}\s*|#\}\n?/g;
const BLOCK_END = /\+%\}|-%\}\s*|%\}\n?/y;
const VARIABLE_END = /-\}\}\s*|\}\}/y;

const SPACE = /\s+/y;
const FLOAT = /(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy;
const INTEGER = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy;
const NAME = /[\p{L}\p{N}\p{M}_]+/uy;
const STRING = /'(?:[^'\\]|\\[^])*'|"(?:[^"\\]|\\[^])*"/y;
const OPERATOR = /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y;

const CLOSING: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  /** Whether what was read last ended with a newline, so that a tag may begin its line. */
  #lineStarts = true;

  constructor(template: string) {
    this.#source = template.replace(/\r\n?/g, "\n").replace(/\n$/, "");
  }

  run(): Token[] {
    while (this.#at < this.#source.length) this.#readText();
    return this.#tokens;
  }

  /** Text up to the next tag, and the tag. */
  #readText(): void {
    TAG.lastIndex = this.#at;
    const tag = TAG.exec(this.#source);
    if (tag === null) {
      this.#pushText(this.#source.slice(this.#at));
      this.#at = this.#source.length;
      return;
    }
    const [opening, kind, sign] = tag;
    this.#pushText(this.#stripped(this.#source.slice(this.#at, tag.index), kind !== "{", sign ?? ""));
    this.#lineStarts = false;
    const raw = this.#match(RAW_BEGIN, tag.index);
    if (raw !== undefined) {
      this.#at = tag.index + raw.length;
      this.#readRaw();
      return;
    }
    this.#at = tag.index + opening.length;
    if (kind === "#") this.#readComment();
    else this.#readTag(kind === "%" ? "block" : "variable");
  }

  /** The text before a tag: `-` takes all space before it, a block at the start of its line the space in that line. */
  #stripped(text: string, isBlock: boolean, sign: string): string {
    if (sign === "-") return text.trimEnd();
    if (sign === "+" || !isBlock) return text;
    const line = text.lastIndexOf("\n") + 1;
    return (line > 0 || this.#lineStarts) && /^\s+$/.test(text.slice(line)) ? text.slice(0, line) : text;
  }

  #readRaw(): void {
    RAW_END.lastIndex = this.#at;
    const end = RAW_END.exec(this.#source);
    if (end === null) throw new JinjaError("Missing end of raw directive");
    this.#pushText(this.#stripped(this.#source.slice(this.#at, end.index), true, end[1] ?? ""));
    this.#moveTo(end.index + end[0].length);
  }

  #readComment(): void {
    COMMENT_END.lastIndex = this.#at;
    const end = COMMENT_END.exec(this.#source);
    if (end === null) throw new JinjaError("Missing end of comment tag");
    this.#moveTo(end.index + end[0].length);
  }

  #readTag(kind: "block" | "variable"): void {
    this.#tokens.push({ type: "begin", value: kind });
    const open: string[] = [];
    for (;;) {
      const end = open.length === 0 ? this.#match(kind === "block" ? BLOCK_END : VARIABLE_END, this.#at) : undefined;
      if (end !== undefined) {
        this.#tokens.push({ type: "end", value: kind });
        this.#moveTo(this.#at + end.length);
        return;
      }
      if (this.#at >= this.#source.length) throw new JinjaError(`Unexpected end of template, in a ${kind} tag`);
      this.#readToken(open);
    }
  }

  #readToken(open: string[]): void {
    const space = this.#take(SPACE);
    if (space !== undefined) return;
    const float = this.#take(FLOAT);
    if (float !== undefined) return this.#push({ type: "float", value: Number(float.replaceAll("_", "")) });
    const integer = this.#take(INTEGER);
    if (integer !== undefined) return this.#push({ type: "integer", value: BigInt(integer.replaceAll("_", "")) });
    const name = this.#take(NAME);
    if (name !== undefined) return this.#push({ type: "name", value: name });
    const text = this.#take(STRING);
    if (text !== undefined) return this.#push({ type: "string", value: unescape(text.slice(1, -1)) });
    const operator = this.#take(OPERATOR);
    if (operator === undefined) throw new JinjaError(`Unexpected char ${JSON.stringify(this.#source[this.#at])}`);
    if ("([{".includes(operator)) open.push(operator);
    const opening = CLOSING[operator];
    if (opening !== undefined && open.pop() !== opening) throw new JinjaError(`Unexpected '${operator}'`);
    this.#push({ type: "operator", value: operator });
  }

  #push(token: Token): void {
    this.#tokens.push(token);
  }

  #pushText(text: string): void {
    if (text !== "") this.#tokens.push({ type: "text", value: text });
  }

  #match(pattern: RegExp, at: number): string | undefined {
    pattern.lastIndex = at;
    return pattern.exec(this.#source)?.[0];
  }

  #take(pattern: RegExp): string | undefined {
    const text = this.#match(pattern, this.#at);
    if (text !== undefined) this.#at += text.length;
    return text;
  }

  #moveTo(at: number): void {
    this.#lineStarts = this.#source[at - 1] === "\n";
    this.#at = at;
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** Python's `unicode-escape`: what is no escape keeps its backslash. */
function unescape(text: string): string {
  const escapes = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|([^]))/g;
  return text.replace(escapes, (whole, ...parts) => {
    const [x, u, long, octal, other] = parts as (string | undefined)[];
    const hex = x ?? u ?? long;
    if (hex !== undefined) return toCharacter(parseInt(hex, 16));
    if (octal !== undefined) return toCharacter(parseInt(octal, 8));
    return ESCAPES[other ?? ""] ?? whole;
  });
}

function toCharacter(point: number): string {
  if (point > 0x10ffff) throw new JinjaError("Illegal Unicode character");
  return String.fromCodePoint(point);
}
