/**
 * Hermes, Qwen3 and many others:
 *
 * ```
 * <tool_call>
 * {"name": "add_note", "arguments": {"text": "buy figs"}}
 * </tool_call>
 * ```
 *
 * Also read, because models trained on several dialects mix them: the body of qwen3_coder_xml, in the same tags or
 * bare; `<function><name>add_note</name><arguments>{…}</arguments></function>`; `[Calling tool: add_note({…})]`; and a
 * bare object at the start of the answer. Why it calls a model may say in `<tool_call_reasoning>` tags.
 *
 * Source: NousResearch/Hermes-Function-Calling README; the shapes are those that Rapid-MLX accepts.
 *
 * @module
 */
import { ArgumentsReader } from "./arguments_reader.ts";
import { CallReader } from "./call_reader.ts";
import { FunctionTagReader } from "./function_tag.ts";
import { CALL_KEYS, JsonCallReader } from "./json_call.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ReasonedCalls } from "./reasoned_calls.ts";
import { ToolScanner } from "./tool_scanner.ts";

const OPEN = "<tool_call>";
/** The same where a quantized model left the bracket out. */
const UNCLOSED_OPEN = "<tool_call";
const CLOSE = "</tool_call>";
const FUNCTION = "<function=";
const NAMED = "<function>";
const CLOSE_FUNCTION = "</function>";
const REASONING = { open: "<tool_call_reasoning>", close: "</tool_call_reasoning>" };

/** Makes the parser of an answer. */
export function createHermes(context: ToolContext): ToolParser {
  const scanner = new ToolScanner(
    [
      { text: OPEN, place: "anywhere", read: () => new TaggedReader(context) },
      { text: UNCLOSED_OPEN, place: "anywhere", read: () => new TaggedReader(context, false) },
      { text: FUNCTION, place: "anywhere", read: () => new FunctionTagReader(context) },
      { text: NAMED, place: "anywhere", read: () => new NamedReader(context, NAME_IN_TAGS) },
      { text: "[Calling tool:", place: "anywhere", read: () => new NamedReader(context, NAME_IN_BRACKETS) },
      { text: "{", place: "answerStart", isPart: true, read: () => new BareObjectReader(context) },
    ],
    [OPEN, CLOSE],
    context,
    [CLOSE, CLOSE_FUNCTION],
  );
  return new ReasonedCalls(scanner, REASONING, context);
}

/** What follows `<tool_call>`: an object, or tags. */
class TaggedReader extends CallReader {
  readonly #context: ToolContext;
  #object: JsonCallReader | undefined;
  #tags: CallReader | undefined;
  #isDoubled = false;
  #ended = false;

  readonly #isTag: boolean;

  constructor(context: ToolContext, isTag = true) {
    super();
    this.#context = context;
    this.#isTag = isTag;
  }

  protected step(): boolean {
    if (this.#tags !== undefined) return this.delegate(this.#tags);
    if (this.#object === undefined) return this.#begin();
    if (this.#ended) return this.#readClose();
    this.#ended = this.readPart(this.#object);
    return this.#ended;
  }

  #begin(): boolean {
    if (!this.skipSpace()) return false;
    // Other words begin like the tag.
    if (!this.#isTag && !this.text.startsWith("{")) return this.break("");
    const start = this.peek("{", FUNCTION, NAMED, OPEN);
    if (start === "wait") return false;
    if (start === OPEN && !this.#isDoubled) return this.#isDoubled = this.dropDoubled(OPEN);
    if (!this.#isTag) this.repair("missing_bracket_added", ">");
    if (start === "{") this.#object = new JsonCallReader(this.#context.tools);
    else if (start === FUNCTION) {
      this.take(start.length);
      this.#tags = new FunctionTagReader(this.#context, [OPEN, CLOSE]);
    } else if (start === NAMED) {
      this.take(start.length);
      this.#tags = new NamedReader(this.#context, { ...NAME_IN_TAGS, close: [...NAME_IN_TAGS.close, CLOSE] });
    } else return this.break("it is neither a JSON object nor a function in tags");
    return true;
  }

  /** The closing tag; brackets too many before it, or no tag where the answer or another call makes the end clear. */
  #readClose(): boolean {
    if (!this.skipSpace()) return false;
    const next = this.peek(CLOSE, OPEN, "}", "]", CLOSE_FUNCTION);
    if (next === "wait" || (next === undefined && this.end === "cut")) return false;
    if (next === "}" || next === "]") {
      this.take(1);
      this.repair("bracket_too_many_dropped", next);
      return true;
    }
    if (next === CLOSE_FUNCTION) {
      this.take(next.length);
      this.repair("stray_closing_tag_dropped", next);
      return true;
    }
    if (next === CLOSE) this.take(CLOSE.length);
    else this.repair("missing_closing_tag", CLOSE);
    this.emit({ type: "callEnd" });
    return this.finish();
  }
}

/** How a name stands before its arguments, what may yet become that, and what stands behind them. */
interface NamedShape {
  header: RegExp;
  partial: RegExp;
  close: readonly string[];
}

const NAME_IN_TAGS: NamedShape = {
  header: /^\s*<name>\s*([\w.-]{1,256})\s*<\/name>\s*<arguments>/,
  partial: /^\s*(<[^{]{0,300})?$/,
  close: ["</arguments>", "</function>"],
};
const NAME_IN_BRACKETS: NamedShape = {
  header: /^\s*([\w.-]{1,256})\(/,
  partial: /^\s*[\w.-]{0,256}$/,
  close: [")", "]"],
};

/** A name, arguments and signs behind them. */
class NamedReader extends CallReader {
  readonly #context: ToolContext;
  readonly #shape: NamedShape;
  readonly #closers: string[];
  #arguments: ArgumentsReader | undefined;
  #ended = false;

  constructor(context: ToolContext, shape: NamedShape) {
    super();
    this.#context = context;
    this.#shape = shape;
    this.#closers = [...shape.close];
  }

  protected step(): boolean {
    if (this.#arguments === undefined) return this.#readHeader();
    if (!this.#ended) {
      this.#ended = this.readPart(this.#arguments);
      return this.#ended;
    }
    const [closer] = this.#closers;
    if (closer === undefined) {
      this.emit({ type: "callEnd" });
      return this.finish();
    }
    return this.#readCloser(closer);
  }

  #readHeader(): boolean {
    const header = this.#shape.header.exec(this.text);
    if (header === null) {
      const mayCome = this.end === undefined && this.#shape.partial.test(this.text);
      return mayCome ? false : this.break("it names no tool");
    }
    const name = header[1] ?? "";
    const tool = this.requireTool(this.#context.tools, name);
    if (tool === undefined) return false;
    this.take(header[0].length);
    this.#arguments = new ArgumentsReader(tool);
    return true;
  }

  #readCloser(closer: string): boolean {
    if (!this.skipSpace()) return false;
    const next = this.peek(closer);
    if (next === "wait" || (next === undefined && this.end === "cut")) return false;
    if (next === undefined && this.text !== "") return this.break(`behind its arguments ${closer} is missing`);
    if (next === undefined) this.repair("missing_closing_tag", closer);
    this.take(next?.length ?? 0);
    this.#closers.shift();
    return true;
  }
}

/** An object without any mark. */
class BareObjectReader extends CallReader {
  readonly #object: JsonCallReader;

  constructor(context: ToolContext) {
    super();
    this.#object = new JsonCallReader(context.tools, { ...CALL_KEYS, only: true });
  }

  protected step(): boolean {
    if (!this.readPart(this.#object)) return false;
    this.emit({ type: "callEnd" });
    return this.finish();
  }
}
