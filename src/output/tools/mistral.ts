/**
 * Mistral, in its three shapes:
 *
 * ```
 * [TOOL_CALLS][{"name": "add_note", "arguments": {"text": "buy figs"}, "id": "a1B2c3D4e"}]
 * [TOOL_CALLS]add_note[ARGS]{"text": "buy figs"}
 * [TOOL_CALLS]add_note{"text": "buy figs"}
 * ```
 *
 * The first is the list of tokenizers up to v7, the others those of v11 and v13, one marker a call; `[CALL_ID]…` may
 * stand before `[ARGS]`. Ids are nine letters and digits.
 *
 * Source: mistral-common `tokens/tokenizers/instruct.py`; chat templates of Mistral-7B-Instruct-v0.3,
 * Devstral-Small-2507.
 *
 * @module
 */
import type { Tool } from "../../flow.ts";
import { ArgumentsReader } from "./arguments_reader.ts";
import { CallReader } from "./call_reader.ts";
import { CALL_KEYS, findTool, JsonCallReader } from "./json_call.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

const OPEN = "[TOOL_CALLS]";
const ARGUMENTS = "[ARGS]";
const CALL_ID = "[CALL_ID]";

/** Makes the parser of an answer. */
export function createMistral(context: ToolContext): ToolParser {
  return new ToolScanner(
    [{ text: OPEN, place: "anywhere", read: () => new MistralReader(context) }],
    [OPEN, ARGUMENTS, CALL_ID],
    context,
  );
}

/** What follows the marker. */
class MistralReader extends CallReader {
  readonly #context: ToolContext;
  #place: "start" | "item" | "inItem" | "behindItem" | "arguments" | "end" = "start";
  #item: JsonCallReader;
  #arguments: ArgumentsReader | undefined;
  #calls = 0;

  constructor(context: ToolContext) {
    super();
    this.#context = context;
    this.#item = this.#newItem();
  }

  #newItem(): JsonCallReader {
    return new JsonCallReader(this.#context.tools, { ...CALL_KEYS, id: ["id"] });
  }

  protected step(): boolean {
    switch (this.#place) {
      case "start":
        return this.#begin();
      case "item":
        return this.#beginItem();
      case "inItem":
        if (!this.readPart(this.#item)) return false;
        this.#place = "behindItem";
        return true;
      case "behindItem":
        return this.#readSeparator();
      case "arguments":
        return this.#readArguments();
      case "end":
        return this.finish();
    }
  }

  #begin(): boolean {
    if (!this.skipSpace()) return false;
    if (this.text.startsWith("[")) {
      this.take(1);
      this.#place = "item";
      return true;
    }
    return this.#readHeader();
  }

  #beginItem(): boolean {
    if (!this.skipSpace()) return false;
    if (this.text.startsWith("]") && this.#calls > 0) {
      this.take(1);
      return this.finish();
    }
    this.#item = this.#newItem();
    this.#place = "inItem";
    return true;
  }

  #readSeparator(): boolean {
    if (!this.skipSpace()) return false;
    const sign = this.peek(",", "]", OPEN);
    if (sign === "wait" || (sign === undefined && this.end === "cut")) return false;
    if (sign === "," || sign === "]") this.take(1);
    else if (sign === undefined && this.text !== "") return this.break("its list is damaged");
    else this.repair("missing_bracket_added", "]");
    this.#calls++;
    this.emit({ type: "callEnd" });
    this.#place = sign === "," ? "item" : "end";
    return true;
  }

  /** A name, perhaps an id, perhaps a marker, up to the arguments' bracket. */
  #readHeader(): boolean {
    const header = /^([\w.-]{1,256})\s*(?:\[CALL_ID\]\s*(\w{1,64})\s*)?(?:\[ARGS\])?\s*(?=\{)/.exec(this.text);
    if (header === null) {
      const mayCome = this.end === undefined && /^[\w.-]{1,256}\s*(\[[\w\]\s[]{0,100})?$/.test(this.text);
      return mayCome ? false : this.break("it is neither a list of calls nor a name with arguments");
    }
    const [whole, name = "", id] = header;
    const tool = this.#find(name);
    if (tool === undefined) return this.break(`${JSON.stringify(name)} is no declared tool`);
    this.take(whole.length);
    this.#arguments = new ArgumentsReader(tool, id);
    this.#place = "arguments";
    return true;
  }

  #find(name: string): Tool | undefined {
    const found = findTool(this.#context.tools, name);
    if (found?.prefixed === true) this.repair("name_prefix_dropped", name);
    return found?.tool;
  }

  #readArguments(): boolean {
    if (this.#arguments === undefined || !this.readPart(this.#arguments)) return false;
    this.emit({ type: "callEnd" });
    return this.finish();
  }
}
