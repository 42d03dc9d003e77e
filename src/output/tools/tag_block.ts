/**
 * Calls of a name and then parameters as pairs of key and value, or one JSON object, several in one block: shared by
 * hy_v3 and k2_horizon.
 *
 * @module
 */
import type { Tool } from "../../flow.ts";
import { ArgumentsReader } from "./arguments_reader.ts";
import { CallReader } from "./call_reader.ts";
import { JsonCallReader } from "./json_call.ts";
import { ParameterCallReader, type ParameterTags } from "./parameter_call.ts";
import type { ToolContext } from "./parser.ts";

/** How a dialect spells its tags. */
export interface TagBlockShape {
  /** Behind the last call. */
  closeBlock: string;
  /** Before a call's name. */
  openCall: string;
  /** Behind a call, in all its spellings. */
  closeCall: readonly [string, ...string[]];
  /** Between name and arguments; it may be missing. */
  separator?: string;
  /** What quantized models write behind a name, without a meaning. */
  noise?: string;
  /** Of a call's parameters. */
  tags: ParameterTags;
}

const NAME = /^([\w.-]{1,256})\s*(?=[<{])/;
const PARTIAL_NAME = /^[\w.-]{1,256}\s*$/;

/** Reads a block, or a call without one. */
export class TagBlockReader extends CallReader {
  readonly #context: ToolContext;
  readonly #shape: TagBlockShape;
  readonly #inBlock: boolean;
  #place: "between" | "name" | "body" | "parameters" | "arguments" | "object" | "close";
  #tool: Tool | undefined;
  #parameters: ParameterCallReader | undefined;
  #part: ArgumentsReader | JsonCallReader | undefined;
  #separated = false;
  #calls = 0;

  /** Reads calls of declared tools. @param inCall Whether the opener was a call's, and not the block's. */
  constructor(context: ToolContext, shape: TagBlockShape, inCall: boolean) {
    super();
    this.#context = context;
    this.#shape = shape;
    this.#inBlock = !inCall;
    this.#place = inCall ? "name" : "between";
  }

  /** Reads a tag, a name or a part of a call. */
  protected step(): boolean {
    switch (this.#place) {
      case "between":
        return this.#readBetween();
      case "name":
        return this.#readName();
      case "body":
        return this.#tool !== undefined && this.#beginBody(this.#tool);
      case "parameters":
        if (this.#parameters === undefined || !this.pass(this.#parameters)) return false;
        return this.#endCall();
      case "close":
        return this.#readClose();
      default:
        if (this.#part === undefined || !this.readPart(this.#part)) return false;
        this.#place = "close";
        return true;
    }
  }

  #readBetween(): boolean {
    if (!this.skipSpace()) return false;
    const { openCall, closeBlock } = this.#shape;
    const tag = this.peek(openCall, closeBlock);
    if (tag === "wait") return false;
    if (tag === openCall) {
      this.take(tag.length);
      this.#place = "name";
      return true;
    }
    if (this.#calls === 0) return this.break("it is a block without calls");
    if (tag === closeBlock) this.take(tag.length);
    else this.repair("missing_closing_tag", closeBlock);
    return this.finish();
  }

  #readName(): boolean {
    if (!this.skipSpace()) return false;
    if (this.text.startsWith("{")) {
      this.#part = new JsonCallReader(this.#context.tools);
      this.#place = "object";
      return true;
    }
    const name = NAME.exec(this.text);
    if (name === null) {
      const mayCome = this.end === undefined && PARTIAL_NAME.test(this.text);
      return mayCome ? false : this.break("it names no tool");
    }
    const tool = this.requireTool(this.#context.tools, name[1] ?? "");
    if (tool === undefined) return false;
    this.take(name[0].length);
    this.#tool = tool;
    this.#separated = false;
    this.#place = "body";
    return true;
  }

  /** What stands between name and arguments, and which kind of arguments it is. */
  #beginBody(tool: Tool): boolean {
    if (!this.skipSpace()) return false;
    const { separator = "", noise = "", tags } = this.#shape;
    const known = [separator, noise].filter((tag) => tag !== "");
    const tag = this.peek("{", ...known, tags.openParameter[0], ...this.#shape.closeCall);
    if (tag === "wait") return false;
    if (tag !== undefined && tag !== "{" && known.includes(tag)) {
      if (tag === separator && this.#separated) return this.break("its name ends twice");
      this.#separated ||= tag === separator;
      if (tag === noise) this.repair("stray_tag_dropped", tag);
      this.take(tag.length);
      return true;
    }
    if (tag === "{") {
      this.#part = new ArgumentsReader(tool);
      this.#place = "arguments";
    } else {
      this.#parameters = new ParameterCallReader(tool, tags);
      this.#place = "parameters";
    }
    return true;
  }

  /** The tag behind JSON; at the end of the answer, or before what may follow a call, it may be missing. */
  #readClose(): boolean {
    if (!this.skipSpace()) return false;
    const { closeCall, openCall, closeBlock } = this.#shape;
    const tag = this.peek(...closeCall, openCall, closeBlock);
    if (tag === "wait" || (tag === undefined && this.end === "cut")) return false;
    if (tag === undefined && this.text !== "") return this.break(`behind its arguments ${closeCall[0]} is missing`);
    if (tag !== undefined && closeCall.includes(tag)) this.take(tag.length);
    else this.repair("missing_closing_tag", closeCall[0]);
    this.emit({ type: "callEnd" });
    return this.#endCall();
  }

  #endCall(): boolean {
    this.#calls++;
    if (!this.#inBlock) return this.finish();
    this.#place = "between";
    return true;
  }
}
