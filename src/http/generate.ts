/**
 * From a planned request to its response, whatever the wire: submit, stream or collect, account, log.
 *
 * What can fail before the first byte fails before it: every choice is submitted first, so that a full queue is a 429
 * and not a broken stream. A client that leaves aborts its generations before the core's next step.
 *
 * @module
 */
import type { AnswerEncoder } from "../api/answer.ts";
import { RequestError, type Wire } from "../api/errors.ts";
import type { IgnoredFields } from "../api/fields.ts";
import { type Usage, UsageTotal } from "../api/usage.ts";
import type { OutputEvent } from "../flow.ts";
import type { LogFields, Logger } from "../log.ts";
import { type Choice, type ChoiceEvent, type Generator, mergeAnswers, startAnswer } from "../route/answer.ts";
import type { RequestRecorder } from "../trace/recorder.ts";
import type { Records } from "../trace/records.ts";
import { type Activity, type ActivityStart, LiveRequest, type Outcome } from "./activity.ts";
import type { Clock } from "./clock.ts";
import { isInternal, toRequestError } from "./errors.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { type PlanFacts, toRecordedEnd, toRecordedPlan } from "./recording.ts";
import { EVENT_STREAM_HEADERS, toEventStream, toFrame } from "./sse.ts";

/** What answering needs of the server. */
export interface GenerateDependencies {
  /** Makes tokens. */
  engine: Generator;
  /** Keeps the books. */
  activity: Activity;
  /** Says whether a cancelled answer was the server's own doing. */
  lifecycle: Lifecycle;
  /** Times the answer. */
  clock: Clock;
  /** Keeps what happened. */
  records: Records;
}

/** A request, ready to be answered. */
export interface Plan {
  /** Id of the answer. */
  id: string;
  /** Id of the request, as the log and `x-request-id` have it. */
  requestId: string;
  /** Served id. */
  model: string;
  /** When the request arrived. */
  arrivedMs: number;
  /** What the door and the template took. */
  prepareMs: number;
  /** At least one. */
  choices: readonly Choice[];
  /** Which prompt a choice answers, from 0. */
  promptOf: (choice: number) => number;
  /** Writes the wire. */
  encoder: AnswerEncoder;
  /** How that wire words its errors. */
  wire: Wire;
  /** SSE or one JSON. */
  stream: boolean;
  /** Told once the answer is whole, before its end is sent. */
  onAnswered?: ((usage: Usage) => void) | undefined;
  /** Accepted without effect. */
  ignored: IgnoredFields;
  /** Aborts when the client leaves. */
  clientSignal: AbortSignal;
  /** Carries the request's id. */
  log: Logger;
  /** Watches the request. */
  record: RequestRecorder;
  /** What only the record wants to know. */
  facts: PlanFacts;
}

/** One request being answered. */
interface Exchange extends GenerateDependencies {
  plan: Plan;
  live: LiveRequest;
  usage: UsageTotal;
}

/**
 * Answers a request.
 *
 * @throws {CoreError} If the core refuses a choice; nothing of the request is left in it then.
 * @throws {RequestError} If a whole answer can't be finished.
 */
export async function respond(plan: Plan, dependencies: GenerateDependencies): Promise<Response> {
  const live = new LiveRequest(toActivityStart(plan), dependencies.clock);
  const exchange: Exchange = { ...dependencies, plan, live, usage: new UsageTotal() };
  const leave = (): void => live.abort.abort();
  plan.clientSignal.addEventListener("abort", leave);
  if (plan.clientSignal.aborted) leave();
  exchange.usage.promptRepairs = plan.facts.promptRepairs.reduce((sum, { count }) => sum + count, 0);
  exchange.usage.keptTurns = plan.facts.keptTurns ?? 0;
  plan.record.setPlan(toRecordedPlan(plan));
  const events = mergeAnswers(submit(exchange));
  dependencies.activity.begin(live);
  if (plan.stream) return new Response(streamBody(events, exchange), { headers: toHeaders(exchange) });
  try {
    const body = await collectBody(events, exchange);
    logEnd(exchange, undefined);
    return new Response(body, { headers: toHeaders(exchange) });
  } catch (error) {
    end(exchange, error); // the route logs it
    if (!isCut(exchange)) throw error;
    return new Response(lostBody(error), { headers: toHeaders(exchange) });
  }
}

/** Whether a failure is to look like a lost connection. */
function isCut({ plan }: Exchange): boolean {
  return plan.choices.some((choice) => choice.cutsConnection);
}

/** A body that ends the connection before its first byte. */
function lostBody(error: unknown): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.error(error) });
}

function toActivityStart(plan: Plan): ActivityStart {
  const prompts = new Map(plan.choices.map(({ request }, index) => [plan.promptOf(index), request.prompt.length]));
  return {
    id: plan.id,
    model: plan.model,
    arrivedMs: plan.arrivedMs,
    promptTokens: prompts.values().reduce((sum, length) => sum + length, 0),
    maxTokens: plan.choices[0]?.request.limits.maxTokens ?? 0,
    seeds: plan.choices.map(({ request }) => request.sampling.seed),
  };
}

/** Submits every choice, or none. */
function submit({ plan, engine, live }: Exchange): AsyncIterableIterator<OutputEvent>[] {
  const answers: AsyncIterableIterator<OutputEvent>[] = [];
  try {
    for (const [index, choice] of plan.choices.entries()) {
      answers.push(startAnswer(engine, choice, live.abort.signal, (event) => {
        live.observe(index, event);
        plan.record.observe(index, event);
      }));
    }
    return answers;
  } catch (error) {
    live.abort.abort();
    throw error;
  }
}

/** One JSON, after the last event. */
async function collectBody(events: AsyncIterable<ChoiceEvent>, exchange: Exchange): Promise<string> {
  const { plan, usage } = exchange;
  for await (const { index, event } of events) {
    account(exchange, index, event);
    plan.encoder.collect(index, event);
  }
  const total = usage.toWire();
  const body = JSON.stringify(plan.encoder.whole(total));
  plan.onAnswered?.(total);
  plan.record.sent(body);
  end(exchange, undefined);
  return body;
}

function streamBody(events: AsyncIterable<ChoiceEvent>, exchange: Exchange): ReadableStream<Uint8Array> {
  return toEventStream(toFrames(events, exchange), {
    clock: exchange.clock,
    keepAlive: () => toFrame(exchange.plan.encoder.keepAlive()),
    onLeave: () => exchange.live.abort.abort(),
  });
}

/**
 * Frames of an event stream. One that breaks ends as the wire says and without its closing: it must not look whole.
 */
async function* toFrames(events: AsyncIterable<ChoiceEvent>, exchange: Exchange): AsyncGenerator<string, void> {
  const { plan, usage } = exchange;
  const { encoder } = plan;
  const send = (frame: string): string => {
    plan.record.sent(frame);
    return frame;
  };
  for (const event of encoder.opening()) yield send(toFrame(event));
  try {
    for await (const { index, event } of events) {
      account(exchange, index, event);
      for (const shown of encoder.toEvents(index, event)) yield send(toFrame(shown));
    }
  } catch (error) {
    const frames = encoder.failure(toRequestError(error, plan.requestId, plan.wire)).map(toFrame);
    if (!isCut(exchange)) { for (const frame of frames) plan.record.sent(frame); }
    end(exchange, error);
    logEnd(exchange, error);
    // The connection breaks where its body does.
    if (isCut(exchange)) throw error;
    yield* frames;
    return;
  }
  const total = usage.toWire();
  const last = encoder.closing(total).map(toFrame).map(send);
  plan.onAnswered?.(total);
  end(exchange, undefined);
  logEnd(exchange, undefined);
  yield* last;
}

/** Keeps the books. @throws {RequestError} If the choice was cancelled: such an answer is not whole. */
function account({ plan, live, usage, lifecycle }: Exchange, index: number, event: OutputEvent): void {
  plan.record.show(index, event);
  if (event.type === "repair") {
    usage.repairs++;
    plan.log.log("debug", "repair", { choice: index, name: event.name, detail: event.detail });
  }
  if (event.type !== "finish") return;
  usage.add(plan.promptOf(index), event.usage, event.reasoningTokens);
  live.cachedTokens = usage.cachedTokens;
  if (live.firstTokenMs !== undefined) usage.firstTokenMs = live.firstTokenMs;
  if (event.reason !== "cancelled") return;
  if (lifecycle.draining) lifecycle.requireServing();
  throw new RequestError("client_closed_request", "The request was cancelled before its answer was whole.");
}

/** The end of a request, once. What still runs of its choices has no reader any more. */
function end(exchange: Exchange, error: unknown): void {
  exchange.live.abort.abort();
  const outcome = toOutcome(exchange, error);
  exchange.activity.end(exchange.live, outcome);
  exchange.records.end(exchange.plan.record, toRecordedEnd(exchange.plan, outcome, error));
}

function logEnd({ plan, live, clock }: Exchange, error: unknown): void {
  const fields: LogFields = {
    model: live.start.model,
    stream: plan.stream,
    promptTokens: live.start.promptTokens,
    completionTokens: live.completionTokens,
    firstTokenMs: live.firstTokenMs?.toFixed(1),
    totalMs: (clock.nowMs() - plan.arrivedMs).toFixed(1),
    ignored: plan.ignored.toHeader(),
    seeds: live.start.seeds.join(","),
  };
  if (error === undefined) return plan.log.log("info", "answered", fields);
  const known = toRequestError(error, plan.requestId, plan.wire);
  if (isInternal(known)) plan.log.log("error", "answer broke", { ...fields, error: String(error) });
  else plan.log.log("info", "answer ended early", { ...fields, code: known.code });
}

function toOutcome({ plan }: Exchange, error: unknown): Outcome {
  if (error === undefined) return "completed";
  const { code } = toRequestError(error, plan.requestId, plan.wire);
  if (plan.clientSignal.aborted || code === "client_closed_request") return "left";
  return code === "server_shutting_down" ? "cancelled" : "failed";
}

function toHeaders({ plan, usage, live, clock }: Exchange): Headers {
  const headers = new Headers(plan.stream ? EVENT_STREAM_HEADERS : { "content-type": "application/json" });
  const ignored = plan.ignored.toHeader();
  if (ignored !== undefined) headers.set("x-rapid-mlx-ignored", ignored);
  if (plan.stream) return headers;
  const { queue_ms: queueMs, prefill_ms: prefillMs } = usage.toWire().rapid_mlx;
  const decodeMs = live.usage.decodeUs / 1000;
  const timings = { prepare: plan.prepareMs, queue: queueMs, prefill: prefillMs, decode: decodeMs };
  const parts = Object.entries({ ...timings, total: clock.nowMs() - plan.arrivedMs })
    .map(([name, ms]) => `${name};dur=${ms.toFixed(3)}`);
  headers.set("server-timing", parts.join(", "));
  return headers;
}
