/** Structs of the header, written and read at the offsets of the table. */
import assert from "node:assert/strict";
import { CONSTANTS, STRUCTS } from "./abi.gen.ts";
import type { SubmitRequest } from "./core.ts";
import { ErrorBuffer, OutNumber, WaitBuffers, writeLogitBias, writeParams } from "./structs.ts";

const REQUEST: SubmitRequest = {
  tag: 0xfffffffe,
  model: 1,
  prompt: Int32Array.of(1),
  endTokens: Int32Array.of(2),
  seed: 0x7edcba9876543210n,
  maxTokens: 77,
  temperature: 0.5,
  topP: 0.25,
  minP: 0.125,
  topK: 40,
  repetitionPenalty: 1.5,
  presencePenalty: -2,
  frequencyPenalty: 2,
  penaltyWindowTokens: 64,
  logprobsTop: 5,
  logitBias: new Map(),
  ignoreEnd: true,
  client: 9,
  priority: -3,
  deadlineMs: 1000,
};

Deno.test("writeParams() puts every field where the header has it", () => {
  const bytes = writeParams(REQUEST);
  const view = new DataView(bytes.buffer);
  const fields = STRUCTS.rmx_params.fields;
  const read = (Object.keys(fields) as (keyof typeof fields)[]).map((name) => {
    const { offset, type } = fields[name];
    if (type === "f32") return view.getFloat32(offset, true);
    if (type === "u64") return view.getBigUint64(offset, true);
    return type === "i32" ? view.getInt32(offset, true) : view.getUint32(offset, true);
  });
  const flags = CONSTANTS.RMX_REQUEST_LOGPROBS | CONSTANTS.RMX_REQUEST_IGNORE_END;
  const start = [80, 0xfffffffe, 0x7edcba9876543210n, 77, flags, 0.5, 0.25, 0.125, 40, 1.5, -2, 2, 64, 5];
  assert.deepEqual(read, [...start, 9, -3, 1000, 0, 0]);
});

Deno.test("writeParams() refuses what a field's width would change in silence", () => {
  for (
    const [field, wrong] of [
      ["tag", { tag: 2 ** 32 }],
      ["max_tokens", { maxTokens: 1.5 }],
      ["top_k", { topK: -1 }],
      ["deadline_ms", { deadlineMs: NaN }],
      ["priority", { priority: 2 ** 31 }],
      ["seed", { seed: 1n << 64n }],
    ] as const
  ) {
    assert.throws(() => writeParams({ ...REQUEST, ...wrong }), { code: "argument", message: new RegExp(field) });
  }
});

Deno.test("writeParams() leaves NaN for the core to refuse", () => {
  const view = new DataView(writeParams({ ...REQUEST, temperature: NaN }).buffer);
  assert.ok(Number.isNaN(view.getFloat32(STRUCTS.rmx_params.fields.temperature.offset, true)));
});

Deno.test("writeLogitBias() writes a pair of 8 bytes an entry", () => {
  const view = new DataView(writeLogitBias(new Map([[7, -1.5], [-1, 100]])).buffer);
  const read = [view.getInt32(0, true), view.getFloat32(4, true), view.getInt32(8, true), view.getFloat32(12, true)];
  assert.deepEqual(read, [7, -1.5, -1, 100]);
  assert.equal(writeLogitBias(new Map()).length, 0);
});

type EventField = "tag" | "token" | "status" | "value" | "logprob";

/** Lays out a batch as the core would. */
class BatchWriter {
  readonly buffers = new WaitBuffers(8, 8192);
  #count = 0;
  #used = 0;

  /** Adds an event; the result takes its payload, for those that have one. */
  add(kind: number, fields: Partial<Record<EventField, number>> = {}): (payload: Uint8Array) => void {
    const view = new DataView(this.buffers.events.buffer, this.#count * STRUCTS.rmx_event.size);
    const at = STRUCTS.rmx_event.fields;
    view.setUint32(at.tag.offset, fields.tag ?? 0, true);
    view.setUint16(at.kind.offset, kind, true);
    view.setInt32(at.token.offset, fields.token ?? -1, true);
    view.setInt32(at.status.offset, fields.status ?? 0, true);
    view.setUint32(at.value.offset, fields.value ?? 0, true);
    view.setFloat32(at.logprob.offset, fields.logprob ?? 0, true);
    view.setUint32(at.bytes_offset.offset, this.#used, true);
    this.#count++;
    new DataView(this.buffers.batch.buffer).setUint32(STRUCTS.rmx_batch.fields.event_count.offset, this.#count, true);
    return (payload) => {
      this.buffers.bytes.set(payload, this.#used);
      view.setUint32(at.bytes_len.offset, payload.length, true);
      this.#used += (payload.length + 7) & ~7;
    };
  }
}

function usageBytes(): Uint8Array {
  const view = new DataView(new ArrayBuffer(STRUCTS.rmx_usage.size));
  const at = STRUCTS.rmx_usage.fields;
  for (const [i, name] of (["prompt_tokens", "cached_tokens", "completion_tokens"] as const).entries()) {
    view.setUint32(at[name].offset, i + 1, true);
  }
  view.setBigUint64(at.queue_us.offset, 2n ** 40n, true);
  view.setBigUint64(at.decode_us.offset, 9n, true);
  return new Uint8Array(view.buffer);
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

Deno.test("WaitBuffers reads events of every kind with their payloads", () => {
  const writer = new BatchWriter();
  writer.add(CONSTANTS.RMX_EVENT_MODEL_PROGRESS, { tag: 65537, value: 250 });
  writer.add(CONSTANTS.RMX_EVENT_MODEL_FAILED, { tag: 65537, status: -8 })(text("shard 2 is short: 5 bytes"));
  writer.add(CONSTANTS.RMX_EVENT_TOKEN, { tag: 3, token: 42, value: 6, logprob: -0.5 })(
    writeLogitBias(new Map([[42, -0.5], [43, -2]])),
  );
  const usage = usageBytes();
  writer.add(CONSTANTS.RMX_EVENT_FINISH, { tag: 3, status: CONSTANTS.RMX_FINISH_CANCELLED })(
    new Uint8Array([...usage, ...text("by cancel")]),
  );
  writer.add(CONSTANTS.RMX_EVENT_FINISH, { tag: 4, status: -10 })(new Uint8Array([...usage, ...text("MLX ✗")]));
  writer.add(CONSTANTS.RMX_EVENT_LOG, { status: 2 })(text("slow"));
  const events = writer.buffers.read();
  const cost = {
    promptTokens: 1,
    cachedTokens: 2,
    completionTokens: 3,
    draftedTokens: 0,
    acceptedTokens: 0,
    queueUs: 2 ** 40,
    prefillUs: 0,
    decodeUs: 9,
  };
  const top = [{ token: 42, logprob: -0.5 }, { token: 43, logprob: -2 }];
  assert.deepEqual(events, [
    { type: "modelProgress", model: 65537, perMille: 250 },
    { type: "modelFailed", model: 65537, status: -8, message: "shard 2 is short: 5 bytes" },
    { type: "token", tag: 3, token: 42, index: 6, logprob: -0.5, top },
    { type: "finish", tag: 3, reason: "cancelled", usage: cost },
    { type: "failure", tag: 4, status: -10, message: "MLX ✗", usage: cost },
    { type: "log", level: "warning", line: "slow" },
  ]);
});

Deno.test("WaitBuffers refuses a kind that the header does not have", () => {
  const writer = new BatchWriter();
  writer.add(99);
  assert.throws(() => writer.buffers.read(), { code: "internal", message: /kind 99/ });
});

Deno.test("ErrorBuffer gives code and message, and never reads past the message's room", () => {
  const error = new ErrorBuffer();
  const { message_len: length, message } = STRUCTS.rmx_error.fields;
  error.bytes.set(text("queue is full"), message.offset);
  new DataView(error.bytes.buffer).setUint32(length.offset, 13, true);
  assert.deepEqual([error.read(-5).code, error.read(-5).message], ["busy", "queue is full"]);
  new DataView(error.bytes.buffer).setUint32(length.offset, 0xffffffff, true);
  assert.equal(new TextEncoder().encode(error.read(-5).message).length, message.count);
});

Deno.test("OutNumber reads both widths", () => {
  const out = new OutNumber();
  new DataView(out.bytes.buffer).setBigUint64(0, 2n ** 33n + 5n, true);
  assert.deepEqual([out.uint32(), out.uint64()], [5, 2 ** 33 + 5]);
});
