/**
 * MiniCPM:
 *
 * ```
 * <function name="add_note"><param name="text"><![CDATA[buy figs]]></param></function>
 * ```
 *
 * The CDATA section may be missing.
 *
 * Source: chat template of openbmb/MiniCPM5-1B.
 *
 * @module
 */
import { CallReader } from "./call_reader.ts";
import { ParameterCallReader, type ParameterTags } from "./parameter_call.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

const OPEN = '<function name="';
const NAME_END = '">';
const NAME_LENGTH_MAX = 256;

const TAGS: ParameterTags = {
  openParameter: ['<param name="', NAME_END],
  closeParameter: "</param>",
  closeFunction: "</function>",
  closeCall: "",
  openers: [],
  exact: true,
  cdata: true,
};

/** Makes the parser of an answer. */
export function createMinicpm(context: ToolContext): ToolParser {
  const openers = [{ text: OPEN, place: "anywhere", read: () => new MinicpmReader(context) }] as const;
  return new ToolScanner(openers, [], context, [TAGS.closeFunction]);
}

/** What follows the name's first quotation mark. */
class MinicpmReader extends CallReader {
  readonly #context: ToolContext;
  #call: ParameterCallReader | undefined;

  constructor(context: ToolContext) {
    super();
    this.#context = context;
  }

  protected step(): boolean {
    if (this.#call !== undefined) return this.delegate(this.#call);
    const at = this.find(NAME_END, NAME_LENGTH_MAX);
    if (at === "wait") return false;
    if (at === undefined) return this.break("it names no tool");
    const name = this.text.slice(0, at).trim();
    const tool = this.requireTool(this.#context.tools, name);
    if (tool === undefined) return false;
    this.take(at + NAME_END.length);
    this.#call = new ParameterCallReader(tool, TAGS);
    return true;
  }
}
