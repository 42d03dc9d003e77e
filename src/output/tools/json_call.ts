/**
 * A call as a JSON object, `{"name": "add_note", "arguments": {"text": "buy figs"}}`: shared by hermes, mistral, llama
 * and the other dialects that wrap such an object.
 *
 * The call starts when its name is known to be declared and its arguments begin; arguments that come before the name
 * wait for it. Arguments may be an object, or a string that holds one (doubly encoded), or absent where the tool needs
 * none. Anything else is no call.
 *
 * @module
 */
import type { Tool } from "../../flow.ts";
import { JsonReader } from "../json_reader.ts";
import { decodeArguments } from "./arguments_reader.ts";
import type { PartReader } from "./call_reader.ts";
import { findTool } from "./find_tool.ts";
import type { AnswerEnd, CallPiece } from "./parser.ts";

/** Spellings of the members. */
export interface CallKeys {
  /** Of the tool's name. */
  name: readonly string[];
  /** Of the arguments. */
  arguments: readonly string[];
  /** Of an id that the model gives, if the dialect has one. */
  id?: readonly string[];
  /** Another member means that it is no call, known at once: for objects without any mark around them. */
  only?: boolean;
  /** Members that say nothing if they are "function": `"type": "function"`. */
  skip?: readonly string[];
}

/** What nearly all dialects use; models mix the two words for arguments. */
export const CALL_KEYS: CallKeys = { name: ["name"], arguments: ["arguments", "parameters"], skip: ["type"] };

/** Whether a call without arguments can be meant. */
export function needsArguments(tool: Tool): boolean {
  const required = tool.parameters?.["required"];
  return Array.isArray(required) && required.length > 0;
}

type Member = "name" | "arguments" | "id" | "skip" | "other";

/** Reads one such object. */
export class JsonCallReader implements PartReader {
  /** `open` until the object ends. */
  state: "open" | "done" | "broken" = "open";
  /** When broken: why. */
  reason = "";
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #keys: CallKeys;
  #pieces: CallPiece[] = [];
  #place: "start" | "key" | "firstKey" | "colon" | "value" | "after" = "start";
  #json = new JsonReader();
  /** Text of the key or value that is being read. */
  #text = "";
  #member: Member = "other";
  #key = "";
  #tool: Tool | undefined;
  #id: string | undefined;
  /** Arguments that came before the name. */
  #early: string | undefined;
  #started = false;
  #seen = new Set<Member>();

  /** Reads a call of one of some tools. */
  constructor(tools: ReadonlyMap<string, Tool>, keys: CallKeys = CALL_KEYS) {
    this.#tools = tools;
    this.#keys = keys;
  }

  /** Reads until the object ends; gives pieces and the offset of the first unread character. */
  push(text: string): { pieces: CallPiece[]; next: number } {
    let at = 0;
    while (at < text.length && this.state === "open") at = this.#step(text, at);
    return { pieces: this.#take(), next: at };
  }

  /** The text is over: what is missing is added if that is unambiguous. */
  finish(end: AnswerEnd): CallPiece[] {
    if (this.state !== "open") return [];
    if (end === "cut") this.#break("the answer was cut inside it");
    else if (this.#place === "value") {
      const json = this.#json.finish();
      this.#addValue(json);
      if (this.#json.state === "done") this.#endValue();
      else this.#break("its JSON ends too early");
    }
    if (this.state === "open") {
      const whole = this.#place === "after" && (this.#started || this.#early !== undefined);
      if (whole) {
        this.#repair("missing_bracket_added");
        this.#endObject();
      } else this.#break("its JSON ends too early");
    }
    return this.#take();
  }

  #take(): CallPiece[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #repair(name: string, detail = ""): void {
    this.#pieces.push({ type: "repair", name, detail });
  }

  #break(reason: string): void {
    this.state = "broken";
    this.reason = reason;
  }

  #step(text: string, at: number): number {
    if (this.#place === "key" || this.#place === "value") return this.#readPart(text, at);
    const sign = text.charAt(at);
    if (/[ \t\n\r]/.test(sign)) return at + 1;
    switch (this.#place) {
      case "start":
        if (sign !== "{") this.#break("it is no JSON object");
        this.#place = "firstKey";
        return at + 1;
      case "firstKey":
        if (sign !== "}") {
          this.#beginPart("key");
          return at;
        }
        if (this.#seen.size > 0) this.#repair("trailing_comma_dropped");
        this.#endObject();
        return at + 1;
      case "colon":
        if (sign !== ":") this.#break("its JSON is damaged");
        else this.#beginPart("value");
        return at + 1;
      default:
        return this.#readSeparator(sign, at);
    }
  }

  #readSeparator(sign: string, at: number): number {
    if (sign === ",") this.#place = "firstKey";
    else if (sign === "}") this.#endObject();
    else this.#break("its JSON is damaged");
    return at + 1;
  }

  #beginPart(place: "key" | "value"): void {
    this.#place = place;
    this.#json = new JsonReader(place === "key" ? "key" : "value");
    this.#text = "";
  }

  #readPart(text: string, at: number): number {
    const { json, next } = this.#json.push(text, at);
    if (this.#place === "key") this.#text += json;
    else this.#addValue(json);
    if (this.#json.state === "broken") this.#break("its JSON is damaged");
    if (this.#json.state === "done" && this.state === "open") {
      if (this.#place === "key") this.#endKey();
      else this.#endValue();
    }
    return next;
  }

  #endKey(): void {
    this.#nameRepairs();
    this.#key = JSON.parse(this.#text) as string;
    const { name, id, skip } = this.#keys;
    this.#member = name.includes(this.#key)
      ? "name"
      : this.#keys.arguments.includes(this.#key)
      ? "arguments"
      : id?.includes(this.#key) === true
      ? "id"
      : skip?.includes(this.#key) === true
      ? "skip"
      : "other";
    if (this.#member === "other" && this.#keys.only === true) this.#break(`it has a member ${this.#text}`);
    if (this.#member !== "other" && this.#member !== "skip" && this.#seen.has(this.#member)) {
      this.#break(`it has two ${this.#member}s`);
    }
    this.#seen.add(this.#member);
    this.#place = "colon";
  }

  #addValue(json: string): void {
    if (this.#member === "arguments" && this.#started) {
      if (json !== "") this.#pieces.push({ type: "callArguments", json });
      return;
    }
    this.#text += this.#text === "" ? json.trimStart() : json;
    const begins = this.#member === "arguments" && this.#tool !== undefined && this.#text.startsWith("{");
    if (begins) this.#start(this.#text);
  }

  #start(json: string): void {
    this.#started = true;
    const id = this.#id === undefined ? {} : { id: this.#id };
    this.#pieces.push({ type: "callStart", name: this.#tool?.name ?? "", ...id }, { type: "callArguments", json });
    this.#text = "";
  }

  #endValue(): void {
    this.#nameRepairs();
    this.#place = "after";
    const text = this.#text.trim();
    switch (this.#member) {
      case "name":
        return this.#endName(JSON.parse(text));
      case "arguments":
        if (text !== "") this.#endArguments(text);
        return;
      case "id":
        // Behind the arguments it comes too late: the call has begun under another one.
        if (this.#started) this.#repair("call_id_replaced", text);
        else if (text.startsWith('"')) this.#id = JSON.parse(text) as string;
        return;
      case "skip":
        if (text === '"function"') return;
        if (this.#keys.only === true) return this.#break(`its ${this.#key} is ${text}`);
      // falls through
      case "other":
        this.#repair("unknown_member_dropped", `${JSON.stringify(this.#key)}: ${text}`);
    }
  }

  #endName(name: unknown): void {
    if (typeof name !== "string") return this.#break("its name is no text");
    const found = findTool(this.#tools, name);
    if (found === undefined) return this.#break(`${JSON.stringify(name)} is no declared tool`);
    if (found.prefixed) this.#repair("name_prefix_dropped", name);
    this.#tool = found.tool;
    if (this.#early !== undefined) this.#start(this.#early);
  }

  /** Arguments that have not been given on as they came: they wait for the name, or are no object. */
  #endArguments(text: string): void {
    if (text === "null") {
      this.#seen.delete("arguments");
      return;
    }
    const json = text.startsWith("{") ? text : decodeArguments(text);
    if (json === undefined) return this.#break("its arguments are no object");
    if (json !== text) this.#repair("doubly_encoded_arguments");
    if (this.#tool === undefined) this.#early = json;
    else this.#start(json);
  }

  #endObject(): void {
    if (this.#tool === undefined) return this.#break("it names no tool");
    if (!this.#started) {
      if (this.#early === undefined && needsArguments(this.#tool)) return this.#break("it has no arguments");
      this.#start(this.#early ?? "{}");
    }
    this.state = "done";
  }

  #nameRepairs(): void {
    for (const repair of this.#json.repairs) this.#repair(repair);
  }
}
