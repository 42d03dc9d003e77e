/**
 * GLM 4.5 to 4.7, and Ling:
 *
 * ```
 * <tool_call>add_note
 * <arg_key>text</arg_key>
 * <arg_value>buy figs</arg_value>
 * </tool_call>
 * ```
 *
 * Source: chat templates of zai-org/GLM-4.6 and GLM-4.7-Flash.
 *
 * @module
 */
import { CallReader } from "./call_reader.ts";
import { ParameterCallReader, type ParameterTags } from "./parameter_call.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

const OPEN = "<tool_call>";
const CLOSE = "</tool_call>";
const KEY = ["<arg_key>", "</arg_key>"] as const;
const VALUE = ["<arg_value>", "</arg_value>"] as const;

const TAGS: ParameterTags = {
  openParameter: KEY,
  beforeValue: VALUE[0],
  closeParameter: VALUE[1],
  closeFunction: CLOSE,
  closeCall: "",
  openers: [],
  exact: true,
};

/** Makes the parser of an answer. */
export function createGlm47(context: ToolContext): ToolParser {
  const opener = { text: OPEN, place: "anywhere", read: () => new GlmReader(context) } as const;
  return new ToolScanner([opener], [OPEN, CLOSE, ...KEY, ...VALUE], context);
}

/** What follows the opening tag: a name up to a line end or a tag. */
class GlmReader extends CallReader {
  readonly #context: ToolContext;
  #call: ParameterCallReader | undefined;

  constructor(context: ToolContext) {
    super();
    this.#context = context;
  }

  protected step(): boolean {
    if (this.#call !== undefined) return this.delegate(this.#call);
    if (!this.skipSpace()) return false;
    const name = /^([\w.-]{1,256})\s*(?=<)/.exec(this.text);
    if (name === null) {
      const mayCome = this.end === undefined && /^[\w.-]{1,256}\s*$/.test(this.text);
      return mayCome ? false : this.break("it names no tool");
    }
    const tool = this.requireTool(this.#context.tools, name[1] ?? "");
    if (tool === undefined) return false;
    this.take(name[0].length);
    this.#call = new ParameterCallReader(tool, TAGS);
    return true;
  }
}
