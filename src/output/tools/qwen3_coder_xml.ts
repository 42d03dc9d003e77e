/**
 * Qwen3-Coder, Qwen3.6 and later, Nemotron 3, and with another outer tag Seed-OSS:
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

const FUNCTION = "<function=";

/** Makes the parser of an answer. */
export function createQwen3CoderXml(context: ToolContext): ToolParser {
  return create(context, "<tool_call>", "</tool_call>");
}

/** Makes the parser of an answer of Seed-OSS, whose outer tag is `<seed:tool_call>` and whose values are exact. */
export function createSeedOss(context: ToolContext): ToolParser {
  return create(context, "<seed:tool_call>", "</seed:tool_call>", true);
}

function create(context: ToolContext, open: string, close: string, exact = false): ToolParser {
  return new ToolScanner(
    [
      { text: open, place: "anywhere", read: () => new WrappedReader(context, [open, close], exact) },
      { text: FUNCTION, place: "anywhere", read: () => new FunctionTagReader(context, undefined, exact) },
    ],
    [open, close],
    context,
    [close],
  );
}

/** What follows the outer tag. */
class WrappedReader extends CallReader {
  readonly #inner: FunctionTagReader;
  #open = false;

  constructor(context: ToolContext, wrapper: readonly [open: string, close: string], exact: boolean) {
    super();
    this.#inner = new FunctionTagReader(context, wrapper, exact);
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
