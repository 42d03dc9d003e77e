/**
 * The structs of rmx.h ↔ the types of core.ts. The only place that counts bytes: offsets come from abi.gen.ts, all
 * numbers are little-endian.
 *
 * @module
 */
import type { GenerationUsage, TokenLogprob } from "../flow.ts";
import { CONSTANTS, STRUCTS } from "./abi.gen.ts";
import { CoreError, type CoreEvent, type SubmitRequest } from "./core.ts";
import { toCoreError } from "./errors.ts";

const utf8 = new TextDecoder();

/** The bytes of an rmx_error: one for each call in flight. */
export class ErrorBuffer {
  /** Lent to the call. */
  readonly bytes = new Uint8Array(STRUCTS.rmx_error.size);
  readonly #view = new DataView(this.bytes.buffer);

  /** The error that a call with this status left here. */
  read(status: number): CoreError {
    const { message_len: length, message } = STRUCTS.rmx_error.fields;
    const byteCount = Math.min(this.#view.getUint32(length.offset, true), message.count);
    return toCoreError(status, utf8.decode(this.bytes.subarray(message.offset, message.offset + byteCount)));
  }
}

/** One number written by the core through an out parameter. */
export class OutNumber {
  /** Lent to the call; 8 bytes, room for either width. */
  readonly bytes = new Uint8Array(8);
  readonly #view = new DataView(this.bytes.buffer);

  /** As uint32_t. */
  uint32(): number {
    return this.#view.getUint32(0, true);
  }

  /** As uint64_t; exact below 2^53. */
  uint64(): number {
    return Number(this.#view.getBigUint64(0, true));
  }
}

/** The buffers of one wait: events, their bytes, the batch. Not to be touched while a call has them. */
export class WaitBuffers {
  /** Room for `eventsMax` events. */
  readonly events: Uint8Array<ArrayBuffer>;
  /** Room for their payloads. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** An rmx_batch. */
  readonly batch = new Uint8Array(STRUCTS.rmx_batch.size);

  /** Room for `eventsMax` events of one batch and `bytesMax` bytes of their payloads, 8 kB or more. */
  constructor(readonly eventsMax: number, readonly bytesMax: number) {
    this.events = new Uint8Array(eventsMax * STRUCTS.rmx_event.size);
    this.bytes = new Uint8Array(bytesMax);
  }

  /** What the core has written; copies. */
  read(): CoreEvent[] {
    const count = new DataView(this.batch.buffer).getUint32(STRUCTS.rmx_batch.fields.event_count.offset, true);
    const view = new DataView(this.events.buffer);
    const events: CoreEvent[] = [];
    for (let i = 0; i < Math.min(count, this.eventsMax); i++) {
      events.push(readEvent(view, i * STRUCTS.rmx_event.size, this.bytes));
    }
    return events;
  }
}

const EVENT = STRUCTS.rmx_event.fields;

function readEvent(view: DataView, start: number, bytes: Uint8Array<ArrayBuffer>): CoreEvent {
  const tag = view.getUint32(start + EVENT.tag.offset, true);
  const status = view.getInt32(start + EVENT.status.offset, true);
  const value = view.getUint32(start + EVENT.value.offset, true);
  const bytesStart = view.getUint32(start + EVENT.bytes_offset.offset, true);
  const payload = bytes.subarray(bytesStart, bytesStart + view.getUint32(start + EVENT.bytes_len.offset, true));
  const kind = view.getUint16(start + EVENT.kind.offset, true);
  switch (kind) {
    case CONSTANTS.RMX_EVENT_TOKEN: {
      const token = view.getInt32(start + EVENT.token.offset, true);
      const logprob = view.getFloat32(start + EVENT.logprob.offset, true);
      return { type: "token", tag, token, index: value, logprob, top: readAlternatives(payload) };
    }
    case CONSTANTS.RMX_EVENT_PREFILL:
      return { type: "prefill", tag, doneTokens: value };
    case CONSTANTS.RMX_EVENT_FINISH:
      return readFinish(tag, status, payload);
    case CONSTANTS.RMX_EVENT_MODEL_PROGRESS:
      return { type: "modelProgress", model: tag, perMille: value };
    case CONSTANTS.RMX_EVENT_MODEL_READY:
      return { type: "modelReady", model: tag };
    case CONSTANTS.RMX_EVENT_MODEL_FAILED:
      return { type: "modelFailed", model: tag, status, message: utf8.decode(payload) };
    case CONSTANTS.RMX_EVENT_MODEL_UNLOADED:
      return { type: "modelUnloaded", model: tag };
    case CONSTANTS.RMX_EVENT_LOG:
      return { type: "log", level: LOG_LEVELS[status] ?? "error", line: utf8.decode(payload) };
    default:
      throw new CoreError("internal", `The core sent an event of kind ${kind}, which rmx.h does not have`);
  }
}

const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;

const FINISH_REASONS = new Map(
  [
    [CONSTANTS.RMX_FINISH_STOP, "stop"],
    [CONSTANTS.RMX_FINISH_LENGTH, "length"],
    [CONSTANTS.RMX_FINISH_CANCELLED, "cancelled"],
  ] as const,
);

function readFinish(tag: number, status: number, payload: Uint8Array<ArrayBuffer>): CoreEvent {
  const usage = readUsage(payload);
  const reason = (FINISH_REASONS as ReadonlyMap<number, "stop" | "length" | "cancelled">).get(status);
  if (reason !== undefined) return { type: "finish", tag, reason, usage };
  return { type: "failure", tag, status, message: utf8.decode(payload.subarray(STRUCTS.rmx_usage.size)), usage };
}

function readUsage(payload: Uint8Array<ArrayBuffer>): GenerationUsage {
  const view = new DataView(payload.buffer, payload.byteOffset, STRUCTS.rmx_usage.size);
  const fields = STRUCTS.rmx_usage.fields;
  const uint32 = ({ offset }: { offset: number }): number => view.getUint32(offset, true);
  const uint64 = ({ offset }: { offset: number }): number => Number(view.getBigUint64(offset, true));
  return {
    promptTokens: uint32(fields.prompt_tokens),
    cachedTokens: uint32(fields.cached_tokens),
    completionTokens: uint32(fields.completion_tokens),
    draftedTokens: uint32(fields.drafted_tokens),
    acceptedTokens: uint32(fields.accepted_tokens),
    queueUs: uint64(fields.queue_us),
    prefillUs: uint64(fields.prefill_us),
    decodeUs: uint64(fields.decode_us),
  };
}

const ALTERNATIVE = STRUCTS.rmx_alternative;

function readAlternatives(payload: Uint8Array<ArrayBuffer>): TokenLogprob[] {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  return Array.from({ length: Math.floor(payload.byteLength / ALTERNATIVE.size) }, (_, i) => ({
    token: view.getInt32(i * ALTERNATIVE.size + ALTERNATIVE.fields.token.offset, true),
    logprob: view.getFloat32(i * ALTERNATIVE.size + ALTERNATIVE.fields.logprob.offset, true),
  }));
}

/** A logit bias as rmx_alternative[n]. */
export function writeLogitBias(bias: ReadonlyMap<number, number>): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(bias.size * ALTERNATIVE.size);
  const view = new DataView(bytes.buffer);
  let start = 0;
  for (const [token, value] of bias) {
    view.setInt32(start + ALTERNATIVE.fields.token.offset, token, true);
    view.setFloat32(start + ALTERNATIVE.fields.logprob.offset, value, true);
    start += ALTERNATIVE.size;
  }
  return bytes;
}

/**
 * A request as rmx_params. Ranges are the core's to check; here only what the field's width would change in silence.
 *
 * @throws {CoreError} `argument`, if an integer is none or does not fit its field.
 */
export function writeParams(request: SubmitRequest): Uint8Array<ArrayBuffer> {
  const { size, fields } = STRUCTS.rmx_params;
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  const uint32 = (name: "tag" | "max_tokens" | CountField, value: number): void =>
    view.setUint32(fields[name].offset, requireInteger(name, value, 0, 0xffff_ffff), true);
  const float = (name: FloatField, value: number): void => view.setFloat32(fields[name].offset, value, true);
  view.setUint32(fields.size.offset, size, true);
  uint32("tag", request.tag);
  if (request.seed < 0n || request.seed >= 1n << 63n) {
    throw new CoreError("argument", `Cannot submit the request: seed is ${request.seed}, wanted 0 to 2^63 - 1`);
  }
  view.setBigUint64(fields.seed.offset, request.seed, true);
  uint32("max_tokens", request.maxTokens);
  const logprobs = request.logprobsTop === undefined ? 0 : CONSTANTS.RMX_REQUEST_LOGPROBS;
  const ignoreEnd = request.ignoreEnd ? CONSTANTS.RMX_REQUEST_IGNORE_END : 0;
  const masked = request.masked ? CONSTANTS.RMX_REQUEST_MASKED : 0;
  view.setUint32(fields.flags.offset, logprobs | ignoreEnd | masked, true);
  float("temperature", request.temperature);
  float("top_p", request.topP);
  float("min_p", request.minP);
  uint32("top_k", request.topK);
  float("repetition_penalty", request.repetitionPenalty);
  float("presence_penalty", request.presencePenalty);
  float("frequency_penalty", request.frequencyPenalty);
  uint32("penalty_window_tokens", request.penaltyWindowTokens);
  uint32("logprobs_top", request.logprobsTop ?? 0);
  uint32("client", request.client);
  const priority = requireInteger("priority", request.priority, -0x8000_0000, 0x7fff_ffff);
  view.setInt32(fields.priority.offset, priority, true);
  uint32("deadline_ms", request.deadlineMs);
  return bytes;
}

type CountField = "top_k" | "penalty_window_tokens" | "logprobs_top" | "client" | "deadline_ms";
type FloatField =
  | "temperature"
  | "top_p"
  | "min_p"
  | "repetition_penalty"
  | "presence_penalty"
  | "frequency_penalty";

function requireInteger(field: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new CoreError("argument", `Cannot submit the request: ${field} is ${value}, wanted ${least} to ${most}`);
}
