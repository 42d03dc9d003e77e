/**
 * Granite 3:
 *
 * ```
 * <|tool_call|>[{"name": "add_note", "arguments": {"text": "buy figs"}}]
 * <tool_call>[{"name": "add_note", "arguments": {"text": "buy figs"}}]
 * ```
 *
 * Source: chat template of ibm-granite/granite-3.3-2b-instruct. (Granite 4 writes the hermes dialect.)
 *
 * @module
 */
import { CallListReader } from "./call_list.ts";
import { CallReader } from "./call_reader.ts";
import { CALL_KEYS } from "./json_call.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

const OPENERS = ["<|tool_call|>", "<tool_call>"];

/** Makes the parser of an answer. */
export function createGranite(context: ToolContext): ToolParser {
  const openers = OPENERS.map((text) => ({ text, place: "anywhere", read: () => new GraniteReader(context) }) as const);
  return new ToolScanner(openers, OPENERS, context);
}

/** What follows the marker. */
class GraniteReader extends CallReader {
  readonly #list: CallListReader;
  #open = false;

  constructor(context: ToolContext) {
    super();
    this.#list = new CallListReader(context, CALL_KEYS, OPENERS);
  }

  protected step(): boolean {
    if (this.#open) return this.delegate(this.#list);
    if (!this.skipSpace()) return false;
    if (!this.text.startsWith("[")) return this.break("it is no list of calls");
    this.take(1);
    this.#open = true;
    return true;
  }
}
