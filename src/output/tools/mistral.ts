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
import { ArgumentsReader } from "./arguments_reader.ts";
import { CallListReader } from "./call_list.ts";
import { CallReader } from "./call_reader.ts";
import { CALL_KEYS } from "./json_call.ts";
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
    ["[/TOOL_CALLS]"],
  );
}

/** What follows the marker: a list, or one call. */
class MistralReader extends CallReader {
  readonly #context: ToolContext;
  #list: CallListReader | undefined;
  #arguments: ArgumentsReader | undefined;

  constructor(context: ToolContext) {
    super();
    this.#context = context;
  }

  protected step(): boolean {
    if (this.#list !== undefined) return this.delegate(this.#list);
    if (this.#arguments === undefined) return this.#begin();
    if (!this.readPart(this.#arguments)) return false;
    this.emit({ type: "callEnd" });
    return this.finish();
  }

  #begin(): boolean {
    if (!this.skipSpace()) return false;
    if (!this.text.startsWith("[")) return this.#readHeader();
    this.take(1);
    this.#list = new CallListReader(this.#context, { ...CALL_KEYS, id: ["id"] }, [OPEN]);
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
    const tool = this.requireTool(this.#context.tools, name);
    if (tool === undefined) return false;
    this.take(whole.length);
    this.#arguments = new ArgumentsReader(tool, id);
    return true;
  }
}
