// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Messages: the way back, from output events to one JSON or to events. A stream, drawn:
 *
 *     event: message_start        {"type":"message_start","message":{"id":"msg_…","content":[],"usage":{…},…}}
 *     event: content_block_start  {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
 *     event: content_block_delta  {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}
 *     event: content_block_stop   {"type":"content_block_stop","index":0}
 *     event: message_delta        {"type":"message_delta","delta":{"stop_reason":"end_turn",…},"usage":{…}}
 *     event: message_stop         {"type":"message_stop"}
 *
 * Blocks never overlap. The whole answer is the same blocks, put together.
 *
 * @module
 */
import type { OutputEvent } from "../../flow.ts";
import type { AnswerEncoder, AnswerHead, WireEvent } from "../answer.ts";
import { type RequestError, toErrorEnvelope } from "../errors.ts";
import type { Seal } from "../seal.ts";
import type { Usage } from "../usage.ts";
import { addStep, type BlockDelta, type BlockStep, ContentBlocks, type MessageBlock } from "./content.ts";
import type { ThinkingDisplay } from "./thinking.ts";

/** Why an answer ended. */
export type StopReason = "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "model_context_window_exceeded";

/** What an answer cost, as it is told in `message_delta`. */
export interface MessageDeltaUsage {
  /** Of the prompt, what was not cached. */
  input_tokens: number;
  /** Of the prompt, taken from the prefix cache. */
  cache_read_input_tokens: number;
  /** Always 0: caching is not paid for. */
  cache_creation_input_tokens: number;
  /** Tokens drawn, end tokens included. */
  output_tokens: number;
  /** Of output_tokens. */
  output_tokens_details: { thinking_tokens: number };
  /** This server runs no tools. */
  server_tool_use: null;
  /** As on the other wires; not there at the beginning of a stream. */
  rapid_mlx?: Usage["rapid_mlx"];
}

/** The same in a message. What only a hosted service has is null. */
export interface MessageUsage extends MessageDeltaUsage {
  /** By lifetime. */
  cache_creation: null;
  /** Here. */
  inference_geo: null;
  /** There is one. */
  service_tier: null;
  /** There is one. */
  speed: null;
}

/** Why an answer that ended by itself has neither text nor calls. */
export interface EmptyMessage {
  /** This server's own part. */
  rapid_mlx?: { empty: "thinking_only" | "nothing_said" };
}

/** The body of a whole answer; as it begins, in `message_start`. */
export interface MessageAnswer extends EmptyMessage {
  /** `msg_…`. */
  id: string;
  /** Literal. */
  type: "message";
  /** Literal. */
  role: "assistant";
  /** Served id. */
  model: string;
  /** In order. */
  content: MessageBlock[];
  /** Null until it ends. */
  stop_reason: StopReason | null;
  /** The one that matched. */
  stop_sequence: string | null;
  /** What it cost so far. */
  usage: MessageUsage;
  /** Only refusals have some, and this server refuses nothing by itself. */
  stop_details: null;
  /** No code is run. */
  container: null;
  /** Of prompt caches. */
  diagnostics: null;
}

/** One event of a stream; `error` has the envelope of a refusal. */
export type MessageEvent =
  | { type: "message_start"; message: MessageAnswer }
  | { type: "content_block_start"; index: number; content_block: MessageBlock }
  | { type: "content_block_delta"; index: number; delta: BlockDelta }
  | { type: "content_block_stop"; index: number }
  | MessageDeltaEvent
  | { type: "message_stop" }
  | { type: "ping" };

/** Why and how an answer ended. */
export interface MessageDeltaEvent extends EmptyMessage {
  /** Discriminator. */
  type: "message_delta";
  /** What changes of the message. */
  delta: Pick<MessageAnswer, "stop_reason" | "stop_sequence" | "stop_details" | "container">;
  /** All of it, not what was added. */
  usage: MessageDeltaUsage;
}

/** What the encoder knows beside the head. */
export interface MessageFacts {
  /** Of the rendered conversation. */
  promptTokens: number;
  /** The end of the context is told apart from `max_tokens`; the client asked for that. */
  tellsContextEnd: boolean;
  /** What the client sees of the thinking. */
  display: ThinkingDisplay;
  /** Signs it. */
  seal: Seal;
}

/** Encodes the answer to one Messages request. */
export class MessageEncoder implements AnswerEncoder {
  readonly #head: AnswerHead;
  readonly #facts: MessageFacts;
  readonly #blocks: ContentBlocks;
  readonly #content: MessageBlock[] = [];
  #finish: Extract<OutputEvent, { type: "finish" }> | undefined;

  /** @param head Id and model. @param facts The rest. */
  constructor(head: AnswerHead, facts: MessageFacts) {
    this.#head = head;
    this.#facts = facts;
    this.#blocks = new ContentBlocks(facts.display, facts.seal);
  }

  /** The message without content. */
  opening(): WireEvent[] {
    const usage: MessageDeltaUsage = {
      input_tokens: this.#facts.promptTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 0,
      output_tokens_details: { thinking_tokens: 0 },
      server_tool_use: null,
    };
    return [named({ type: "message_start", message: this.#message([], usage) })];
  }

  /** Clients count it as life. */
  keepAlive(): WireEvent {
    return named({ type: "ping" });
  }

  /** What an event does to the blocks. */
  toEvents(_index: number, event: OutputEvent): WireEvent[] {
    return this.#push(event).map(toBlockEvent);
  }

  /** Why it ended and what it cost, then the end. */
  closing(usage: Usage): WireEvent[] {
    const { stop_reason, stop_sequence } = this.#end();
    const delta = { stop_reason, stop_sequence, stop_details: null, container: null };
    return [
      named({ type: "message_delta", delta, usage: toMessageUsage(usage), ...this.#toEmpty() }),
      named({ type: "message_stop" }),
    ];
  }

  /** The wire's error event; neither `message_delta` nor `message_stop` follow. */
  failure(error: RequestError): WireEvent[] {
    return [{ event: "error", data: toErrorEnvelope(error, "anthropic", this.#head.requestId) }];
  }

  /** Adds what an event does to the content. */
  collect(_index: number, event: OutputEvent): void {
    for (const step of this.#push(event)) addStep(this.#content, step);
  }

  /** The body of the whole answer. */
  whole(usage: Usage): MessageAnswer {
    return { ...this.#message(this.#content, toMessageUsage(usage)), ...this.#end(), ...this.#toEmpty() };
  }

  #push(event: OutputEvent): BlockStep[] {
    if (event.type === "finish") this.#finish = event;
    return this.#blocks.push(event);
  }

  #message(content: MessageBlock[], usage: MessageDeltaUsage): MessageAnswer {
    const { id, model } = this.#head;
    return {
      id,
      type: "message",
      role: "assistant",
      model,
      content,
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: { ...usage, cache_creation: null, inference_geo: null, service_tier: null, speed: null },
    };
  }

  #end(): Pick<MessageAnswer, "stop_reason" | "stop_sequence"> {
    const { reason = "stop", stopString } = this.#finish ?? {};
    if (reason === "tool_calls") return { stop_reason: "tool_use", stop_sequence: null };
    if (reason === "length") {
      const isContext = this.#facts.tellsContextEnd;
      return { stop_reason: isContext ? "model_context_window_exceeded" : "max_tokens", stop_sequence: null };
    }
    if (stopString !== undefined) return { stop_reason: "stop_sequence", stop_sequence: stopString };
    return { stop_reason: "end_turn", stop_sequence: null };
  }

  /** Other ends than by itself are a reason in themselves. */
  #toEmpty(): EmptyMessage {
    if (this.#end().stop_reason !== "end_turn" || this.#blocks.hasAnswer) return {};
    return { rapid_mlx: { empty: this.#blocks.hasThought ? "thinking_only" : "nothing_said" } };
  }
}

/** The event's name is its type on this wire. */
function named(data: MessageEvent): WireEvent {
  return { event: data.type, data };
}

function toBlockEvent(step: BlockStep): WireEvent {
  const { index } = step;
  if (step.type === "start") return named({ type: "content_block_start", index, content_block: step.block });
  if (step.type === "stop") return named({ type: "content_block_stop", index });
  return named({ type: "content_block_delta", index, delta: step.delta });
}

function toMessageUsage(usage: Usage): MessageDeltaUsage {
  const { prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details, rapid_mlx } = usage;
  return {
    input_tokens: prompt_tokens - prompt_tokens_details.cached_tokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: prompt_tokens_details.cached_tokens,
    output_tokens: completion_tokens,
    output_tokens_details: { thinking_tokens: completion_tokens_details.reasoning_tokens },
    server_tool_use: null,
    rapid_mlx,
  };
}
