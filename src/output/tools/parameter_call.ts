/**
 * A call as tags around raw values: `<function=add_note><parameter=text>buy figs</parameter></function>`. Shared by the
 * dialects of that shape, which differ in how the tags are spelled.
 *
 * A value is raw text, so it may hold its own closing tag. A closing tag ends a value only where what follows is a
 * legal continuation: the next parameter, or the end of the function and then of the whole call. What the type of a
 * value is says the tool's schema: text stays text and arrives as it is written, other kinds are read when they are
 * whole.
 *
 * @module
 */
import type { Tool } from "../../flow.ts";
import { heldTailStart } from "../held_tail.ts";
import { CallReader } from "./call_reader.ts";
import { needsArguments } from "./json_call.ts";
import { coerceValue, isTextParameter } from "./parameter_value.ts";

/** How a dialect spells its tags. */
export interface ParameterTags {
  /** Before and after a parameter's name, e.g. `<parameter=` and `>`. */
  openParameter: readonly [string, string];
  /** After its value. */
  closeParameter: string;
  /** After the last parameter. */
  closeFunction: string;
  /** After the whole call, if it is wrapped; "" if it is not. */
  closeCall: string;
  /** What may begin the next call, where the end of this one is missing. */
  openers: readonly string[];
}

/** Longest name that is waited for. */
const NAME_LENGTH_MAX = 256;

type Place = "between" | "parameterName" | "value" | "end";

/** Reads from behind the tool's name on. */
export class ParameterCallReader extends CallReader {
  readonly #tags: ParameterTags;
  readonly #tool: Tool;
  #place: Place = "between";
  #parameter = "";
  readonly #seen = new Set<string>();
  /** Of a value that is text: how much of it is written; of others: nothing. */
  #value = "";
  #valueStarted = false;

  /** Reads a call of a tool. */
  constructor(tool: Tool, tags: ParameterTags) {
    super();
    this.#tool = tool;
    this.#tags = tags;
  }

  /** Reads a tag, a part of a value or the end. */
  protected step(): boolean {
    switch (this.#place) {
      case "between":
        return this.#readBetween();
      case "parameterName":
        return this.#readParameterName();
      case "value":
        return this.#readValue();
      case "end":
        return this.#readEnd();
    }
  }

  #readBetween(): boolean {
    if (!this.skipSpace()) return false;
    const { openParameter, closeFunction } = this.#tags;
    const tag = this.peek(openParameter[0], closeFunction);
    if (tag === "wait") return false;
    if (tag === openParameter[0]) {
      this.take(tag.length);
      this.#place = "parameterName";
      return true;
    }
    if (this.text === "" && this.end === "natural" && this.#seen.size > 0) {
      this.repair("missing_closing_tag", closeFunction);
      this.#place = "end";
      return true;
    }
    if (tag !== closeFunction) return this.break("between its parameters stands something else");
    this.take(tag.length);
    this.#place = "end";
    return true;
  }

  #readParameterName(): boolean {
    const end = this.#tags.openParameter[1];
    const at = this.text.indexOf(end);
    if (at < 0) return this.text.length > NAME_LENGTH_MAX ? this.break("a parameter has no name") : false;
    const name = this.take(at).trim();
    this.take(end.length);
    if (name === "" || this.#seen.has(name)) return this.break(`the parameter ${JSON.stringify(name)} is there twice`);
    if (this.#seen.size === 0) this.emit({ type: "callStart", name: this.#tool.name });
    this.emit({ type: "callArguments", json: `${this.#seen.size === 0 ? "{" : ", "}${JSON.stringify(name)}: ` });
    this.#seen.add(name);
    this.#parameter = name;
    this.#value = "";
    this.#valueStarted = false;
    this.#place = "value";
    return true;
  }

  /** A value up to the first closing tag that can be one. */
  #readValue(): boolean {
    const { closeParameter } = this.#tags;
    for (let at = this.text.indexOf(closeParameter); at >= 0; at = this.text.indexOf(closeParameter, at + 1)) {
      const verdict = this.#mayFollow(at + closeParameter.length);
      if (verdict === "wait") return this.#giveValue(at);
      if (verdict === "no") continue;
      this.#addValue(this.take(at).replace(/\n$/, ""));
      this.take(closeParameter.length);
      this.#endValue();
      this.#place = "between";
      return true;
    }
    if (this.end !== undefined) return false;
    return this.#giveValue(heldTailStart(this.text, [closeParameter]));
  }

  /** Adds the part of a value that no closing tag can be in, but for a last line end, which belongs to the tag. */
  #giveValue(border: number): false {
    const safe = this.text.charAt(border - 1) === "\n" ? border - 1 : border;
    this.#addValue(this.take(safe));
    return false;
  }

  /** Whether what stands behind a closing tag can go on the call. */
  #mayFollow(at: number): "yes" | "no" | "wait" {
    const { openParameter, closeFunction } = this.#tags;
    const rest = this.text.slice(at).trimStart();
    if (rest.startsWith(closeFunction)) return this.#mayEnd(rest.slice(closeFunction.length).trimStart());
    if (rest.startsWith(openParameter[0])) {
      const end = rest.indexOf(openParameter[1], openParameter[0].length);
      if (end < 0) return this.end === undefined && rest.length < NAME_LENGTH_MAX ? "wait" : "no";
      const name = rest.slice(openParameter[0].length, end).trim();
      return this.#isOpen(name) ? "yes" : "no";
    }
    if (this.end !== undefined) return rest === "" && this.end === "natural" ? "yes" : "no";
    return [closeFunction, openParameter[0]].some((tag) => tag.startsWith(rest)) ? "wait" : "no";
  }

  /** Whether the call can end where this follows its function's end. */
  #mayEnd(rest: string): "yes" | "no" | "wait" {
    const { closeCall, openers } = this.#tags;
    if (closeCall === "" || rest.startsWith(closeCall)) return "yes";
    if (rest === "") return this.end === undefined ? "wait" : this.end === "natural" ? "yes" : "no";
    if (openers.some((opener) => rest.startsWith(opener))) return "yes";
    const unsure = this.end === undefined && [closeCall, ...openers].some((tag) => tag.startsWith(rest));
    return unsure ? "wait" : "no";
  }

  /** Whether a parameter may come now: not twice, and declared where the schema lists all. */
  #isOpen(name: string): boolean {
    if (name === "" || this.#seen.has(name)) return false;
    const properties = this.#tool.parameters?.["properties"];
    if (typeof properties !== "object" || properties === null) return true;
    return Object.hasOwn(properties, name) || this.#tool.parameters?.["additionalProperties"] !== false;
  }

  #addValue(text: string): void {
    if (text === "") return;
    if (!isTextParameter(this.#tool, this.#parameter)) {
      this.#value += text;
      return;
    }
    // The template puts a line end before and after a value.
    const shown = this.#valueStarted ? text : text.replace(/^\n/, "");
    this.emit({ type: "callArguments", json: (this.#valueStarted ? "" : '"') + JSON.stringify(shown).slice(1, -1) });
    this.#valueStarted = true;
  }

  #endValue(): void {
    if (!isTextParameter(this.#tool, this.#parameter)) {
      const raw = this.#value.replace(/^\n/, "").replace(/\n$/, "");
      const { json, fits } = coerceValue(raw, this.#tool, this.#parameter);
      if (!fits) this.repair("argument_not_of_declared_type", this.#parameter);
      this.emit({ type: "callArguments", json });
    } else this.emit({ type: "callArguments", json: this.#valueStarted ? '"' : '""' });
  }

  #readEnd(): boolean {
    if (!this.skipSpace()) return false;
    const { closeCall, openers } = this.#tags;
    const tag = closeCall === "" ? undefined : this.peek(closeCall, ...openers);
    if (tag === "wait") return false;
    if (closeCall !== "" && this.end === "cut" && tag !== closeCall) return false;
    if (tag === closeCall && tag !== undefined) this.take(tag.length);
    else if (closeCall !== "") this.repair("missing_closing_tag", closeCall);
    if (this.#seen.size === 0) {
      if (needsArguments(this.#tool)) return this.break("it has no arguments");
      this.emit({ type: "callStart", name: this.#tool.name }, { type: "callArguments", json: "{}" });
    } else this.emit({ type: "callArguments", json: "}" });
    this.emit({ type: "callEnd" });
    return this.finish();
  }
}
