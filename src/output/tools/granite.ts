/**
 * Granite 3:
 *
 * ```
 * <|tool_call|>[{"name": "add_note", "arguments": {"text": "buy figs"}}]
 * <tool_call>[{"name": "add_note", "arguments": {"text": "buy figs"}}]</tool_call>
 * ```
 *
 * The closing tag may be missing.
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

const TAG = "<tool_call>";
/** The tag's other end, which some answers have. */
const CLOSE = "</tool_call>";
const OPENERS = ["<|tool_call|>", TAG];

/** Makes the parser of an answer. */
export function createGranite(context: ToolContext): ToolParser {
  const openers = OPENERS.map((text) =>
    ({ text, place: "anywhere", read: () => new GraniteReader(context, text) }) as const
  );
  return new ToolScanner(openers, [...OPENERS, CLOSE], context, [CLOSE, "<|/tool_call|>"]);
}

/** What follows the marker. */
class GraniteReader extends CallReader {
  readonly #list: CallListReader;
  readonly #isTag: boolean;
  #place: "start" | "list" | "end" = "start";

  constructor(context: ToolContext, opener: string) {
    super();
    this.#isTag = opener === TAG;
    this.#list = new CallListReader(context, CALL_KEYS, OPENERS);
  }

  protected step(): boolean {
    if (this.#place === "end") return this.#readClose();
    if (this.#place === "list") {
      if (!this.#isTag) return this.delegate(this.#list);
      if (!this.pass(this.#list)) return false;
      this.#place = "end";
      return true;
    }
    if (!this.skipSpace()) return false;
    if (!this.text.startsWith("[")) return this.break("it is no list of calls");
    this.take(1);
    this.#place = "list";
    return true;
  }

  /** All calls are whole: what follows them and is not the closing tag is text. */
  #readClose(): boolean {
    if (!this.skipSpace()) return false;
    const close = this.peek(CLOSE);
    if (close === "wait") return false;
    if (close === CLOSE) this.take(close.length);
    return this.finish();
  }
}
