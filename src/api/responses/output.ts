// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Output events → the items of a response, and the events that show them growing.
 *
 * One item is open at a time; another's first event closes it. Every item that was added is done before the next
 * one, and the items at the end are those of the events.
 *
 * @module
 */
import type { OutputEvent, VisibleToken } from "../../flow.ts";
import { toExactJson } from "../body.ts";
import { toFreeformText } from "../freeform.ts";
import { type ChatTokenLogprob, toChatLogprobs } from "../logprobs.ts";
import type { Seal } from "../seal.ts";
import type {
  ItemStatus,
  MessageItem,
  OutputItem,
  OutputTextPart,
  ReasoningItem,
  ResponseEventBody,
} from "./response.ts";
import type { ReasoningDisplay } from "./text.ts";
import type { CallKind } from "./tools.ts";

/** What the items need to know of their request. */
export interface OutputFacts {
  /** Part of every id of the answer. */
  key: string;
  /** Where thinking is shown. */
  display: ReasoningDisplay;
  /** Seals thinking, if that was asked for. */
  seal?: Seal;
  /** Probabilities were asked for. */
  logprobs: boolean;
  /** As what a call leaves, by the name that the model calls. */
  kindOf: (name: string) => CallKind;
}

/** An item that grows. */
type Open =
  | { type: "message"; id: string; text: string; logprobs: ChatTokenLogprob[] }
  | { type: "reasoning"; id: string; text: string }
  | { type: "call"; id: string; text: string; callId: string; kind: CallKind };

const PREFIXES = { function: "fc", custom: "ctc", tool_search: "tsc" } as const;

/** The items of one answer. */
export class OutputItems {
  /** Those that are done. */
  readonly done: OutputItem[] = [];
  readonly #facts: OutputFacts;
  #open: Open | undefined;

  /** @param facts Of the request. */
  constructor(facts: OutputFacts) {
    this.#facts = facts;
  }

  /** All of them. @param status What the open one is said to be. */
  all(status: ItemStatus): OutputItem[] {
    return this.#open === undefined ? [...this.done] : [...this.done, this.#toItem(this.#open, status)];
  }

  /** What an event shows. Calls have to be whole: of one that broke nothing may have been pushed. */
  push(event: OutputEvent): ResponseEventBody[] {
    switch (event.type) {
      case "text":
        return [...this.#turnTo("message"), ...this.#addText(event.text, event.tokens)];
      case "reasoning":
        return [...this.#turnTo("reasoning"), ...this.#addThought(event.text)];
      case "toolCallStart":
        return [...this.#close("completed"), ...this.#begin(this.#toCall(event))];
      case "toolCallArguments":
        return this.#addArguments(event.json);
      case "toolCallEnd":
        return this.#close("completed");
      case "finish":
        return this.#close(event.reason === "length" ? "incomplete" : "completed");
      case "toolCallBroken":
      case "repair":
        return [];
    }
  }

  #turnTo(type: "message" | "reasoning"): ResponseEventBody[] {
    if (this.#open?.type === type) return [];
    const id = this.#toId(type === "message" ? "msg" : "rs", this.#open === undefined ? 0 : 1);
    const open: Open = type === "message" ? { type, id, text: "", logprobs: [] } : { type, id, text: "" };
    return [...this.#close("completed"), ...this.#begin(open)];
  }

  #toCall({ id, name }: { id: string; name: string }): Open {
    const kind = this.#facts.kindOf(name);
    return { type: "call", id: this.#toId(PREFIXES[kind.type], 0), text: "", callId: id, kind };
  }

  /** @param more Items that are open and will be done before. */
  #toId(prefix: string, more: number): string {
    return `${prefix}_${this.#facts.key}${(this.done.length + more).toString(16).padStart(4, "0")}`;
  }

  #begin(open: Open): ResponseEventBody[] {
    this.#open = open;
    const output_index = this.done.length;
    const place = { item_id: open.id, output_index };
    const added: ResponseEventBody = {
      type: "response.output_item.added",
      output_index,
      item: this.#toItem({ ...open }, "in_progress", true),
    };
    if (open.type === "call") return [added];
    if (open.type === "message") {
      return [added, { type: "response.content_part.added", ...place, content_index: 0, part: toTextPart("", []) }];
    }
    if (this.#facts.display === "summary") {
      const part = { type: "summary_text", text: "" } as const;
      return [added, { type: "response.reasoning_summary_part.added", ...place, summary_index: 0, part }];
    }
    const part = { type: "reasoning_text", text: "" } as const;
    return [added, { type: "response.content_part.added", ...place, content_index: 0, part }];
  }

  #addText(delta: string, tokens: readonly VisibleToken[]): ResponseEventBody[] {
    const open = this.#open;
    if (open?.type !== "message") return [];
    const logprobs = this.#facts.logprobs ? toChatLogprobs(tokens).content : [];
    open.text += delta;
    open.logprobs.push(...logprobs);
    return [{ type: "response.output_text.delta", ...this.#place(open), content_index: 0, delta, logprobs }];
  }

  #addThought(delta: string): ResponseEventBody[] {
    const open = this.#open;
    if (open?.type !== "reasoning") return [];
    open.text += delta;
    const place = this.#place(open);
    return this.#facts.display === "summary"
      ? [{ type: "response.reasoning_summary_text.delta", ...place, summary_index: 0, delta }]
      : [{ type: "response.reasoning_text.delta", ...place, content_index: 0, delta }];
  }

  #addArguments(delta: string): ResponseEventBody[] {
    const open = this.#open;
    if (open?.type !== "call") return [];
    open.text += delta;
    // The text of a freeform call is inside its JSON; a search has no events for its arguments.
    if (open.kind.type !== "function") return [];
    return [{ type: "response.function_call_arguments.delta", ...this.#place(open), delta }];
  }

  #place({ id }: Open): { item_id: string; output_index: number } {
    return { item_id: id, output_index: this.done.length };
  }

  #close(status: ItemStatus): ResponseEventBody[] {
    const open = this.#open;
    if (open === undefined) return [];
    const item = this.#toItem(open, status);
    const ends = this.#toEnds(open, item);
    const output_index = this.done.length;
    this.#open = undefined;
    this.done.push(item);
    return [...ends, { type: "response.output_item.done", output_index, item }];
  }

  /** What is done of an item before the item is. */
  #toEnds(open: Open, item: OutputItem): ResponseEventBody[] {
    const place = this.#place(open);
    const { text } = open;
    if (open.type === "message") {
      const { logprobs } = open;
      return [
        { type: "response.output_text.done", ...place, content_index: 0, text, logprobs },
        { type: "response.content_part.done", ...place, content_index: 0, part: toTextPart(text, logprobs) },
      ];
    }
    if (open.type === "reasoning" && this.#facts.display === "summary") {
      const part = { type: "summary_text", text } as const;
      return [
        { type: "response.reasoning_summary_text.done", ...place, summary_index: 0, text },
        { type: "response.reasoning_summary_part.done", ...place, summary_index: 0, part },
      ];
    }
    if (open.type === "reasoning") {
      const part = { type: "reasoning_text", text } as const;
      return [
        { type: "response.reasoning_text.done", ...place, content_index: 0, text },
        { type: "response.content_part.done", ...place, content_index: 0, part },
      ];
    }
    if (item.type === "custom_tool_call") {
      const { input } = item;
      return [
        { type: "response.custom_tool_call_input.delta", ...place, delta: input },
        { type: "response.custom_tool_call_input.done", ...place, input },
      ];
    }
    if (item.type !== "function_call") return [];
    return [{
      type: "response.function_call_arguments.done",
      ...place,
      arguments: item.arguments,
      name: item.name,
    }];
  }

  /** @param isNew As it is added: without its parts. */
  #toItem(open: Open, status: ItemStatus, isNew = false): OutputItem {
    if (open.type === "call") return toCallItem(open, status);
    const { id, text } = open;
    if (open.type === "message") {
      const content = isNew ? [] : [toTextPart(text, open.logprobs)];
      return { id, type: "message", status, role: "assistant", content } satisfies MessageItem;
    }
    const { display, seal } = this.#facts;
    const encrypted_content = status === "in_progress" || seal === undefined ? null : seal.seal(text);
    const base = { id, type: "reasoning", status, encrypted_content } as const;
    const item: ReasoningItem = display === "summary"
      ? { ...base, summary: isNew ? [] : [{ type: "summary_text", text }] }
      : { ...base, summary: [], content: isNew ? [] : [{ type: "reasoning_text", text }] };
    return item;
  }
}

function toTextPart(text: string, logprobs: ChatTokenLogprob[]): OutputTextPart {
  return { type: "output_text", text, annotations: [], logprobs };
}

function toCallItem({ id, text, callId, kind }: Extract<Open, { type: "call" }>, status: ItemStatus): OutputItem {
  const isWhole = status !== "in_progress";
  if (kind.type === "tool_search") {
    const args = isWhole ? toExactJson(text === "" ? "{}" : text) : {};
    return { id, type: "tool_search_call", call_id: callId, execution: "client", arguments: args, status };
  }
  const { name, namespace } = kind;
  const head = { call_id: callId, name, ...(namespace !== undefined && { namespace }), status };
  if (kind.type === "function") return { id, type: "function_call", ...head, arguments: text };
  return { id, type: "custom_tool_call", ...head, input: isWhole ? toFreeformText(text === "" ? "{}" : text) : "" };
}
