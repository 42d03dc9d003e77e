/**
 * The core as the rest of the server sees it: typed, owned, throwing. `NativeCore` (native_core.ts) drives the library
 * through rmx.h; `FakeCore` (fake_core.ts) plays scripted tokens. One suite, tests/abi/core_suite.ts, tests both.
 *
 * @module
 */
import type { CoreFinish, GenerationUsage, TokenLogprob } from "../flow.ts";

/** Handle of a model in the core. */
export type ModelHandle = number;

/** Limits of an engine; absent fields take the core's defaults. Mirrors the JSON of rmx_engine_open. */
export interface EngineConfig {
  /** Requests that may be live (running) at once. */
  maxRequests?: number;
  /** Requests that may wait. */
  maxQueue?: number;
  /** Rows of one step. */
  maxStepTokens?: number;
  /** Prompt tokens of one request in one step. */
  prefillChunkTokens?: number;
  /** Budget for weights, caches and work. */
  memoryBytes?: number;
  /** CPU threads; 0: what this process may use. */
  threads?: number;
  /** Rounding of activations and KV on the CPU. */
  cpuArithmetic?: "exact" | "fast";
}

/** How to load a checkpoint. */
export interface ModelConfig {
  /** Cap under the checkpoint's own context. */
  contextTokens?: number;
  /** `float32` widens scales, norms and activations (parity tests). */
  dtype?: "checkpoint" | "float32";
}

/** What the core knows of a loaded model (JSON of rmx_model_info, camelCased by NativeCore). */
export interface ModelInfo {
  /** `model_type` of config.json. */
  modelType: string;
  /** Rows of the logits. */
  vocabularySize: number;
  /** Largest prompt plus completion. */
  contextTokens: number;
  /** Bytes held by weights. */
  weightBytes: number;
  /** Bytes of KV cache a token. */
  kvBytesPerToken: number;
  /** e.g. `4-bit g32 affine`, or the float dtype. */
  quantization: string;
  /** Dtype of activations. */
  dtype: string;
}

/** Counters of an engine (JSON of rmx_engine_stats, camelCased). All totals since open. */
export interface EngineStats {
  /** Requests holding a sequence. */
  running: number;
  /** Requests in the queue. */
  waiting: number;
  /** Loaded models. */
  models: number;
  /** Steps executed. */
  steps: number;
  /** Requests accepted. */
  submitted: number;
  /** Finished with stop or length. */
  completed: number;
  /** Finished with cancelled. */
  cancelled: number;
  /** Finished with an error. */
  failed: number;
  /** Prompt tokens run (not cached). */
  prefillTokens: number;
  /** Tokens drawn. */
  completionTokens: number;
  /** Time inside steps. */
  stepUs: number;
  /** Last step's duration. */
  lastStepUs: number;
  /** Live KV bytes of all sequences. */
  kvBytes: number;
  /** Bytes MLX holds now. */
  activeMemoryBytes: number;
  /** High-water mark. */
  peakMemoryBytes: number;
  /** Freed buffers MLX keeps. */
  cacheMemoryBytes: number;
  /** Handles not yet freed. */
  openHandles: number;
  /** `full`, `window` or `none`: docs/design, exactness contract. */
  exactness: "full" | "window" | "none";
}

/** A request as the core takes it: rmx_params plus its arrays. */
export interface SubmitRequest {
  /** Nonzero, unique among live requests. */
  tag: number;
  /** Loaded model. */
  model: ModelHandle;
  /** Not empty; copied. */
  prompt: Int32Array;
  /** Ids that end the request. */
  endTokens: Int32Array;
  /** Below 2^63. */
  seed: bigint;
  /** > 0. */
  maxTokens: number;
  /** 0: greedy. */
  temperature: number;
  /** 1: off. */
  topP: number;
  /** 0: off. */
  minP: number;
  /** 0: off. */
  topK: number;
  /** 1: off. */
  repetitionPenalty: number;
  /** 0: off. */
  presencePenalty: number;
  /** 0: off. */
  frequencyPenalty: number;
  /** 0: whole context. */
  penaltyWindowTokens: number;
  /** Undefined: no logprobs; else alternatives a token, 0 to 20. */
  logprobsTop?: number;
  /** Token id → bias. */
  logitBias: ReadonlyMap<number, number>;
  /** End tokens do not end it. */
  ignoreEnd: boolean;
  /** No token is drawn before `mask` or `force` told its position. Absent: false. */
  masked?: boolean;
  /** Fairness key. */
  client: number;
  /** Higher first. */
  priority: number;
  /** 0: none. */
  deadlineMs: number;
}

/** What the pump brings. */
export type CoreEvent =
  | { type: "modelProgress"; model: ModelHandle; perMille: number }
  | { type: "modelReady"; model: ModelHandle }
  | { type: "modelFailed"; model: ModelHandle; status: number; message: string }
  | { type: "modelUnloaded"; model: ModelHandle }
  | { type: "prefill"; tag: number; doneTokens: number }
  | { type: "token"; tag: number; token: number; index: number; logprob: number; top: TokenLogprob[] }
  | { type: "finish"; tag: number; reason: CoreFinish; usage: GenerationUsage }
  | { type: "failure"; tag: number; status: number; message: string; usage: GenerationUsage }
  | { type: "log"; level: "debug" | "info" | "warning" | "error"; line: string };

/**
 * One engine and its models. Every method but `wait` and `close` returns at once.
 *
 * Promises (tests/abi/core_suite.ts): an accepted submit is answered by exactly one `finish` or `failure` and nothing
 * follows it; tokens of a tag arrive in order; cancel is idempotent; `close` finishes all requests first.
 */
export interface Core {
  /** Versions and platform, for `info` and metrics. */
  readonly version: { abi: string; core: string; mlx: string; platform: string };
  /** What runs the steps. */
  deviceInfo(): DeviceInfo;
  /** Waits for events; at most one call in flight. Resolves with [] on timeout or wake. */
  wait(timeoutMs: number): Promise<CoreEvent[]>;
  /** Lets a pending wait return now. */
  wake(): void;
  /** Counters now. */
  stats(): EngineStats;
  /** Starts a load; its end is an event. @throws {CoreError} If a limit forbids it. */
  loadModel(path: string, config: ModelConfig): ModelHandle;
  /** Starts an unload; its end is an event. */
  unloadModel(model: ModelHandle): void;
  /** Facts of a loaded model. @throws {CoreError} If it is not ready. */
  modelInfo(model: ModelHandle): ModelInfo;
  /** Queues a request. @throws {CoreError} busy, memory, closed, argument or handle. */
  submit(request: SubmitRequest): void;
  /** Ends a request before the next step; unknown tags are no error. */
  cancel(tag: number): void;
  /**
   * Tells a masked request what may be drawn at `position` (0: the first token) and the `rows` - 1 after it. A position
   * that is told again replaces all from there on; drawn positions and unknown tags are no error.
   *
   * @param words `rows` times ceil(vocabulary / 32), bit t % 32 of word t / 32 for token t; absent: all tokens. Copied.
   * @throws {CoreError} argument: not masked, a gap before `position`, too far ahead (rmx.h), or a wrong length.
   */
  mask(tag: number, position: number, rows: number, words?: Uint32Array): void;
  /** The tokens from `position` on are these. @throws {CoreError} As `mask`, or a token outside the vocabulary. */
  force(tag: number, position: number, tokens: readonly number[]): void;
  /** An end token that is drawn gives way to these from now on; none: it ends. @throws {CoreError} As `force`. */
  replaceEnd(tag: number, tokens: readonly number[]): void;
  /** Finishes all, joins the thread. */
  close(): Promise<void>;
}

/** What runs the steps (JSON of rmx_device_info, camelCased). */
export interface DeviceInfo {
  /** Where arrays live. */
  device: "cpu" | "gpu";
  /** Chip or processor. */
  name: string;
  /** Physical memory. */
  memoryBytes: number;
  /** What the process should stay under. */
  workingSetBytes: number;
  /** Worker threads. */
  threads: number;
  /** Instruction set of the CPU kernels. */
  cpuVariant: string;
}

/** Names of the statuses of rmx.h that callers act on. */
export type CoreErrorCode =
  | "argument"
  | "handle"
  | "space"
  | "closed"
  | "busy"
  | "memory"
  | "io"
  | "format"
  | "model"
  | "internal";

/** A core call that failed, or a request that ended in an error. */
export class CoreError extends Error {
  /** Which kind; the HTTP table maps it. */
  readonly code: CoreErrorCode;
  /** An error of this kind; the message says what was tried, found and wanted. */
  constructor(code: CoreErrorCode, message: string) {
    super(message);
    this.name = "CoreError";
    this.code = code;
  }
}
