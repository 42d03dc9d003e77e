/**
 * What the encoders of the generating wires have in common, so that the edge treats them alike.
 *
 * @module
 */
import type { OutputEvent } from "../flow.ts";
import type { Usage } from "./usage.ts";

/** Why a choice ended, as the OpenAI wires say it. */
export type WireFinishReason = "stop" | "length" | "tool_calls" | "function_call";

/** What every chunk of an answer repeats. */
export interface AnswerHead {
  /** One id for the whole answer. */
  id: string;
  /** Seconds since the epoch. */
  created: number;
  /** Served id. */
  model: string;
  /** Choices, over all prompts. */
  choiceCount: number;
  /** Chunks carry `usage: null` until the last one. */
  includeUsage: boolean;
}

/** Output events → the wire's JSON, streamed or whole. Never sees a `cancelled` finish. */
export interface AnswerEncoder {
  /** Chunks that can be sent before the first token. */
  opening(): object[];
  /** A chunk without content, for the silence of queue and prefill. */
  keepAlive(): object;
  /** The chunk of an event of a choice; undefined if it shows nothing. */
  toChunk(index: number, event: OutputEvent): object | undefined;
  /** The chunk that carries nothing but usage. */
  usageChunk(usage: Usage): object;
  /** Adds an event of a choice to the whole answer. */
  collect(index: number, event: OutputEvent): void;
  /** The body of the whole answer, once every choice has finished. */
  whole(usage: Usage): object;
}
