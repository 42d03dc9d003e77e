/**
 * LFM 2 and 2.5, calls as Python writes them:
 *
 * ```
 * <|tool_call_start|>[add_note(text="buy figs"), get_time()]<|tool_call_end|>
 * [add_note({"text": "buy figs"})]
 * [Calling tool: add_note(text="buy figs")]
 * ```
 *
 * The tokens may be missing around a list at the start of the answer. Values are Python literals; a positional argument
 * is no call unless it is one object with all of them.
 *
 * Source: chat templates of LiquidAI/LFM2-8B-A1B and LFM2.5-8B-A1B.
 *
 * @module
 */
import type { Tool } from "../../flow.ts";
import { JsonReader } from "../json_reader.ts";
import { ArgumentsReader } from "./arguments_reader.ts";
import { CallReader } from "./call_reader.ts";
import { needsArguments } from "./json_call.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

const OPEN = "<|tool_call_start|>";
const CLOSE = "<|tool_call_end|>";

/** Makes the parser of an answer. */
export function createLfm(context: ToolContext): ToolParser {
  return new ToolScanner(
    [
      { text: OPEN, place: "anywhere", read: () => new PythonListReader(context, "[", CLOSE) },
      { text: "[Calling tool:", place: "anywhere", read: () => new PythonListReader(context, "", "") },
      { text: "[", place: "answerStart", read: () => new PythonListReader(context, "", "") },
    ],
    [OPEN, CLOSE],
    context,
    [CLOSE],
  );
}

/** A list of calls, from before or behind its bracket on. */
class PythonListReader extends CallReader {
  readonly #context: ToolContext;
  readonly #bracket: string;
  readonly #close: string;
  #place: "start" | "name" | "call" | "behind" | "close" = "start";
  #call: PythonArguments | undefined;
  #calls = 0;
  #isDoubled = false;

  constructor(context: ToolContext, bracket: string, close: string) {
    super();
    this.#context = context;
    this.#bracket = bracket;
    this.#close = close;
  }

  protected step(): boolean {
    switch (this.#place) {
      case "start":
        return this.#begin();
      case "name":
        return this.#readName();
      case "call":
        if (this.#call === undefined || !this.pass(this.#call)) return false;
        this.#place = "behind";
        return true;
      case "behind":
        return this.#readBehind();
      case "close":
        return this.#readClose();
    }
  }

  #begin(): boolean {
    if (!this.skipSpace()) return false;
    if (this.#bracket !== "") {
      const next = this.peek(this.#bracket, OPEN);
      if (next === "wait") return false;
      if (next === OPEN && !this.#isDoubled) return this.#isDoubled = this.dropDoubled(OPEN);
      if (next === this.#bracket) this.take(next.length);
      else if (/^[\w.-]/.test(this.text)) this.repair("missing_bracket_added", this.#bracket);
      else return this.break("it is no list of calls");
    }
    this.#place = "name";
    return true;
  }

  #readName(): boolean {
    const header = /^\s*([\w.-]{1,256})\s*\(/.exec(this.text);
    if (header === null) {
      const mayCome = this.end === undefined && /^\s*[\w.-]{0,256}\s*$/.test(this.text);
      // A bracket alone, as of a link, was never meant to be a call.
      return mayCome ? false : this.break(this.#calls > 0 || this.#close !== "" ? "it names no tool" : "");
    }
    const name = header[1] ?? "";
    const tool = this.requireTool(this.#context.tools, name);
    if (tool === undefined) return false;
    this.take(header[0].length);
    this.#call = new PythonArguments(tool);
    this.#place = "call";
    return true;
  }

  /** A call stands when the comma or bracket behind it is there. */
  #readBehind(): boolean {
    if (!this.skipSpace()) return false;
    const sign = this.peek(",", "]", CLOSE);
    if (sign === "wait" || (sign === undefined && this.end === "cut")) return false;
    if (sign === undefined && this.text !== "") return this.break("its list is damaged");
    if (sign === "," || sign === "]") this.take(1);
    else this.repair("missing_bracket_added", "]");
    this.#calls++;
    this.emit({ type: "callEnd" });
    this.#place = sign === "," ? "name" : "close";
    return true;
  }

  #readClose(): boolean {
    if (this.#close === "") return this.finish();
    if (!this.skipSpace()) return false;
    const tag = this.peek(this.#close, "]");
    if (tag === "wait") return false;
    if (tag === "]") {
      this.take(tag.length);
      this.repair("bracket_too_many_dropped", tag);
      return true;
    }
    if (tag !== undefined) this.take(tag.length);
    else this.repair("missing_closing_tag", this.#close);
    return this.finish();
  }
}

/** Arguments of a call, from behind their bracket up to the closing one; gives no end of the call. */
class PythonArguments extends CallReader {
  readonly #tool: Tool;
  #place: "first" | "key" | "value" | "behind" | "object" | "close" = "first";
  readonly #seen = new Set<string>();
  #value = new JsonReader();
  #object: ArgumentsReader | undefined;

  constructor(tool: Tool) {
    super();
    this.#tool = tool;
  }

  protected step(): boolean {
    if (this.#place === "value") return this.#readValue();
    if (this.#place === "object") {
      if (this.#object === undefined || !this.readPart(this.#object)) return false;
      this.#place = "close";
      return true;
    }
    if (!this.skipSpace()) return false;
    if (this.#place === "key") return this.#readKey();
    if (this.text.startsWith(")")) return this.#end();
    if (this.#place === "first") return this.#begin();
    if (this.#place === "close" || !this.text.startsWith(",")) return this.break("its arguments are damaged");
    this.take(1);
    this.#place = "key";
    return true;
  }

  #begin(): boolean {
    if (this.text.startsWith("{")) {
      this.#object = new ArgumentsReader(this.#tool);
      this.#place = "object";
    } else this.#place = "key";
    return true;
  }

  #readKey(): boolean {
    // Python allows a comma behind the last one.
    if (this.text.startsWith(")") && this.#seen.size > 0) return this.#end();
    const key = /^([A-Za-z_]\w{0,255})\s*=(?!=)\s*(?=\S)/.exec(this.text);
    if (key === null) {
      const mayCome = this.end === undefined && /^[A-Za-z_]\w{0,255}\s*(?:=\s*)?$/.test(this.text);
      return mayCome ? false : this.break("an argument has no name");
    }
    const name = key[1] ?? "";
    if (this.#seen.has(name)) return this.break(`the argument ${JSON.stringify(name)} is there twice`);
    this.take(key[0].length);
    if (this.#seen.size === 0) this.emit({ type: "callStart", name: this.#tool.name });
    this.emit({ type: "callArguments", json: `${this.#seen.size === 0 ? "{" : ", "}${JSON.stringify(name)}: ` });
    this.#seen.add(name);
    this.#value = new JsonReader();
    this.#place = "value";
    return true;
  }

  #readValue(): boolean {
    const { json, next } = this.#value.push(this.text);
    this.take(next);
    if (json !== "") this.emit({ type: "callArguments", json });
    if (this.#value.state === "broken") return this.break("a value is no literal");
    if (this.#value.state === "open") return false;
    // Python's own spellings are what this dialect is written in.
    const named = this.#value.repairs.filter((name) => name !== "single_quotes" && name !== "python_literal");
    for (const name of named) this.repair(name);
    this.#place = "behind";
    return true;
  }

  #end(): boolean {
    if (this.#object === undefined) {
      if (this.#seen.size > 0) this.emit({ type: "callArguments", json: "}" });
      else if (needsArguments(this.#tool)) return this.break("it has no arguments");
      else this.emit({ type: "callStart", name: this.#tool.name }, { type: "callArguments", json: "{}" });
    }
    this.take(1);
    return this.finish();
  }
}
