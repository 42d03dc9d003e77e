/**
 * xLAM: a list at the start of the answer, bare or in a fenced block of code, or behind `[TOOL_CALLS]` anywhere.
 *
 * ```
 * [{"name": "add_note", "arguments": {"text": "buy figs"}}]
 * ```
 *
 * Source: model cards of Salesforce/Llama-xLAM-2-8b-fc-r and xLAM-2-3b-fc-r.
 *
 * @module
 */
import { CallListReader } from "./call_list.ts";
import { CallReader } from "./call_reader.ts";
import { CALL_KEYS } from "./json_call.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

const FENCE = "```";
const MARKER = "[TOOL_CALLS]";

/** Makes the parser of an answer. */
export function createXlam(context: ToolContext): ToolParser {
  return new ToolScanner(
    [
      { text: "[", place: "answerStart", isPart: true, read: () => new BareListReader(context, false) },
      { text: FENCE, place: "answerStart", read: () => new BareListReader(context, true) },
      { text: MARKER, place: "anywhere", read: () => new BareListReader(context, false) },
    ],
    [MARKER],
    context,
    ["[/TOOL_CALLS]"],
  );
}

/** A list, and the end of its fence if it has one. Shared with functionary. */
export class BareListReader extends CallReader {
  readonly #list: CallListReader;
  readonly #fenced: boolean;
  #place: "start" | "list" | "fence" = "start";

  /** Reads calls of declared tools. @param fenced Whether the opener was that of a fence. */
  constructor(context: ToolContext, fenced: boolean) {
    super();
    this.#list = new CallListReader(context, { ...CALL_KEYS, only: true }, []);
    this.#fenced = fenced;
  }

  /** Reads the bracket, the list or the fence. */
  protected step(): boolean {
    switch (this.#place) {
      case "start":
        return this.#begin();
      case "list":
        return this.#fenced ? this.#readFenced() : this.delegate(this.#list);
      case "fence":
        return this.#endFence();
    }
  }

  #begin(): boolean {
    const start = /^\s*(?:json\s*)?\[/.exec(this.text);
    if (start === null) {
      const mayCome = this.end === undefined && /^\s*(j|js|jso|json\s*)?$/.test(this.text);
      return mayCome ? false : this.break("it is no list of calls");
    }
    this.take(start[0].length);
    this.#place = "list";
    return true;
  }

  /** The list ends before its fence does. */
  #readFenced(): boolean {
    if (!this.pass(this.#list)) return false;
    this.#place = "fence";
    return true;
  }

  #endFence(): boolean {
    if (!this.skipSpace()) return false;
    const fence = this.peek(FENCE);
    if (fence === "wait") return false;
    if (fence === FENCE) this.take(FENCE.length);
    else this.repair("missing_closing_tag", FENCE);
    return this.finish();
  }
}
