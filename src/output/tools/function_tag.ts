/**
 * What follows `<function=`: the tool's name, then parameters in tags or one JSON object. Shared by hermes,
 * qwen3_coder_xml, nemotron, seed_oss and llama.
 *
 * @module
 */
import type { Tool } from "../../flow.ts";
import { ArgumentsReader } from "./arguments_reader.ts";
import { CallReader } from "./call_reader.ts";
import { ParameterCallReader } from "./parameter_call.ts";
import type { ToolContext } from "./parser.ts";

/** Tags of this shape. */
const PARAMETER = ["<parameter=", ">"] as const;
const CLOSE_PARAMETER = "</parameter>";
const CLOSE_FUNCTION = "</function>";

/** Longest name that is waited for. */
const NAME_LENGTH_MAX = 256;

/** Reads one call. */
export class FunctionTagReader extends CallReader {
  readonly #context: ToolContext;
  readonly #closeCall: string;
  readonly #exact: boolean;
  readonly #openers: readonly string[];
  #tool: Tool | undefined;
  #parameters: ParameterCallReader | undefined;
  #arguments: ArgumentsReader | undefined;
  #ended = false;

  /**
   * Reads a call.
   *
   * @param wrapper Tags around it, of which the first is read; absent: there are none.
   * @param exact Values stand right between their tags.
   */
  constructor(context: ToolContext, wrapper?: readonly [open: string, close: string], exact = false) {
    super();
    this.#exact = exact;
    this.#context = context;
    this.#closeCall = wrapper?.[1] ?? "";
    this.#openers = wrapper === undefined ? ["<function="] : [wrapper[0], "<function="];
  }

  /** Reads the name, or a part of what follows it. */
  protected step(): boolean {
    if (this.#parameters !== undefined) return this.delegate(this.#parameters);
    if (this.#tool === undefined) return this.#readName();
    if (this.#arguments === undefined) return this.#begin(this.#tool);
    if (this.#ended) return this.#readClose();
    this.#ended = this.readPart(this.#arguments);
    return this.#ended;
  }

  #readName(): boolean {
    const at = this.find(">", NAME_LENGTH_MAX);
    if (at === "wait") return false;
    if (at === undefined) return this.break("it names no tool");
    const name = this.take(at).trim().replace(/^(["'])(.*)\1$/, "$2");
    this.take(1);
    const tool = this.requireTool(this.#context.tools, name);
    if (tool === undefined) return false;
    this.#tool = tool;
    return true;
  }

  #begin(tool: Tool): boolean {
    if (!this.skipSpace()) return false;
    if (this.peek("{") === "{") this.#arguments = new ArgumentsReader(tool);
    else {
      this.#parameters = new ParameterCallReader(tool, {
        openParameter: PARAMETER,
        closeParameter: CLOSE_PARAMETER,
        closeFunction: CLOSE_FUNCTION,
        closeCall: this.#closeCall,
        openers: this.#openers,
        exact: this.#exact,
      });
    }
    return true;
  }

  /** The tags behind a JSON object; at the end of the answer they may be missing. */
  #readClose(): boolean {
    if (!this.skipSpace()) return false;
    const closers = this.#closeCall === "" ? [CLOSE_FUNCTION] : [CLOSE_FUNCTION, this.#closeCall];
    const tag = this.peek(...closers, ...this.#openers);
    if (tag === "wait" || (tag === undefined && this.end === "cut")) return false;
    if (tag === CLOSE_FUNCTION && this.#closeCall !== "") {
      this.take(tag.length);
      return true;
    }
    const last = closers.at(-1) ?? CLOSE_FUNCTION;
    if (tag === last) this.take(tag.length);
    else this.repair("missing_closing_tag", last);
    this.emit({ type: "callEnd" });
    return this.finish();
  }
}
