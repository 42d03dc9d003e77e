/**
 * Calls as `<invoke name="add_note">` with parameters in tags, several in one block: shared by minimax, muse and
 * DeepSeek's DSML.
 *
 * @module
 */
import { CallReader } from "./call_reader.ts";
import { ParameterCallReader, type ParameterTags } from "./parameter_call.ts";
import type { ToolContext } from "./parser.ts";

/** How a dialect spells its tags. */
export interface InvokeShape {
  /** Before and after a call's name. */
  openCall: readonly [string, string];
  /** Other spellings of what stands before the name. */
  openCallToo?: readonly string[];
  /** Behind the last call. */
  closeBlock: string;
  /** Other spellings of that. */
  closeBlockToo?: readonly string[];
  /** Of a call's parameters. */
  tags: ParameterTags;
}

/** Longest name that is waited for. */
const NAME_LENGTH_MAX = 256;

/** Reads a block from behind its opening tag on. */
export class InvokeBlockReader extends CallReader {
  readonly #context: ToolContext;
  readonly #shape: InvokeShape;
  readonly #announced: string | undefined;
  #call: ParameterCallReader | undefined;
  #calls = 0;

  /** Reads calls of declared tools. @param announced The name that stood before the block, if one did. */
  constructor(context: ToolContext, shape: InvokeShape, announced?: string) {
    super();
    this.#announced = announced;
    this.#context = context;
    this.#shape = shape;
  }

  /** Reads a call, or what stands between calls. */
  protected step(): boolean {
    if (this.#call === undefined) return this.#readBetween();
    if (!this.pass(this.#call)) return false;
    this.#call = undefined;
    this.#calls++;
    return true;
  }

  #readBetween(): boolean {
    if (!this.skipSpace()) return false;
    const { openCall, openCallToo = [], closeBlock, closeBlockToo = [] } = this.#shape;
    const openers = [openCall[0], ...openCallToo];
    const tag = this.peek(...openers, closeBlock, ...closeBlockToo);
    if (tag === "wait") return false;
    if (tag !== undefined && openers.includes(tag)) return this.#readName(tag.length);
    if (this.#calls === 0) return this.break("it is a block without calls");
    if (tag !== undefined) this.take(tag.length);
    else this.repair("missing_closing_tag", closeBlock);
    return this.finish();
  }

  /** The name behind an opening tag of some length. */
  #readName(start: number): boolean {
    const { openCall, tags } = this.#shape;
    const at = this.find(openCall[1], start + NAME_LENGTH_MAX, start);
    if (at === "wait") return false;
    if (at === undefined) return this.break("it names no tool");
    const name = this.text.slice(start, at).trim();
    const tool = this.requireTool(this.#context.tools, name);
    if (tool === undefined) return false;
    const { name: own } = tool;
    if (this.#calls === 0 && ![undefined, name, own].includes(this.#announced)) {
      this.repair("header_names_another_tool", this.#announced);
    }
    this.take(at + openCall[1].length);
    this.#call = new ParameterCallReader(tool, tags);
    return true;
  }
}
