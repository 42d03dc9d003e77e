// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Completions: the way back, from output events to one JSON or to chunks of the same shape.
 *
 *     {"id":"cmpl-…","object":"text_completion","created":1,"model":"m",
 *      "choices":[{"index":0,"text":" there","logprobs":null,"finish_reason":null}]}
 *
 * @module
 */
import type { OutputEvent, VisibleToken } from "../flow.ts";
import type { AnswerEncoder, AnswerHead, WireEvent } from "./answer.ts";
import { type RequestError, toErrorEnvelope } from "./errors.ts";
import { countCodePoints, type LegacyLogprobs, toLegacyLogprobs } from "./logprobs.ts";
import type { Usage } from "./usage.ts";

/** Why a completion ended. */
export type CompletionFinish = "stop" | "length";

/** One answer, or a piece of it. */
export interface CompletionChoice {
  /** Prompt index times `n`, plus the choice's own. */
  index: number;
  /** The prompt first, if `echo`. */
  text: string;
  /** Null unless asked for. */
  logprobs: LegacyLogprobs | null;
  /** Null until it ends. */
  finish_reason: CompletionFinish | null;
}

/** A whole answer or a chunk. */
export interface Completion {
  /** `cmpl-…`. */
  id: string;
  /** Literal, in chunks too. */
  object: "text_completion";
  /** Seconds since the epoch. */
  created: number;
  /** Served id. */
  model: string;
  /** In order of index; one in a chunk. */
  choices: CompletionChoice[];
  /** As in chat. */
  usage?: Usage | null;
}

/** What is known of a choice so far. */
interface Draft {
  text: string;
  tokens: VisibleToken[];
  finish: CompletionFinish | null;
  /** Code points sent, for `text_offset`. */
  sentLength: number;
}

/** Encodes the answer to one completion request. */
export class CompletionEncoder implements AnswerEncoder {
  readonly #head: AnswerHead;
  readonly #echo: readonly string[];
  readonly #logprobsTop: number | undefined;
  readonly #drafts: Draft[];

  /** @param echo What each choice's text begins with. @param logprobsTop Undefined: no logprobs. */
  constructor(head: AnswerHead, echo: readonly string[], logprobsTop: number | undefined) {
    this.#head = head;
    this.#echo = echo;
    this.#logprobsTop = logprobsTop;
    this.#drafts = Array.from({ length: head.choiceCount }, (_, index) => {
      const text = echo[index] ?? "";
      return { text, tokens: [], finish: null, sentLength: countCodePoints(text) };
    });
  }

  /** The echoed prompts. */
  opening(): WireEvent[] {
    return this.#echo.flatMap((text, index) => text === "" ? [] : [{ data: this.#chunk(index, text) }]);
  }

  /** A chunk without text. */
  keepAlive(): WireEvent {
    return { data: this.#chunk(0, "") };
  }

  /** The chunk of an event, if it shows something. */
  toEvents(index: number, event: OutputEvent): WireEvent[] {
    const chunk = this.#toChunk(index, event);
    return chunk === undefined ? [] : [{ data: chunk }];
  }

  /** The chunk that carries nothing but usage, if it was asked for, and `[DONE]`. */
  closing(usage: Usage): WireEvent[] {
    const last: Completion = { ...this.#completion([]), usage };
    return [...this.#head.includeUsage ? [{ data: last }] : [], { data: "[DONE]" }];
  }

  /** An error chunk, and no `[DONE]`. */
  failure(error: RequestError): WireEvent[] {
    return [{ data: toErrorEnvelope(error, "openai", this.#head.requestId) }];
  }

  #toChunk(index: number, event: OutputEvent): Completion | undefined {
    const draft = this.#drafts[index];
    if (!draft) return undefined;
    if (event.type === "finish") return this.#chunk(index, "", null, toFinish(event.reason));
    if (event.type !== "text") return undefined;
    const logprobs = this.#toLogprobs(event.tokens, draft.sentLength);
    draft.sentLength += countCodePoints(event.text);
    return this.#chunk(index, event.text, logprobs);
  }

  /** Adds an event to the whole answer. */
  collect(index: number, event: OutputEvent): void {
    const draft = this.#drafts[index];
    if (!draft) return;
    if (event.type === "text") {
      draft.text += event.text;
      if (this.#logprobsTop !== undefined) draft.tokens.push(...event.tokens);
    } else if (event.type === "finish") draft.finish = toFinish(event.reason);
  }

  /** The body of a whole answer, once every choice has finished. */
  whole(usage: Usage): Completion {
    const choices = this.#drafts.map((draft, index) => ({
      index,
      text: draft.text,
      logprobs: this.#toLogprobs(draft.tokens, countCodePoints(this.#echo[index] ?? "")),
      finish_reason: draft.finish ?? "stop",
    }));
    return { ...this.#completion(choices), usage };
  }

  #toLogprobs(tokens: readonly VisibleToken[], textOffset: number): LegacyLogprobs | null {
    return this.#logprobsTop === undefined ? null : toLegacyLogprobs(tokens, textOffset, this.#logprobsTop);
  }

  #chunk(
    index: number,
    text: string,
    logprobs: LegacyLogprobs | null = null,
    finish: CompletionFinish | null = null,
  ): Completion {
    const completion = this.#completion([{ index, text, logprobs, finish_reason: finish }]);
    return this.#head.includeUsage ? { ...completion, usage: null } : completion;
  }

  #completion(choices: CompletionChoice[]): Completion {
    const { id, created, model } = this.#head;
    return { id, object: "text_completion", created, model, choices };
  }
}

function toFinish(reason: string): CompletionFinish {
  return reason === "length" ? "length" : "stop";
}
