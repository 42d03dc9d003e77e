// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Responses: the way back, from output events to one JSON or to events. A stream, drawn:
 *
 *     response.created, response.in_progress      {"response":{"id":"resp_…","status":"in_progress","output":[],…}}
 *     response.output_item.added                  {"output_index":0,"item":{"id":"msg_…","content":[],…}}
 *     response.content_part.added                 {"item_id":"msg_…","content_index":0,"part":{…}}
 *     response.output_text.delta …                {"delta":"Hi"}
 *     response.output_text.done, content_part.done, output_item.done
 *     response.completed                          {"response":{"status":"completed","output":[…],"usage":{…}}}
 *
 * An answer that was cut ends with `response.incomplete`, one that broke with `response.failed`. Codex reads items from
 * `output_item.done`, the SDKs from `response.completed`: both have all of them.
 *
 * @module
 */
import type { OutputEvent } from "../../flow.ts";
import type { AnswerEncoder, AnswerHead, WireEvent } from "../answer.ts";
import type { RequestError } from "../errors.ts";
import type { Usage } from "../usage.ts";
import { type OutputFacts, OutputItems } from "./output.ts";
import type { RequestEcho, ResponseEvent, ResponseEventBody, ResponseObject, ResponseUsage } from "./response.ts";

/** What the encoder knows beside the head. */
export interface ResponseFacts extends OutputFacts {
  /** What is repeated of the request. */
  echo: RequestEcho;
  /** Seconds since the epoch. */
  now: () => number;
}

/** Encodes the answer to one Responses request. */
export class ResponseEncoder implements AnswerEncoder {
  readonly #head: AnswerHead;
  readonly #facts: ResponseFacts;
  readonly #items: OutputItems;
  #sequence = 0;
  #finish: Extract<OutputEvent, { type: "finish" }> | undefined;
  #hasThought = false;
  #hasAnswer = false;
  #response: ResponseObject | undefined;

  /** @param head Id and model. @param facts The rest. */
  constructor(head: AnswerHead, facts: ResponseFacts) {
    this.#head = head;
    this.#facts = facts;
    this.#items = new OutputItems(facts);
  }

  /** The response, once it has ended as it should. */
  get response(): ResponseObject | undefined {
    return this.#response;
  }

  /** That there is one, and that it is being made. */
  opening(): WireEvent[] {
    const response = this.#toResponse("in_progress");
    return [this.#number({ type: "response.created", response }), this.keepAlive()];
  }

  /** Clients count it as life; it has what there is so far, since they take it for the response's state. */
  keepAlive(): WireEvent {
    return this.#number({ type: "response.in_progress", response: this.#toResponse("in_progress") });
  }

  /** What an event does to the items. */
  toEvents(_index: number, event: OutputEvent): WireEvent[] {
    return this.#push(event).map((body) => this.#number(body));
  }

  /** The whole response. */
  closing(usage: Usage): WireEvent[] {
    const response = this.whole(usage);
    const type = response.status === "incomplete" ? "response.incomplete" : "response.completed";
    return [this.#number({ type, response })];
  }

  /** The response as far as it came, and why it ended. */
  failure({ code, message }: RequestError): WireEvent[] {
    const error = { code: code === "server_busy" ? "rate_limit_exceeded" : "server_error", message } as const;
    return [this.#number({ type: "response.failed", response: { ...this.#toResponse("failed"), error } })];
  }

  /** Adds what an event does to the items. */
  collect(_index: number, event: OutputEvent): void {
    this.#push(event);
  }

  /** The body of the whole answer. */
  whole(usage: Usage): ResponseObject {
    const isCut = this.#finish?.reason === "length";
    this.#response = {
      ...this.#toResponse(isCut ? "incomplete" : "completed"),
      completed_at: isCut ? null : this.#facts.now(),
      incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
      usage: toResponseUsage(usage),
      ...(!isCut && !this.#hasAnswer && {
        rapid_mlx: { empty: this.#hasThought ? "thinking_only" : "nothing_said" },
      }),
    };
    return this.#response;
  }

  #push(event: OutputEvent): ResponseEventBody[] {
    if (event.type === "finish") this.#finish = event;
    if (event.type === "reasoning") this.#hasThought = true;
    if (event.type === "text" || event.type === "toolCallStart") this.#hasAnswer = true;
    return this.#items.push(event);
  }

  #toResponse(status: ResponseObject["status"]): ResponseObject {
    const { id, created, model } = this.#head;
    return {
      id,
      object: "response",
      created_at: created,
      completed_at: null,
      status,
      error: null,
      incomplete_details: null,
      model,
      output: this.#items.all(status === "failed" ? "incomplete" : "in_progress"),
      usage: null,
      background: false,
      truncation: "disabled",
      ...this.#facts.echo,
    };
  }

  #number(body: ResponseEventBody): WireEvent {
    const data: ResponseEvent = { ...body, sequence_number: this.#sequence++ };
    return { event: data.type, data };
  }
}

function toResponseUsage(usage: Usage): ResponseUsage {
  const { prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details, rapid_mlx } = usage;
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: { cached_tokens: prompt_tokens_details.cached_tokens, cache_write_tokens: 0 },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens: completion_tokens_details.reasoning_tokens },
    total_tokens: usage.total_tokens,
    rapid_mlx,
  };
}
