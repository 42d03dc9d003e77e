/**
 * Gemma 4:
 *
 * ```
 * <|tool_call>call:add_note{text:<|"|>buy figs<|"|>,stars:3,done:false}<tool_call|>
 * ```
 *
 * The opening token may be missing at the start of the answer; the closing one at its end, or before the next call.
 *
 * Source: chat template of google/gemma-4-31B-it.
 *
 * @module
 */
import { CallReader } from "./call_reader.ts";
import { GemmaArguments, QUOTE } from "./gemma_arguments.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

const OPEN = "<|tool_call>";
const CLOSE = "<tool_call|>";
const CALL = "call:";

/** Makes the parser of an answer. */
export function createGemma4(context: ToolContext): ToolParser {
  return new ToolScanner(
    [
      { text: OPEN, place: "anywhere", read: () => new GemmaReader(context) },
      { text: CALL, place: "answerStart", isPart: true, read: () => new GemmaReader(context) },
    ],
    [OPEN, CLOSE, QUOTE],
    context,
  );
}

/** One call, or several that share their tokens. */
class GemmaReader extends CallReader {
  readonly #context: ToolContext;
  #arguments: GemmaArguments | undefined;
  #ended = false;

  constructor(context: ToolContext) {
    super();
    this.#context = context;
  }

  protected step(): boolean {
    if (this.#arguments === undefined) return this.#readHeader();
    if (this.#ended) return this.#readClose();
    this.#ended = this.readPart(this.#arguments);
    return this.#ended;
  }

  #readHeader(): boolean {
    const header = /^\s*call:\s*([\w.-]{1,256})\s*(?=\{)/.exec(this.text);
    if (header === null) {
      const mayCome = this.end === undefined && /^\s*(?:c|ca|cal|call|call:\s*[\w.-]{0,256}\s*)?$/.test(this.text);
      return mayCome ? false : this.break("it names no tool");
    }
    const name = header[1] ?? "";
    const tool = this.requireTool(this.#context.tools, name);
    if (tool === undefined) return false;
    this.take(header[0].length);
    this.#arguments = new GemmaArguments(tool);
    return true;
  }

  #readClose(): boolean {
    if (!this.skipSpace()) return false;
    const next = this.peek(CLOSE, OPEN, CALL);
    if (next === "wait" || (next === undefined && this.end === "cut")) return false;
    if (next === CLOSE) this.take(CLOSE.length);
    else if (next !== CALL) this.repair("missing_closing_tag", CLOSE);
    this.emit({ type: "callEnd" });
    if (next !== CALL) return this.finish();
    this.#arguments = undefined;
    this.#ended = false;
    return true;
  }
}
