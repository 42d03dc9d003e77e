/**
 * Functionary, in the shapes of its versions:
 *
 * ```
 * <|recipient|>add_note
 * <|content|>{"text": "buy figs"}
 * >>>add_note
 * {"text": "buy figs"}
 * <function=add_note>{"text": "buy figs"}</function>
 * [{"name": "add_note", "arguments": {"text": "buy figs"}}]
 * ```
 *
 * v2, v3.2, v3.1, and a list at the start of the answer. The recipients `all` and `user` are no calls: their headers
 * are hidden (reasoning/segment_shapes.ts). Where the prompt ends with `>>>`, the answer begins with the recipient's
 * name.
 *
 * Source: chat templates of meetkai/functionary-medium-v3.1 and v3.2; MeetKai/functionary README for v2.
 *
 * @module
 */
import { ArgumentsReader } from "./arguments_reader.ts";
import { CallReader } from "./call_reader.ts";
import { FunctionTagReader } from "./function_tag.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { type Opener, ToolScanner } from "./tool_scanner.ts";
import { BareListReader } from "./xlam.ts";

const RECIPIENT = "<|recipient|>";
const CONTENT = "<|content|>";
const ARROWS = ">>>";
/** What may stand behind arguments. */
const FOLLOWERS = ["<|from|>", RECIPIENT, "<|stop|>", ARROWS] as const;

/** A name and what parts it from its arguments. */
interface Header {
  whole: RegExp;
  partial: RegExp;
}

const WITH_CONTENT: Header = {
  whole: /^\s*(?<name>[\w.-]{1,256})\s*<\|content\|>\s*/,
  partial: /^\s*[\w.-]{0,256}\s*(?:<[^>]{0,10})?$/,
};
const WITH_LINE: Header = { whole: /^(?<name>[\w.-]{1,256})\n\s*(?=\{)/, partial: /^(?:[\w.-]{1,256}(?:\n\s*)?)?$/ };

/** Makes the parser of an answer. */
export function createFunctionary(context: ToolContext): ToolParser {
  const opened = context.prompt?.endsWith(ARROWS) === true ? [...context.tools.keys()] : [];
  return new ToolScanner(
    [
      { text: RECIPIENT, place: "anywhere", read: () => new MessageReader(context, WITH_CONTENT) },
      { text: ARROWS, place: "anywhere", read: () => new MessageReader(context, WITH_LINE) },
      { text: "<function=", place: "anywhere", read: () => new FunctionTagReader(context) },
      { text: "[", place: "answerStart", isPart: true, read: () => new BareListReader(context, false) },
      ...opened.map((name): Opener => (
        { text: `${name}\n`, place: "answerStart", isPart: true, read: () => new MessageReader(context, WITH_LINE) }
      )),
    ],
    ["<|from|>", RECIPIENT, CONTENT, "<|stop|>"],
    context,
  );
}

/** A message to a tool, from its name on. */
class MessageReader extends CallReader {
  readonly #context: ToolContext;
  readonly #header: Header;
  #arguments: ArgumentsReader | undefined;
  #ended = false;

  constructor(context: ToolContext, header: Header) {
    super();
    this.#context = context;
    this.#header = header;
  }

  protected step(): boolean {
    if (this.#arguments === undefined) return this.#readHeader();
    if (this.#ended) return this.#readEnd();
    this.#ended = this.readPart(this.#arguments);
    return this.#ended;
  }

  #readHeader(): boolean {
    const header = this.#header.whole.exec(this.text);
    if (header === null) {
      return this.end === undefined && this.#header.partial.test(this.text) ? false : this.break("");
    }
    const name = header.groups?.["name"] ?? "";
    if (name === "all" || name === "user") return this.break("");
    const tool = this.requireTool(this.#context.tools, name);
    if (tool === undefined) return false;
    this.take(header[0].length);
    this.#arguments = new ArgumentsReader(tool);
    return true;
  }

  /** The next message, or the end of the answer. */
  #readEnd(): boolean {
    if (!this.skipSpace()) return false;
    const next = this.peek(...FOLLOWERS);
    if (next === "wait" || (next === undefined && this.end === "cut")) return false;
    if (next === undefined && this.text !== "") return this.break("behind its arguments stands something else");
    this.emit({ type: "callEnd" });
    return this.finish();
  }
}
