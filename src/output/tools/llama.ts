/**
 * Llama 3 and 4:
 *
 * ```
 * <|python_tag|>{"name": "add_note", "parameters": {"text": "buy figs"}}
 * {"name": "add_note", "parameters": {"text": "buy figs"}}
 * <function=add_note>{"text": "buy figs"}</function>
 * ```
 *
 * The bare object counts only at the start of the answer; several are parted by `;` or white space. `<|python_tag|>`
 * also begins Python code for a built-in interpreter, which we do not have: that stays text.
 *
 * Source: meta-llama/llama-models `models/llama3/prompt_templates` and the chat template of Llama-3.1-8B-Instruct.
 *
 * @module
 */
import { CallReader } from "./call_reader.ts";
import { FunctionTagReader } from "./function_tag.ts";
import { CALL_KEYS, JsonCallReader } from "./json_call.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

const PYTHON_TAG = "<|python_tag|>";
const FUNCTION = "<function=";

/** Makes the parser of an answer. */
export function createLlama(context: ToolContext): ToolParser {
  return new ToolScanner(
    [
      { text: PYTHON_TAG, place: "anywhere", read: () => new ObjectsReader(context) },
      { text: FUNCTION, place: "anywhere", read: () => new FunctionTagReader(context) },
      { text: "{", place: "answerStart", isPart: true, read: () => new ObjectsReader(context) },
    ],
    [PYTHON_TAG],
    context,
    ["</function>"],
  );
}

/** One object or several. */
class ObjectsReader extends CallReader {
  readonly #context: ToolContext;
  #object: JsonCallReader | undefined;
  #tags: FunctionTagReader | undefined;
  #isDoubled = false;
  #calls = 0;
  #parted = false;

  constructor(context: ToolContext) {
    super();
    this.#context = context;
  }

  protected step(): boolean {
    if (this.#tags !== undefined) return this.delegate(this.#tags);
    if (this.#object === undefined) return this.#begin();
    if (!this.readPart(this.#object)) return false;
    this.emit({ type: "callEnd" });
    this.#calls++;
    this.#object = undefined;
    this.#parted = false;
    return true;
  }

  #begin(): boolean {
    if (!this.skipSpace()) return false;
    if (this.#calls > 0 && !this.#parted && this.text.startsWith(";")) {
      this.take(1);
      this.#parted = true;
      return true;
    }
    if (this.text.startsWith("{")) {
      this.#object = new JsonCallReader(this.#context.tools, { ...CALL_KEYS, only: true });
      return true;
    }
    return this.#calls > 0 ? this.finish() : this.#beginTags();
  }

  /** The mark may stand twice, or before the other form of a call. */
  #beginTags(): boolean {
    const next = this.peek(PYTHON_TAG, FUNCTION);
    if (next === "wait") return false;
    if (next === PYTHON_TAG && !this.#isDoubled) return this.#isDoubled = this.dropDoubled(PYTHON_TAG);
    if (next !== FUNCTION) return this.break("it is no JSON object");
    this.take(next.length);
    this.#tags = new FunctionTagReader(this.#context);
    return true;
  }
}
