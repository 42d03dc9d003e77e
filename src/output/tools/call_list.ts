/**
 * A list of calls, `[{"name": …, "arguments": …}, …]`, from behind its first bracket on: shared by mistral, granite and
 * xlam.
 *
 * @module
 */
import { CallReader } from "./call_reader.ts";
import { type CallKeys, JsonCallReader } from "./json_call.ts";
import type { ToolContext } from "./parser.ts";

/** Reads up to the closing bracket; a call stands when the comma or bracket behind it is there. */
export class CallListReader extends CallReader {
  readonly #context: ToolContext;
  readonly #keys: CallKeys;
  /** What may begin the next call, where this list is not closed. */
  readonly #openers: readonly string[];
  #item: JsonCallReader | undefined;
  #place: "item" | "behindItem" | "end" = "item";
  #calls = 0;

  /** Reads calls of declared tools. */
  constructor(context: ToolContext, keys: CallKeys, openers: readonly string[]) {
    super();
    this.#context = context;
    this.#keys = keys;
    this.#openers = openers;
  }

  /** Reads an item, or what stands behind one. */
  protected step(): boolean {
    if (this.#place === "end") return this.finish();
    if (this.#place === "behindItem") return this.#readSeparator();
    if (this.#item === undefined) return this.#beginItem();
    if (!this.readPart(this.#item)) return false;
    this.#place = "behindItem";
    return true;
  }

  #beginItem(): boolean {
    if (!this.skipSpace()) return false;
    if (this.text.startsWith("]") && this.#calls > 0) {
      this.take(1);
      this.repair("trailing_comma_dropped");
      return this.finish();
    }
    this.#item = new JsonCallReader(this.#context.tools, this.#keys);
    return true;
  }

  #readSeparator(): boolean {
    if (!this.skipSpace()) return false;
    const sign = this.peek(",", "]", ...this.#openers);
    if (sign === "wait" || (sign === undefined && this.end === "cut")) return false;
    if (sign === "," || sign === "]") this.take(1);
    else if (sign === undefined && this.text !== "") return this.break("its list is damaged");
    else this.repair("missing_bracket_added", "]");
    this.#calls++;
    this.#item = undefined;
    this.emit({ type: "callEnd" });
    this.#place = sign === "," ? "item" : "end";
    return true;
  }
}
