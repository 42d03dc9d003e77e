/**
 * gpt-oss: the whole answer is messages with headers.
 *
 * ```
 * <|channel|>analysis<|message|>They want figs.<|end|>
 * <|start|>assistant<|channel|>commentary to=functions.add_note <|constrain|>json<|message|>{"text": "buy figs"}<|call|>
 * <|start|>assistant<|channel|>final<|message|>Done.<|return|>
 * ```
 *
 * `analysis` is reasoning, `final` content, `commentary` to a function a call, and to nobody content (a preamble). The
 * recipient may stand before the channel. A message ends with `<|end|>`, `<|call|>` or `<|return|>`, with the next
 * message's beginning, or with the answer. Text that spells a special token of the vocabulary is text
 * (spelled_markers.ts).
 *
 * Source: https://github.com/openai/harmony `docs/format.md`.
 *
 * @module
 */
import type { AnswerParser, AnswerPiece } from "../answer_parser.ts";
import { Run } from "../run.ts";
import { ArgumentsReader } from "../tools/arguments_reader.ts";
import { findTool } from "../tools/find_tool.ts";
import type { AnswerEnd, ToolContext } from "../tools/parser.ts";

const START = "<|start|>";
const CHANNEL = "<|channel|>";
const CONSTRAIN = "<|constrain|>";
const MESSAGE = "<|message|>";
const ENDS = ["<|end|>", "<|call|>", "<|return|>"];

/** Longest header, in UTF-16 units. */
const HEADER_LENGTH_MAX = 1024;

/** What a header can be so far, markers spelled out; anything else is text without a header. */
const HEADER = new RegExp(
  "^\\s*(<\\|start\\|>)?(\\s*(assistant|assistan|assista|assist|assis|assi|ass|as|a))?(\\s*(to=[^\\s<]*|to|t))?\\s*" +
    "(<\\|channel\\|>\\s*\\w*(\\s+(to=[^\\s<]*|to|t))?(\\s+\\w*)?\\s*)?(<\\|constrain\\|>[\\s\\w]*)?$",
);

/** A whole header as the format has it. */
const KNOWN_HEADER = new RegExp(
  "^\\s*(<\\|start\\|>)?\\s*(assistant)?\\s*(to=[^\\s<]+)?\\s*" +
    "(<\\|channel\\|>\\s*(analysis|commentary|final)(\\s+to=[^\\s<]+)?(\\s+(json|code))?\\s*)?" +
    "(<\\|constrain\\|>\\s*(json|code)\\s*)?<\\|message\\|>$",
);

/** What a message is. */
type Body =
  | { kind: "text" | "reasoning" }
  | { kind: "call"; reader: ArgumentsReader; raw: Run[]; started: boolean; behind: string };

/** Makes the parser of an answer, which begins behind `<|start|>assistant`. */
export function createHarmony(context: ToolContext): AnswerParser {
  return new HarmonyParser(context);
}

class HarmonyParser implements AnswerParser {
  readonly markers = [START, CHANNEL, CONSTRAIN, MESSAGE, ...ENDS];
  readonly closing = `<|end|>${START}assistant${CHANNEL}final${MESSAGE}`;
  readonly #context: ToolContext;
  /** Of the header that is being read; undefined in a body. */
  #header: Run[] | undefined = [];
  #body: Body = { kind: "text" };

  constructor(context: ToolContext) {
    this.#context = context;
  }

  get thinking(): boolean {
    return this.#header === undefined && this.#body.kind === "reasoning";
  }

  push(run: Run): AnswerPiece[] {
    if (run.control && !this.markers.includes(run.text)) return [{ type: "marker", run }];
    if (this.#header !== undefined) return this.#readHeader(this.#header, run);
    return run.control ? this.#endBody(run) : this.#readBody(run);
  }

  finish(end: AnswerEnd): AnswerPiece[] {
    if (this.#header === undefined) return this.#closeCall(end);
    const header = this.#header;
    this.#header = undefined;
    if (textOf(header).trim() === "") return asMarkers(header);
    if (!header.some((run) => run.control)) return asText(header);
    return [...unreadHeader(header), ...asMarkers(header)];
  }

  #readHeader(header: Run[], run: Run): AnswerPiece[] {
    if (run.control && run.text === MESSAGE) return this.#beginBody([...header, run]);
    if (run.control && ENDS.includes(run.text)) {
      this.#header = [];
      return [...unreadHeader(header), ...asMarkers([...header, run])];
    }
    header.push(run);
    const text = textOf(header);
    if (HEADER.test(text) && text.length <= HEADER_LENGTH_MAX) return [];
    this.#header = undefined;
    this.#body = { kind: "text" };
    return [
      { type: "repair", name: "text_without_header", detail: "" },
      ...header.map((one): AnswerPiece => ({ type: "text", run: new Run(one.text, one.tokens) })),
    ];
  }

  #beginBody(header: Run[]): AnswerPiece[] {
    this.#header = undefined;
    const text = textOf(header);
    const channel = /<\|channel\|>\s*(\w+)/.exec(text)?.[1] ?? "final";
    const recipient = /to=([^\s<]+)/.exec(text)?.[1];
    const unknown: AnswerPiece[] = KNOWN_HEADER.test(text)
      ? []
      : [{ type: "repair", name: "header_with_unknown_words", detail: text }];
    if (recipient !== undefined && recipient !== "assistant") {
      return [...unknown, ...this.#beginCall(header, recipient)];
    }
    this.#body = { kind: channel === "analysis" ? "reasoning" : "text" };
    return [...unknown, ...asMarkers(header)];
  }

  #beginCall(header: Run[], recipient: string): AnswerPiece[] {
    const found = findTool(this.#context.tools, recipient);
    if (found === undefined) {
      this.#body = { kind: "text" };
      const detail = `${JSON.stringify(recipient)} is no declared tool`;
      return [{ type: "repair", name: "tool_call_shown_as_text", detail }, ...asText(header)];
    }
    this.#body = { kind: "call", reader: new ArgumentsReader(found.tool), raw: header, started: false, behind: "" };
    return [];
  }

  #readBody(run: Run): AnswerPiece[] {
    const body = this.#body;
    if (body.kind !== "call") return [{ type: body.kind, run }];
    body.raw.push(run);
    const { pieces, next } = body.reader.push(run.text);
    if (body.reader.state === "done") body.behind += run.text.slice(next);
    body.started ||= pieces.some((piece) => piece.type === "callStart");
    const isBroken = body.reader.state === "broken" || body.behind.trim() !== "";
    return isBroken ? [...pieces, ...this.#breakCall(body)] : pieces;
  }

  /** A marker in a body ends it: an end, or the next message's beginning. */
  #endBody(marker: Run): AnswerPiece[] {
    const pieces = this.#closeCall("natural");
    this.#header = [];
    if (ENDS.includes(marker.text)) return [...pieces, ...asMarkers([marker])];
    return [...pieces, ...this.#readHeader(this.#header, marker)];
  }

  #closeCall(end: AnswerEnd): AnswerPiece[] {
    const body = this.#body;
    if (body.kind !== "call") return [];
    this.#body = { kind: "text" };
    const pieces: AnswerPiece[] = body.reader.finish(end);
    body.started ||= pieces.some((piece) => piece.type === "callStart");
    // Cut behind the last bracket it is whole, but nobody knows that it was meant to end there.
    if (body.reader.state !== "done" || end === "cut") return [...pieces, ...this.#breakCall(body)];
    return [...pieces, { type: "callEnd" }, ...body.raw.map((run) => ({ type: "wire", run }) as const)];
  }

  #breakCall(body: Body & { kind: "call" }): AnswerPiece[] {
    this.#body = { kind: "text" };
    const detail = body.reader.reason === "" ? "it does not end behind its arguments" : body.reader.reason;
    return [
      ...(body.started ? [{ type: "callBroken" } as const] : []),
      { type: "repair", name: "tool_call_shown_as_text", detail },
      ...asText(body.raw),
    ];
  }
}

/** A header that no message follows, named if it says anything. */
function unreadHeader(header: readonly Run[]): AnswerPiece[] {
  const text = textOf(header);
  const isEmpty = /^\s*(<\|start\|>)?\s*(assistant)?\s*$/.test(text);
  return isEmpty ? [] : [{ type: "repair", name: "header_without_message", detail: text }];
}

function textOf(runs: readonly Run[]): string {
  return runs.map((run) => run.text).join("");
}

function asText(runs: readonly Run[]): AnswerPiece[] {
  return runs.map((run) => ({ type: "text", run: new Run(run.text, run.tokens) }));
}

/** Read markers: no special tokens that nobody reads. */
function asMarkers(runs: readonly Run[]): AnswerPiece[] {
  return runs.map((run) => ({ type: "marker", run: new Run(run.text, run.tokens) }));
}
