/**
 * The core as a library: `Core` over rmx.h. Every struct is written and read by structs.ts, every failed status becomes
 * a CoreError; the library copies what it is lent before a call returns.
 *
 * Invariants: one wait in flight, which alone uses the wait buffers and their error; synchronous calls share one error
 * buffer, which is read before the next call.
 *
 * @module
 */
import * as z from "zod";
import { CONSTANTS } from "./abi.gen.ts";
import {
  type Core,
  CoreError,
  type CoreEvent,
  type DeviceInfo,
  type EngineConfig,
  type EngineStats,
  type ModelConfig,
  type ModelHandle,
  type ModelInfo,
  type SubmitRequest,
} from "./core.ts";
import { Library, writeModelConfig } from "./library.ts";
import { ErrorBuffer, OutNumber, WaitBuffers, writeLogitBias, writeParams } from "./structs.ts";

/** Events of one wait: a step of 64 requests and then some. */
const WAIT_EVENTS = 1024;
/** Payload bytes of one wait: 1,024 tokens with five alternatives each; what does not fit comes with the next. */
const WAIT_BYTES = 64 * 1024;

const utf8 = new TextEncoder();

const Info = z.object({
  model_type: z.string(),
  vocabulary_size: z.int(),
  context_tokens: z.int(),
  weight_bytes: z.int(),
  kv_bytes_per_token: z.int(),
  quantization: z.string(),
  dtype: z.string(),
}).transform((json): ModelInfo => ({
  modelType: json.model_type,
  vocabularySize: json.vocabulary_size,
  contextTokens: json.context_tokens,
  weightBytes: json.weight_bytes,
  kvBytesPerToken: json.kv_bytes_per_token,
  quantization: json.quantization,
  dtype: json.dtype,
}));

const Stats = z.object({
  running: z.int(),
  waiting: z.int(),
  models: z.int(),
  steps: z.int(),
  submitted: z.int(),
  completed: z.int(),
  cancelled: z.int(),
  failed: z.int(),
  prefill_tokens: z.int(),
  completion_tokens: z.int(),
  step_us: z.int(),
  last_step_us: z.int(),
  kv_bytes: z.int(),
  active_memory_bytes: z.int(),
  peak_memory_bytes: z.int(),
  cache_memory_bytes: z.int(),
  open_handles: z.int(),
  exactness: z.enum(["full", "window", "none"]),
}).transform((
  {
    prefill_tokens: prefillTokens,
    completion_tokens: completionTokens,
    step_us: stepUs,
    last_step_us: lastStepUs,
    kv_bytes: kvBytes,
    active_memory_bytes: activeMemoryBytes,
    peak_memory_bytes: peakMemoryBytes,
    cache_memory_bytes: cacheMemoryBytes,
    open_handles: openHandles,
    ...same
  },
): EngineStats => ({
  ...same,
  prefillTokens,
  completionTokens,
  stepUs,
  lastStepUs,
  kvBytes,
  activeMemoryBytes,
  peakMemoryBytes,
  cacheMemoryBytes,
  openHandles,
}));

/**
 * Opens the library and an engine in it.
 *
 * @param libraryPath Path of librmx.so or librmx.dylib.
 * @throws {CoreError} If the library can't be loaded or is of another version, or the config is out of range.
 */
export function openNativeCore(libraryPath: string, config: EngineConfig): Core {
  const library = Library.open(libraryPath);
  try {
    return new NativeCore(library, config);
  } catch (error) {
    library.close();
    throw error;
  }
}

/** One engine of a library. Owns the library. */
class NativeCore implements Core {
  readonly #library: Library;
  readonly #engine: number;
  readonly #error = new ErrorBuffer();
  readonly #waitError = new ErrorBuffer();
  readonly #buffers = new WaitBuffers(WAIT_EVENTS, WAIT_BYTES);
  #waiting: Promise<number> | undefined;
  #closed = false;

  constructor(library: Library, config: EngineConfig) {
    this.#library = library;
    const json = writeEngineConfig(config);
    const engine = new OutNumber();
    this.#check(library.symbols.rmx_engine_open(json, json.length, engine.bytes, this.#error.bytes));
    this.#engine = engine.uint32();
  }

  get version(): Core["version"] {
    return this.#library.version;
  }

  deviceInfo(): DeviceInfo {
    return this.#library.deviceInfo();
  }

  async wait(timeoutMs: number): Promise<CoreEvent[]> {
    this.#requireOpen("wait");
    if (this.#waiting) throw new CoreError("argument", "Cannot wait: another wait of this engine is in flight");
    const { events, eventsMax, bytes, bytesMax, batch } = this.#buffers;
    const { rmx_engine_wait: wait } = this.#library.symbols;
    const error = this.#waitError;
    this.#waiting = wait(this.#engine, events, eventsMax, bytes, bytesMax, timeoutMs, batch, error.bytes);
    try {
      const status = await this.#waiting;
      if (status !== CONSTANTS.RMX_OK) throw error.read(status);
      return this.#buffers.read();
    } finally {
      this.#waiting = undefined;
    }
  }

  wake(): void {
    if (!this.#closed) this.#check(this.#library.symbols.rmx_engine_wake(this.#engine, this.#error.bytes));
  }

  stats(): EngineStats {
    this.#requireOpen("read the counters");
    const { rmx_engine_stats: stats } = this.#library.symbols;
    return this.#library.readJson(Stats, (...out) => stats(this.#engine, ...out, this.#error.bytes), this.#error);
  }

  loadModel(path: string, config: ModelConfig): ModelHandle {
    this.#requireOpen("load a model");
    const name = utf8.encode(path);
    const json = writeModelConfig(config);
    const model = new OutNumber();
    const { rmx_model_load: load } = this.#library.symbols;
    this.#check(load(this.#engine, name, name.length, json, json.length, model.bytes, this.#error.bytes));
    return model.uint32();
  }

  unloadModel(model: ModelHandle): void {
    this.#requireOpen("unload a model");
    this.#check(this.#library.symbols.rmx_model_unload(this.#engine, model, this.#error.bytes));
  }

  modelInfo(model: ModelHandle): ModelInfo {
    this.#requireOpen("read a model's facts");
    const { rmx_model_info: info } = this.#library.symbols;
    return this.#library.readJson(Info, (...out) => info(this.#engine, model, ...out, this.#error.bytes), this.#error);
  }

  submit(request: SubmitRequest): void {
    this.#requireOpen("submit a request");
    const params = writeParams(request);
    const bias = writeLogitBias(request.logitBias);
    const { rmx_request_submit: submit } = this.#library.symbols;
    this.#check(submit(
      this.#engine,
      request.model,
      params,
      lend(request.prompt),
      request.prompt.length,
      lend(request.endTokens),
      request.endTokens.length,
      bias,
      request.logitBias.size,
      this.#error.bytes,
    ));
  }

  cancel(tag: number): void {
    this.#requireOpen("cancel a request");
    this.#check(this.#library.symbols.rmx_request_cancel(this.#engine, tag, this.#error.bytes));
  }

  mask(tag: number, position: number, rows: number, words?: Uint32Array): void {
    this.#requireOpen("mask a request");
    const { rmx_request_mask: mask } = this.#library.symbols;
    const lent = words && words.length > 0 ? lend(words) : null;
    this.#check(mask(this.#engine, tag, position, toRows(rows), lent, lent?.length ?? 0, this.#error.bytes));
  }

  force(tag: number, position: number, tokens: readonly number[]): void {
    this.#requireOpen("force tokens");
    const { rmx_request_force: force } = this.#library.symbols;
    const ids = Int32Array.from(tokens);
    this.#check(force(this.#engine, tag, position, ids, ids.length, this.#error.bytes));
  }

  replaceEnd(tag: number, tokens: readonly number[]): void {
    this.#requireOpen("replace end tokens");
    const { rmx_request_replace_end: replaceEnd } = this.#library.symbols;
    const ids = Int32Array.from(tokens);
    this.#check(replaceEnd(this.#engine, tag, ids, ids.length, this.#error.bytes));
  }

  async close(): Promise<void> {
    if (this.#closed) throw new CoreError("handle", "Cannot close the engine: it is closed");
    const error = new ErrorBuffer();
    const { rmx_engine_close: close } = this.#library.symbols;
    this.#closed = true;
    const status = await close(this.#engine, error.bytes);
    await this.#waiting;
    this.#library.close();
    if (status !== CONSTANTS.RMX_OK) throw error.read(status);
  }

  #check(status: number): void {
    if (status !== CONSTANTS.RMX_OK) throw this.#error.read(status);
  }

  #requireOpen(what: string): void {
    if (this.#closed) throw new CoreError("closed", `Cannot ${what}: the engine is closed`);
  }
}

/** The array for the call: Deno's FFI takes no view on shared memory, and copies of ids and masks are small. */
function lend(ids: Int32Array): Int32Array<ArrayBuffer>;
function lend(words: Uint32Array): Uint32Array<ArrayBuffer>;
function lend(numbers: Int32Array | Uint32Array): ArrayBufferView<ArrayBuffer> {
  return (numbers.buffer instanceof ArrayBuffer ? numbers : numbers.slice()) as ArrayBufferView<ArrayBuffer>;
}

/** As uint32_t; Infinity is as many as that holds. */
function toRows(rows: number): number {
  return Math.min(rows, 0xffff_ffff);
}

/** The JSON of rmx_engine_open; absent fields stay absent. */
function writeEngineConfig(config: EngineConfig): Uint8Array<ArrayBuffer> {
  return utf8.encode(JSON.stringify({
    "max_requests": config.maxRequests,
    "max_queue": config.maxQueue,
    "max_step_tokens": config.maxStepTokens,
    "prefill_chunk_tokens": config.prefillChunkTokens,
    "memory_bytes": config.memoryBytes,
    "threads": config.threads,
    "cpu_arithmetic": config.cpuArithmetic,
  }));
}
