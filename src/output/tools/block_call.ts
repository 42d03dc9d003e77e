/**
 * Calls in a block of markers, each with a name before its JSON arguments: shared by the deepseek dialects and kimi.
 *
 * @module
 */
import { ArgumentsReader } from "./arguments_reader.ts";
import { CallReader } from "./call_reader.ts";
import type { ToolContext } from "./parser.ts";

/** How a dialect writes its block. */
export interface BlockShape {
  /** Before a call. */
  openCall: string;
  /** From there to the arguments; groups: `name`, and `id` and the call's `type` if the dialect has them. */
  header: RegExp;
  /** What may yet become a header. */
  partialHeader: RegExp;
  /** Behind a call's arguments. */
  closeCall: readonly string[];
  /** Behind the last call. */
  closeBlock: readonly string[];
}

/** Reads a block. */
export class BlockReader extends CallReader {
  readonly #context: ToolContext;
  readonly #shape: BlockShape;
  #place: "between" | "header" | "arguments" | "close";
  #arguments: ArgumentsReader | undefined;
  readonly #inBlock: boolean;
  #calls = 0;
  #closers: string[] = [];

  /** Reads calls of declared tools. @param inCall Whether the opener was a call's, and not the block's. */
  constructor(context: ToolContext, shape: BlockShape, inCall: boolean) {
    super();
    this.#context = context;
    this.#shape = shape;
    this.#inBlock = !inCall;
    this.#place = inCall ? "header" : "between";
  }

  /** Reads a marker, a header or a part of arguments. */
  protected step(): boolean {
    switch (this.#place) {
      case "between":
        return this.#readBetween();
      case "header":
        return this.#readHeader();
      case "arguments":
        if (this.#arguments === undefined || !this.readPart(this.#arguments)) return false;
        this.#closers = [...this.#shape.closeCall];
        this.#place = "close";
        return true;
      case "close":
        return this.#readClose();
    }
  }

  #readBetween(): boolean {
    if (!this.skipSpace()) return false;
    const { openCall, closeBlock } = this.#shape;
    const marker = this.peek(openCall, ...closeBlock);
    if (marker === "wait") return false;
    if (marker === openCall) {
      this.take(marker.length);
      this.#place = "header";
      return true;
    }
    if (this.#calls === 0) return this.break("it is a block without calls");
    // All calls are whole: what follows them is no part of the block.
    if (marker !== undefined) this.take(marker.length);
    else if (this.#inBlock) this.repair("missing_closing_tag", closeBlock[0]);
    return this.finish();
  }

  #readHeader(): boolean {
    const header = this.#shape.header.exec(this.text);
    if (header === null) {
      const mayCome = this.end === undefined && this.#shape.partialHeader.test(this.text);
      return mayCome ? false : this.break("it names no tool");
    }
    const { name = "", id, type } = header.groups ?? {};
    const tool = this.requireTool(this.#context.tools, name);
    if (tool === undefined) return false;
    if (type !== undefined && type !== "function") this.repair("unknown_call_type", type);
    this.take(header[0].length);
    this.#arguments = new ArgumentsReader(tool, id);
    this.#place = "arguments";
    return true;
  }

  #readClose(): boolean {
    const [closer] = this.#closers;
    if (closer === undefined) {
      this.#calls++;
      this.emit({ type: "callEnd" });
      this.#place = "between";
      return true;
    }
    if (!this.skipSpace()) return false;
    const { openCall, closeBlock } = this.#shape;
    const next = this.peek(closer, openCall, ...closeBlock);
    if (next === "wait" || (next === undefined && this.end === "cut")) return false;
    if (next === closer) this.take(closer.length);
    else if (next === undefined && this.text !== "") return this.break(`behind its arguments ${closer} is missing`);
    else this.repair("missing_closing_tag", closer);
    this.#closers.shift();
    return true;
  }
}
