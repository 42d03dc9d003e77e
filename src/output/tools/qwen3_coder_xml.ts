/**
 * Qwen3-Coder and Qwen3.6 and later:
 *
 * ```
 * <tool_call>
 * <function=add_note>
 * <parameter=text>
 * buy figs
 * </parameter>
 * </function>
 * </tool_call>
 * ```
 *
 * Values are raw text and take their type from the tool's schema; the line ends around a value belong to its tags. A
 * missing `<tool_call>` is accepted, as quantized models leave it out.
 *
 * Source: chat template of Qwen/Qwen3-Coder-30B-A3B-Instruct.
 *
 * @module
 */
import { FunctionTagReader } from "./function_tag.ts";
import { CallReader } from "./call_reader.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

const OPEN = "<tool_call>";
const CLOSE = "</tool_call>";
const FUNCTION = "<function=";

/** Makes the parser of an answer. */
export function createQwen3CoderXml(context: ToolContext): ToolParser {
  return new ToolScanner(
    [
      { text: OPEN, place: "anywhere", read: () => new WrappedReader(context) },
      { text: FUNCTION, place: "anywhere", read: () => new FunctionTagReader(context, "") },
    ],
    [OPEN, CLOSE],
    context,
  );
}

/** What follows `<tool_call>`. */
class WrappedReader extends CallReader {
  readonly #inner: FunctionTagReader;
  #open = false;

  constructor(context: ToolContext) {
    super();
    this.#inner = new FunctionTagReader(context, CLOSE);
  }

  protected step(): boolean {
    if (this.#open) return this.delegate(this.#inner);
    if (!this.skipSpace()) return false;
    const tag = this.peek(FUNCTION);
    if (tag === "wait") return false;
    if (tag === undefined) return this.break("it is no function in tags");
    this.take(tag.length);
    this.#open = true;
    return true;
  }
}
