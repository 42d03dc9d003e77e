/**
 * Arguments as Gemma 4 writes them, `{text:<|"|>buy figs<|"|>,tags:[<|"|>a<|"|>],done:false}`, → JSON as they arrive.
 *
 * Keys are bare, in `<|"|>` or in quotes; texts stand between two `<|"|>`, or in quotes as in JSON. A text ends at the
 * first `<|"|>` behind which the object or list can go on. Bare values are JSON's words and numbers, or what the
 * tool's schema makes of them.
 *
 * Source: chat template of google/gemma-4-31B-it (`format_argument`).
 *
 * @module
 */
import type { Tool } from "../../flow.ts";
import { heldTailStart } from "../held_tail.ts";
import { JsonReader } from "../json_reader.ts";
import type { PartReader } from "./call_reader.ts";
import { coerceValue } from "./parameter_value.ts";
import type { AnswerEnd, CallPiece } from "./parser.ts";

/** Gemma's quotation mark: one token. */
export const QUOTE = '<|"|>';

/** Nesting that arguments may have. */
const DEPTH_MAX = 128;

/** Longest key, and what is looked at behind a text to see whether it ends. */
const KEY_LENGTH_MAX = 256;

const KEY = /^\s*(?:<\|"\|>([^<]{1,256}?)<\|"\|>|("(?:[^"\\]|\\.){0,256}")|([^\s:,{}[\]<>"']{1,256}))\s*:/;
const PARTIAL_KEY =
  /^\s*(?:<(?:\|"?\|?>?)?|<\|"\|>[^<]{0,256}(?:<\|?"?\|?>?\s*)?|"(?:[^"\\]|\\.){0,256}\\?"?\s*|[^\s:,{}[\]<>"']{0,256}\s*)$/;
const BARE = /^[^,{}[\]<>":\n]{1,300}/;

type Place = "start" | "key" | "keyOrEnd" | "value" | "valueOrEnd" | "text" | "json" | "after";

/** Reads the object with a call's arguments. */
export class GemmaArguments implements PartReader {
  /** `open` until the object ends. */
  state: "open" | "done" | "broken" = "open";
  /** When broken: why. */
  reason = "";
  readonly #tool: Tool;
  readonly #closers: ("}" | "]")[] = [];
  readonly #keys: Set<string>[] = [];
  #pieces: CallPiece[] = [];
  #place: Place = "start";
  /** The key whose value is read, on the first level. */
  #key = "";
  #json = new JsonReader();
  #text = "";

  /** Reads arguments for a tool. */
  constructor(tool: Tool) {
    this.#tool = tool;
  }

  /** Reads on. All of the text counts as read while the object is open; what can't be told yet is kept here. */
  push(text: string): { pieces: CallPiece[]; next: number } {
    this.#text += text;
    while (this.state === "open" && this.#step(undefined));
    return { pieces: this.#take(), next: this.state === "open" ? text.length : text.length - this.#text.length };
  }

  /** The answer is over: brackets that are missing are added. */
  finish(end: AnswerEnd): CallPiece[] {
    if (end === "cut") {
      this.#break("the answer was cut inside it");
      return [];
    }
    while (this.state === "open" && this.#step(end));
    if (this.state === "open" && this.#place === "after" && this.#text.trim() === "") {
      this.#pieces.push({ type: "repair", name: "missing_bracket_added", detail: "" });
      while (this.#closers.length > 0) this.#close();
    } else if (this.state === "open") this.#break("its arguments end too early");
    return this.#take();
  }

  #take(): CallPiece[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #break(reason: string): false {
    this.state = "broken";
    this.reason = reason;
    return false;
  }

  #write(json: string): void {
    if (json !== "") this.#pieces.push({ type: "callArguments", json });
  }

  #step(end: AnswerEnd | undefined): boolean {
    if (this.#place === "text") return this.#readText(end);
    if (this.#place === "json") return this.#readJson(end);
    this.#text = this.#text.trimStart();
    const sign = this.#text.charAt(0);
    if (sign === "") return false;
    switch (this.#place) {
      case "start":
        this.#pieces.push({ type: "callStart", name: this.#tool.name });
        return this.#open("{");
      case "keyOrEnd":
        return sign === "}" ? this.#end() : this.#readKey(end);
      case "key":
        return this.#readKey(end);
      case "after":
        return this.#readSeparator(sign);
      default:
        return sign === "]" && this.#place === "valueOrEnd" ? this.#end() : this.#readValue(sign, end);
    }
  }

  #open(sign: "{" | "["): boolean {
    if (this.#closers.length >= DEPTH_MAX) return this.#break("its arguments are too deep");
    this.#text = this.#text.slice(1);
    this.#write(sign);
    this.#closers.push(sign === "{" ? "}" : "]");
    this.#keys.push(new Set());
    this.#place = sign === "{" ? "keyOrEnd" : "valueOrEnd";
    return true;
  }

  #end(): boolean {
    this.#text = this.#text.slice(1);
    this.#close();
    return true;
  }

  #close(): void {
    this.#write(this.#closers.pop() ?? "");
    this.#keys.pop();
    this.#place = "after";
    if (this.#closers.length === 0) this.state = "done";
  }

  #readKey(end: AnswerEnd | undefined): boolean {
    const found = KEY.exec(this.#text);
    if (found === null) {
      const mayCome = end === undefined && PARTIAL_KEY.test(this.#text);
      return mayCome ? false : this.#break("its arguments are damaged");
    }
    const key = toKey(found);
    const keys = this.#keys.at(-1);
    if (keys?.has(key) === true) return this.#break(`its arguments have ${JSON.stringify(key)} twice`);
    this.#write(`${keys?.size === 0 ? "" : ", "}${JSON.stringify(key)}: `);
    keys?.add(key);
    if (this.#closers.length === 1) this.#key = key;
    this.#text = this.#text.slice(found[0].length);
    this.#place = "value";
    return true;
  }

  #readSeparator(sign: string): boolean {
    const closer = this.#closers.at(-1);
    if (sign === closer) return this.#end();
    if (sign !== ",") return this.#break("its arguments are damaged");
    this.#text = this.#text.slice(1);
    if (closer === "]") this.#write(", ");
    this.#place = closer === "}" ? "key" : "value";
    return true;
  }

  #readValue(sign: string, end: AnswerEnd | undefined): boolean {
    if (sign === "{" || sign === "[") return this.#open(sign);
    if (this.#text.startsWith(QUOTE)) {
      this.#text = this.#text.slice(QUOTE.length);
      this.#write('"');
      this.#place = "text";
      return true;
    }
    if (end === undefined && QUOTE.startsWith(this.#text)) return false;
    if (sign === '"' || sign === "'") {
      this.#json = new JsonReader();
      this.#place = "json";
      return true;
    }
    const bare = BARE.exec(this.#text)?.[0] ?? "";
    const behind = this.#text.slice(bare.length).trimStart();
    if (behind === "" && end === undefined) return false;
    const next = behind.charAt(0);
    if (bare === "" || !(next === "" || next === "," || next === this.#closers.at(-1))) {
      return this.#break("its arguments are damaged");
    }
    const { json, fits } = coerceValue(bare.trim(), this.#closers.length === 1 ? this.#tool : undefined, this.#key);
    if (json.startsWith('"') && next === ",") {
      // The comma may be the text's own, unless a parameter follows that the tool has.
      const verdict = this.#declares(behind.slice(1), end);
      if (verdict !== "yes") return verdict === "wait" ? false : this.#break("a text has no marks around it");
    }
    this.#text = this.#text.slice(bare.length);
    if (!fits) this.#pieces.push({ type: "repair", name: "argument_not_of_declared_type", detail: this.#key });
    else if (json.startsWith('"')) this.#pieces.push({ type: "repair", name: "bare_text_quoted", detail: bare });
    this.#write(json);
    this.#place = "after";
    return true;
  }

  /** Whether a parameter that the tool has comes next. */
  #declares(text: string, end: AnswerEnd | undefined): "yes" | "no" | "wait" {
    const properties = this.#tool.parameters?.["properties"];
    if (this.#closers.length > 1 || typeof properties !== "object" || properties === null) return "no";
    const key = KEY.exec(text);
    if (key !== null) return Object.hasOwn(properties, toKey(key)) ? "yes" : "no";
    return end === undefined && text.length <= KEY_LENGTH_MAX + 16 && PARTIAL_KEY.test(text) ? "wait" : "no";
  }

  /** A text in JSON's quotes. */
  #readJson(end: AnswerEnd | undefined): boolean {
    const { json, next } = this.#json.push(this.#text);
    this.#text = this.#text.slice(next);
    this.#write(json);
    if (this.#json.state === "done") {
      this.#place = "after";
      return true;
    }
    return this.#json.state === "broken" || end !== undefined ? this.#break("its arguments are damaged") : false;
  }

  /** A text up to the first mark that can end it. */
  #readText(end: AnswerEnd | undefined): boolean {
    for (let at = this.#text.indexOf(QUOTE); at >= 0; at = this.#text.indexOf(QUOTE, at + 1)) {
      const verdict = this.#mayEnd(this.#text.slice(at + QUOTE.length), end);
      if (verdict === "no") continue;
      this.#writeText(at);
      if (verdict === "wait") return false;
      this.#text = this.#text.slice(QUOTE.length);
      this.#write('"');
      this.#place = "after";
      return true;
    }
    this.#writeText(heldTailStart(this.#text, [QUOTE]));
    return false;
  }

  #writeText(length: number): void {
    this.#write(JSON.stringify(this.#text.slice(0, length)).slice(1, -1));
    this.#text = this.#text.slice(length);
  }

  /** Whether the object or list can go on with what stands behind a text. */
  #mayEnd(rest: string, end: AnswerEnd | undefined): "yes" | "no" | "wait" {
    const text = rest.trimStart();
    if (text === "") return end === undefined ? "wait" : "yes";
    const closer = this.#closers.at(-1) ?? "}";
    if (text.startsWith(closer)) return "yes";
    if (!text.startsWith(",")) return "no";
    const behind = text.slice(1);
    if (closer === "]") return "yes";
    if (KEY.test(behind)) return "yes";
    return end === undefined && behind.length <= KEY_LENGTH_MAX + 16 && PARTIAL_KEY.test(behind) ? "wait" : "no";
  }
}

/** A key in whichever way it was written; in quotes with JSON's escapes, where they are JSON's. */
function toKey([, marked, quoted, bare]: RegExpExecArray): string {
  if (quoted === undefined) return marked ?? bare ?? "";
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}
