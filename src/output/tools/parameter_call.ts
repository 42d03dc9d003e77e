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
import { coerceValue, isDeclared, isTextParameter } from "./parameter_value.ts";

/** How a dialect spells its tags. */
export interface ParameterTags {
  /** Before and after a parameter's name, e.g. `<parameter=` and `>`. */
  openParameter: readonly [string, string];
  /** Other spellings of what stands before the name. */
  openParameterToo?: readonly string[];
  /** After its value. */
  closeParameter: string;
  /** Other spellings of that; whichever began the parameter, each ends it. */
  closeParameterToo?: readonly string[];
  /** After the last parameter. */
  closeFunction: string;
  /** Other spellings of that. */
  closeFunctionToo?: readonly string[];
  /** After the whole call, if it is wrapped; "" if it is not. */
  closeCall: string;
  /** What may begin the next call, where the end of this one is missing. */
  openers: readonly string[];
  /** Where the call is not wrapped: what must follow the function's end, if not the answer's. Absent: anything may. */
  mustFollow?: readonly string[];
  /** Between a parameter's name and its value. */
  beforeValue?: string;
  /** Around the name of a value's type, which may stand between name and value. It counts where no schema says it. */
  valueType?: readonly [string, string];
  /** Values stand right between their tags; absent: the line ends around one belong to the tags. */
  exact?: boolean;
  /** Values may stand in `<![CDATA[…]]>`. */
  cdata?: boolean;
  /** What stands between the two parts of `openParameter`; absent: a name, perhaps in quotes. */
  readName?: (raw: string) => ParameterName;
}

/** A parameter's name, and whether its value is text or JSON if the tag says so. */
export interface ParameterName {
  /** "": there is none. */
  name: string;
  /** Absent: the schema says it. */
  kind?: "text" | "json";
}

const CDATA = "<![CDATA[";
const CDATA_END = "]]>";

/** Longest name that is waited for. */
const NAME_LENGTH_MAX = 256;

/** Longest name of a type that is waited for. */
const TYPE_LENGTH_MAX = 64;

/** Names of types in calls, and how a value of one is read. */
const TYPES: Readonly<Record<string, "text" | "json">> = {
  ...Object.fromEntries(["str", "string", "text"].map((name) => [name, "text" as const])),
  ...Object.fromEntries(
    ["int", "integer", "float", "number", "bool", "boolean", "null", "dict", "list", "object", "array"]
      .map((name) => [name, "json" as const]),
  ),
};

type Place = "between" | "parameterName" | "beforeValue" | "value" | "end";

/** Reads from behind the tool's name on. */
export class ParameterCallReader extends CallReader {
  readonly #tags: ParameterTags;
  readonly #tool: Tool;
  #place: Place = "between";
  #parameter: ParameterName = { name: "" };
  /** The value's closing tags, with the end of its CDATA section if it is in one. */
  #closes: readonly string[];
  readonly #openers: readonly string[];
  readonly #closers: readonly string[];
  readonly #seen = new Set<string>();
  /** Of a value that is text: how much of it is written; of others: nothing. */
  #value = "";
  #valueStarted = false;

  /** Reads a call of a tool. */
  constructor(tool: Tool, tags: ParameterTags) {
    super();
    this.#tool = tool;
    this.#tags = tags;
    this.#closes = parameterCloses(tags);
    this.#openers = [tags.openParameter[0], ...tags.openParameterToo ?? []];
    this.#closers = [tags.closeFunction, ...tags.closeFunctionToo ?? []];
  }

  /** Reads a tag, a part of a value or the end. */
  protected step(): boolean {
    switch (this.#place) {
      case "between":
        return this.#readBetween();
      case "parameterName":
        return this.#readParameterName();
      case "beforeValue":
        return this.#readBeforeValue();
      case "value":
        return this.#readValue();
      case "end":
        return this.#readEnd();
    }
  }

  #readBetween(): boolean {
    if (!this.skipSpace()) return false;
    const tag = this.peek(...this.#openers, ...this.#closers);
    if (tag === "wait") return false;
    if (tag !== undefined && this.#openers.includes(tag)) {
      this.take(tag.length);
      this.#place = "parameterName";
      return true;
    }
    if (this.text === "" && this.end === "natural" && this.#seen.size > 0) {
      this.repair("missing_closing_tag", this.#tags.closeFunction);
      this.#place = "end";
      return true;
    }
    if (tag === undefined) return this.break("between its parameters stands something else");
    this.take(tag.length);
    this.#place = "end";
    return true;
  }

  #readParameterName(): boolean {
    const end = this.#tags.openParameter[1];
    const at = this.find(end, NAME_LENGTH_MAX);
    if (at === "wait") return false;
    if (at === undefined) return this.break("a parameter has no name");
    const parameter = this.#readName(this.take(at));
    this.take(end.length);
    const { name } = parameter;
    if (name === "" || this.#seen.has(name)) return this.break(`the parameter ${JSON.stringify(name)} is there twice`);
    if (this.#seen.size === 0) this.emit({ type: "callStart", name: this.#tool.name });
    this.emit({ type: "callArguments", json: `${this.#seen.size === 0 ? "{" : ", "}${JSON.stringify(name)}: ` });
    this.#seen.add(name);
    this.#parameter = parameter;
    this.#value = "";
    this.#valueStarted = false;
    this.#closes = parameterCloses(this.#tags);
    this.#place = "beforeValue";
    return true;
  }

  #readName(raw: string): ParameterName {
    return this.#tags.readName?.(raw) ?? { name: raw.trim().replace(/^(["'])(.*)\1$/s, "$2") };
  }

  /** A tag of the value's own, and the beginning of a CDATA section. */
  #readBeforeValue(): boolean {
    const { beforeValue, cdata, valueType } = this.#tags;
    if (valueType !== undefined) {
      const read = this.#readType(valueType, beforeValue ?? "");
      if (read !== undefined) return read;
    }
    if (beforeValue !== undefined) {
      if (!this.skipSpace()) return false;
      const tag = this.peek(beforeValue);
      if (tag === "wait") return false;
      if (tag === undefined) return this.break("a parameter has no value");
      this.take(tag.length);
    }
    this.#place = "value";
    if (cdata !== true) return true;
    const section = this.peek(CDATA);
    if (section === "wait") {
      this.#place = "beforeValue";
      return false;
    }
    if (section === CDATA) {
      this.take(CDATA.length);
      this.#closes = parameterCloses(this.#tags).map((close) => CDATA_END + close);
    }
    return true;
  }

  /** The name of the value's type, if it is there. Undefined: it is not, or not any more. */
  #readType([open, close]: readonly [string, string], beforeValue: string): boolean | undefined {
    if (!this.skipSpace()) return false;
    const tag = this.peek(open, beforeValue);
    if (tag === "wait") return false;
    if (tag !== open) return undefined;
    const at = this.find(close, open.length + TYPE_LENGTH_MAX);
    if (at === "wait") return false;
    if (at === undefined) return this.break("a value's type has no end");
    const written = this.take(at).slice(open.length).trim();
    const type = written.toLowerCase();
    this.take(close.length);
    const kind = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
    const isFree = !isDeclared(this.#tool, this.#parameter.name);
    if (kind !== undefined && isFree) this.#parameter = { ...this.#parameter, kind };
    else if (kind === undefined || kind === "text" !== this.#isText()) this.repair("value_type_ignored", written);
    return true;
  }

  /** A value up to the first closing tag that can be one. */
  #readValue(): boolean {
    for (let found = this.#findClose(0); found !== undefined; found = this.#findClose(found.at + 1)) {
      const { at, close } = found;
      const verdict = this.#mayFollow(at + close.length);
      if (verdict === "wait") return this.#giveValue(at);
      if (verdict === "no") continue;
      const value = this.take(at);
      this.#addValue(this.#tags.exact === true ? value : value.replace(/\n$/, ""));
      this.take(close.length);
      this.#endValue();
      this.#place = "between";
      return true;
    }
    if (this.end !== undefined) return false;
    return this.#giveValue(heldTailStart(this.text, this.#closes));
  }

  /** The first closing tag of a value from an offset on. */
  #findClose(from: number): { at: number; close: string } | undefined {
    let first: { at: number; close: string } | undefined;
    for (const close of this.#closes) {
      const at = this.text.indexOf(close, from);
      if (at >= 0 && (first === undefined || at < first.at)) first = { at, close };
    }
    return first;
  }

  /** Adds the part of a value that no closing tag can be in, but for a last line end, which belongs to the tag. */
  #giveValue(border: number): false {
    const isTags = this.#tags.exact !== true && this.text.charAt(border - 1) === "\n";
    const safe = isTags ? border - 1 : border;
    this.#addValue(this.take(safe));
    return false;
  }

  /** Whether what stands behind a closing tag can go on the call. */
  #mayFollow(at: number): "yes" | "no" | "wait" {
    const rest = this.text.slice(at).trimStart();
    const closer = this.#closers.find((tag) => rest.startsWith(tag));
    if (closer !== undefined) return this.#mayEnd(rest.slice(closer.length).trimStart());
    const opener = this.#openers.find((tag) => rest.startsWith(tag));
    if (opener !== undefined) {
      const behindName = this.#tags.openParameter[1];
      const end = rest.indexOf(behindName, opener.length);
      const most = opener.length + NAME_LENGTH_MAX;
      if (end < 0) return this.end === undefined && rest.length <= most + behindName.length ? "wait" : "no";
      if (end > most) return "no";
      return this.#isOpen(this.#readName(rest.slice(opener.length, end)).name) ? "yes" : "no";
    }
    if (this.end !== undefined) return rest === "" && this.end === "natural" ? "yes" : "no";
    return [...this.#closers, ...this.#openers].some((tag) => tag.startsWith(rest)) ? "wait" : "no";
  }

  /** Whether the call can end where this follows its function's end. */
  #mayEnd(rest: string): "yes" | "no" | "wait" {
    const { closeCall, openers, mustFollow } = this.#tags;
    const followers = closeCall !== "" ? [closeCall, ...openers] : mustFollow;
    if (followers === undefined || followers.some((tag) => tag !== "" && rest.startsWith(tag))) return "yes";
    if (rest === "") return this.end === undefined ? "wait" : this.end === "natural" ? "yes" : "no";
    return this.end === undefined && followers.some((tag) => tag.startsWith(rest)) ? "wait" : "no";
  }

  /** Whether a parameter may come now: not twice, and declared where the schema lists all. */
  #isOpen(name: string): boolean {
    if (name === "" || this.#seen.has(name)) return false;
    const properties = this.#tool.parameters?.["properties"];
    if (typeof properties !== "object" || properties === null) return true;
    return Object.hasOwn(properties, name) || this.#tool.parameters?.["additionalProperties"] !== false;
  }

  /** Whether the value can only be text, so that it is given on as it comes. */
  #isText(): boolean {
    const { name, kind } = this.#parameter;
    return kind === undefined ? isTextParameter(this.#tool, name) : kind === "text";
  }

  #addValue(text: string): void {
    if (text === "") return;
    if (!this.#isText()) {
      this.#value += text;
      return;
    }
    // The template puts a line end before and after a value.
    const shown = this.#valueStarted || this.#tags.exact === true ? text : text.replace(/^\n/, "");
    this.emit({ type: "callArguments", json: (this.#valueStarted ? "" : '"') + JSON.stringify(shown).slice(1, -1) });
    this.#valueStarted = true;
  }

  #endValue(): void {
    if (!this.#isText()) {
      const raw = this.#tags.exact === true ? this.#value : this.#value.replace(/^\n/, "").replace(/\n$/, "");
      const { name, kind } = this.#parameter;
      const { json, fits } = coerceValue(raw, kind === "json" ? undefined : this.#tool, name);
      if (!fits) this.repair("argument_not_of_declared_type", name);
      this.emit({ type: "callArguments", json });
    } else this.emit({ type: "callArguments", json: this.#valueStarted ? '"' : '""' });
  }

  #readEnd(): boolean {
    const { closeCall, openers } = this.#tags;
    // White space behind a call that is not wrapped is not its own.
    if (closeCall !== "" && !this.skipSpace()) return false;
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

function parameterCloses({ closeParameter, closeParameterToo = [] }: ParameterTags): string[] {
  return [closeParameter, ...closeParameterToo];
}
