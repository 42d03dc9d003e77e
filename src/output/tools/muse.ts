/**
 * Muse Glimmer:
 *
 * ```
 * <|start|>assistant to=add_note<|message|><atem:function_calls>
 * <atem:invoke name="add_note">
 * <atem:parameter name="text">buy figs</atem:parameter>
 * </atem:invoke>
 * </atem:function_calls><|eot|>
 * ```
 *
 * The header belongs to the call; where it names another tool than `invoke`, the latter wins. Headers of other messages
 * are read with the reasoning (reasoning/segments.ts). Values are exact: no line end around them is dropped.
 *
 * Source: chat template of Muse Glimmer.
 *
 * @module
 */
import { CallReader } from "./call_reader.ts";
import { InvokeBlockReader, type InvokeShape } from "./invoke_block.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

const OPEN = "<atem:function_calls>";
const CLOSE = "</atem:function_calls>";
const INVOKE = '<atem:invoke name="';

const SHAPE: InvokeShape = {
  openCall: [INVOKE, '">'],
  closeBlock: CLOSE,
  tags: {
    openParameter: ['<atem:parameter name="', '">'],
    closeParameter: "</atem:parameter>",
    closeFunction: "</atem:invoke>",
    closeCall: "",
    openers: [],
    exact: true,
    mustFollow: [INVOKE, CLOSE],
  },
};

/** Makes the parser of an answer, which begins behind `<|start|>assistant`. */
export function createMuse(context: ToolContext): ToolParser {
  return new ToolScanner(
    [
      { text: OPEN, place: "anywhere", read: () => new InvokeBlockReader(context, SHAPE) },
      { text: "<|start|>assistant to=", place: "anywhere", read: () => new MessageReader(context) },
      { text: "to=", place: "answerStart", read: () => new MessageReader(context) },
    ],
    ["<|start|>", "<|message|>", "<|eom|>", "<|eot|>"],
    context,
  );
}

/** A message to a tool, from its name on. What is none was never meant to be one. */
class MessageReader extends CallReader {
  readonly #context: ToolContext;
  #recipient = "";
  #awaited = ["<|message|>", OPEN];
  #inner: InvokeBlockReader | undefined;

  constructor(context: ToolContext) {
    super();
    this.#context = context;
  }

  protected step(): boolean {
    if (this.#inner !== undefined) return this.delegate(this.#inner);
    if (this.#recipient === "") return this.#readRecipient();
    if (!this.skipSpace()) return false;
    const [mark] = this.#awaited;
    if (mark === undefined) {
      this.#inner = new InvokeBlockReader(this.#context, SHAPE, this.#recipient);
      return true;
    }
    const found = this.peek(mark);
    if (found === "wait") return false;
    if (found === undefined) return this.break("");
    this.take(mark.length);
    this.#awaited.shift();
    return true;
  }

  #readRecipient(): boolean {
    const name = /^([\w.-]{1,256})\s*(?=<)/.exec(this.text);
    if (name === null) {
      return this.end === undefined && /^[\w.-]{0,256}\s*$/.test(this.text) ? false : this.break("");
    }
    if (name[1] === "self" || name[1] === "user") return this.break("");
    this.#recipient = name[1] ?? "";
    this.take(name[0].length);
    return true;
  }
}
