/**
 * What the encoders of the generating wires have in common, so that the edge treats them alike.
 *
 * @module
 */
import type { OutputEvent } from "../flow.ts";
import type { RequestError } from "./errors.ts";
import type { Usage } from "./usage.ts";

/** Why a choice ended, as the OpenAI wires say it. */
export type WireFinishReason = "stop" | "length" | "tool_calls" | "function_call";

/** What every chunk of an answer repeats. */
export interface AnswerHead {
  /** One id for the whole answer. */
  id: string;
  /** `req-…`: errors name it. */
  requestId: string;
  /** Seconds since the epoch. */
  created: number;
  /** Served id. */
  model: string;
  /** Choices, over all prompts. */
  choiceCount: number;
  /** A stream tells its usage, where the wire leaves that to the client. */
  includeUsage: boolean;
}

/** One event of a stream, whatever the wire. */
export interface WireEvent {
  /** SSE's `event:` line; absent on the wires that have none. */
  event?: string;
  /** SSE's `data:` line: JSON, or the word that ends OpenAI's older streams. */
  data: object | "[DONE]";
}

/**
 * Output events → the wire's JSON, streamed or whole. Never sees a `cancelled` finish.
 *
 * A stream is `opening`, then `toEvents` of each event, then `closing`, or `failure` where it breaks; `keepAlive` may
 * come anywhere between. A whole answer is `collect` of each event, then `whole`.
 */
export interface AnswerEncoder {
  /** Events that are sent at once, before the first token. */
  opening(): WireEvent[];
  /** An event that says nothing, for the silence of queue and prefill: one that the wire's clients count. */
  keepAlive(): WireEvent;
  /** What an event of a choice shows; none: nothing. */
  toEvents(index: number, event: OutputEvent): WireEvent[];
  /** What ends the stream once every choice has finished. */
  closing(usage: Usage): WireEvent[];
  /** How a stream ends that broke: it must not look whole. */
  failure(error: RequestError): WireEvent[];
  /** Adds an event of a choice to the whole answer. */
  collect(index: number, event: OutputEvent): void;
  /** The body of the whole answer, once every choice has finished. */
  whole(usage: Usage): object;
}
