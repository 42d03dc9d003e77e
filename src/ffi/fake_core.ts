/**
 * A core in memory that plays scripted tokens: for tests of everything above the ABI, and for `--fake`.
 *
 * Keeps the promises of `Core` (tests/abi/core_suite.ts runs on it) and does no arithmetic. It has no timers of its
 * own: a step happens inside `wait`, when no event is pending, a request is live and `pace` has resolved; so the order
 * of events depends on the script alone. Knows nothing of text.
 *
 * @module
 */
import {
  type Core,
  CoreError,
  type CoreErrorCode,
  type CoreEvent,
  type DeviceInfo,
  type EngineConfig,
  type EngineStats,
  type ModelConfig,
  type ModelHandle,
  type ModelInfo,
  type SubmitRequest,
} from "./core.ts";
import { STATUS_OF } from "./errors.ts";
import { FakeGuided } from "./fake_guided.ts";
import { type Live, toUsage } from "./fake_live.ts";
import { alternatives, FakePlayback, type FakeReply } from "./fake_reply.ts";
import { checkSubmit } from "./submit_check.ts";

/** How a fake core behaves. */
export interface FakeCoreOptions {
  /** The answer to each request; a function may read the prompt. */
  reply: FakeReply | ((request: SubmitRequest) => FakeReply);
  /** Path → facts of the models that can be loaded, others fail; absent: `fake` with `FAKE_MODEL_INFO`. */
  models?: Readonly<Record<string, ModelInfo>>;
  /** Limits; absent fields take the core's defaults. */
  config?: EngineConfig;
  /** Resolves when the next step may run; absent: at the next turn of the event loop with a request that is due. */
  pace?: () => Promise<void>;
  /** Milliseconds, for deadlines, delays and usage; absent: 1 ms a step. */
  nowMs?: () => number;
}

/** What `FakeCore` says of its model unless told otherwise. */
export const FAKE_MODEL_INFO: ModelInfo = {
  modelType: "fake",
  vocabularySize: 50_000,
  contextTokens: 4096,
  weightBytes: 0,
  kvBytesPerToken: 0,
  quantization: "none",
  dtype: "float32",
};

/** Defaults of the limits that the fake keeps; those of the core. */
const DEFAULT_LIMITS = { maxRequests: 64, maxQueue: 256, prefillChunkTokens: 256 };

/** How long the fake sleeps when nothing can happen before a call: late masks. */
const IDLE_MS = 1000;

/** A `Core` whose answers are written down beforehand. */
export class FakeCore implements Core {
  readonly version = { abi: "1.1", core: "fake", mlx: "none", platform: "fake" };
  readonly #options: FakeCoreOptions;
  readonly #limits: typeof DEFAULT_LIMITS;
  readonly #models = new Map<ModelHandle, ModelInfo>();
  readonly #live = new Map<number, Live>();
  readonly #events: CoreEvent[] = [];
  readonly #counters = { submitted: 0, completed: 0, cancelled: 0, failed: 0, prefillTokens: 0, completionTokens: 0 };
  #steps = 0;
  #modelsLoaded = 0;
  #closed = false;
  #waiting = false;
  #woken = false;
  #notify: (() => void) | undefined;
  #pace: Promise<void> | undefined;
  #turn: ReturnType<typeof setTimeout> | undefined;

  /** Opens it: nothing runs until `wait` is called. */
  constructor(options: FakeCoreOptions) {
    this.#options = options;
    const { config = {} } = options;
    this.#limits = {
      maxRequests: config.maxRequests ?? DEFAULT_LIMITS.maxRequests,
      maxQueue: config.maxQueue ?? DEFAULT_LIMITS.maxQueue,
      prefillChunkTokens: config.prefillChunkTokens ?? DEFAULT_LIMITS.prefillChunkTokens,
    };
  }

  deviceInfo(): DeviceInfo {
    return { device: "cpu", name: "fake", memoryBytes: 0, workingSetBytes: 0, threads: 1, cpuVariant: "plain" };
  }

  async wait(timeoutMs: number): Promise<CoreEvent[]> {
    if (this.#waiting) throw new CoreError("argument", "Cannot wait: another wait of this engine is in flight");
    if (this.#closed && this.#events.length === 0) throw new CoreError("closed", "Cannot wait: the engine is closed");
    this.#waiting = true;
    try {
      if (this.#events.length === 0 && !this.#woken) {
        if (this.#live.size === 0) await this.#idle(timeoutMs);
        // Steps without an event are no reason to return: late masks, slow queues.
        else do await this.#paced(); while (this.#isSilent);
      }
      this.#woken = false;
      return this.#events.splice(0);
    } finally {
      this.#waiting = false;
    }
  }

  wake(): void {
    this.#woken = true;
    this.#notify?.();
  }

  stats(): EngineStats {
    const live = [...this.#live.values()];
    return {
      ...this.#counters,
      running: live.filter(({ state }) => state === "running").length,
      waiting: live.filter(({ state }) => state === "waiting").length,
      models: this.#models.size,
      steps: this.#steps,
      stepUs: this.#steps * 1000,
      lastStepUs: this.#steps > 0 ? 1000 : 0,
      kvBytes: 0,
      activeMemoryBytes: 0,
      peakMemoryBytes: 0,
      cacheMemoryBytes: 0,
      openHandles: this.#models.size,
      exactness: "full",
    };
  }

  loadModel(path: string, config: ModelConfig): ModelHandle {
    this.#requireOpen("load a model");
    const model = (1 << 16) | ++this.#modelsLoaded;
    const known = this.#options.models ?? { fake: FAKE_MODEL_INFO };
    const found = Object.hasOwn(known, path) ? known[path] : undefined;
    const contextTokens = Math.min(config.contextTokens ?? Infinity, found?.contextTokens ?? Infinity);
    if (found) {
      this.#models.set(model, { ...found, contextTokens, ...(config.dtype === "float32" && { dtype: "float32" }) });
      this.#emit({ type: "modelProgress", model, perMille: 1000 }, { type: "modelReady", model });
    } else {
      const message = `Cannot load a model from "${path}": the fake core has ${Object.keys(known).join(", ")}`;
      this.#emit({ type: "modelFailed", model, status: STATUS_OF.io, message });
    }
    return model;
  }

  unloadModel(model: ModelHandle): void {
    this.#requireModel(model);
    this.#models.delete(model);
    for (const live of this.#live.values()) {
      if (live.request.model === model) this.#end(live, "cancelled");
    }
    this.#emit({ type: "modelUnloaded", model });
  }

  modelInfo(model: ModelHandle): ModelInfo {
    return { ...this.#requireModel(model) };
  }

  submit(request: SubmitRequest): void {
    this.#requireOpen("submit a request");
    const info = this.#requireModel(request.model);
    checkSubmit(request, info);
    if (this.#live.has(request.tag)) {
      throw new CoreError("argument", `Cannot submit the request: tag ${request.tag} is live already`);
    }
    const liveMax = this.#limits.maxRequests + this.#limits.maxQueue;
    if (this.#live.size >= liveMax) {
      throw new CoreError("busy", `${liveMax} requests are running or waiting, which is the limit; retry later`);
    }
    const { reply } = this.#options;
    const said = typeof reply === "function" ? reply(request) : reply;
    this.#counters.submitted++;
    this.#live.set(request.tag, {
      request: { ...request, prompt: request.prompt.slice(), endTokens: request.endTokens.slice() },
      reply: said,
      playback: new FakePlayback(said, request, info.vocabularySize),
      ...(request.masked &&
        { guided: new FakeGuided(info.vocabularySize, request.ignoreEnd ? [] : [...request.endTokens]) }),
      state: "waiting",
      tokensMax: Math.min(request.maxTokens, info.contextTokens - request.prompt.length),
      delaySteps: said.delaySteps ?? 0,
      dueMs: this.#nowMs() + (said.delayMs ?? 0),
      doneTokens: Math.min(said.cachedTokens ?? 0, request.prompt.length - 1),
      drawn: 0,
      submittedMs: this.#nowMs(),
      startedMs: 0,
      firstTokenMs: 0,
    });
    this.#notify?.();
  }

  cancel(tag: number): void {
    const live = this.#live.get(tag);
    if (live) live.state = "cancelled";
    this.#notify?.();
  }

  mask(tag: number, position: number, rows: number, words?: Uint32Array): void {
    this.#guided(tag)?.told.mask(position, rows, words);
    this.#notify?.();
  }

  force(tag: number, position: number, tokens: readonly number[]): void {
    this.#guided(tag)?.told.force(position, tokens);
    this.#notify?.();
  }

  replaceEnd(tag: number, tokens: readonly number[]): void {
    this.#guided(tag)?.replaceEnd(tokens);
  }

  close(): Promise<void> {
    if (this.#closed) return Promise.reject(new CoreError("handle", "Cannot close the engine: it is closed"));
    for (const live of this.#live.values()) this.#end(live, "cancelled");
    this.#models.clear();
    this.#closed = true;
    clearTimeout(this.#turn);
    this.#notify?.();
    return Promise.resolve();
  }

  /** Nothing to tell yet, and something will happen by itself. */
  get #isSilent(): boolean {
    if (this.#events.length > 0 || this.#woken || this.#closed) return false;
    return this.#live.values().some((live) => toDueMs(live) < Infinity);
  }

  /** Waits for the pace, then runs one step; a wake or a close comes first. */
  async #paced(): Promise<void> {
    let due = false;
    const { pace } = this.#options;
    this.#pace ??= pace?.() ?? this.#nextTurn();
    await Promise.race([this.#pace.then(() => due = true), this.#notified()]);
    // What woke it may be due sooner than what was waited for.
    if (due || pace === undefined) this.#pace = undefined;
    if (!due) clearTimeout(this.#turn);
    else if (!this.#closed) this.#step();
  }

  /** The next turn of the event loop in which something can happen. */
  #nextTurn(): Promise<void> {
    const live = [...this.#live.values()];
    const isFull = live.filter(({ state }) => state === "running").length >= this.#limits.maxRequests;
    const dues = live.filter(({ state }) => state !== "waiting" || !isFull)
      .map((request) => request.state === "cancelled" ? 0 : toDueMs(request));
    const delayMs = Math.min(Math.max(0, Math.min(...dues) - this.#nowMs()), IDLE_MS);
    if (delayMs === IDLE_MS) return new Promise((resolve) => this.#turn = setTimeout(resolve, IDLE_MS));
    return new Promise((resolve) => this.#turn = setTimeout(resolve, this.#options.nowMs ? delayMs : 0));
  }

  async #idle(timeoutMs: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<void>((resolve) => timer = setTimeout(resolve, timeoutMs));
    await Promise.race([timeout, this.#notified()]);
    clearTimeout(timer);
  }

  readonly #notified = (): Promise<void> => new Promise((resolve) => this.#notify = resolve);

  /** One step: every running request advances by a chunk of its prompt or by one token. */
  #step(): void {
    this.#steps++;
    for (const live of [...this.#live.values()]) {
      if (live.state === "cancelled") this.#end(live, "cancelled");
    }
    this.#promote();
    for (const live of [...this.#live.values()]) {
      if (live.state === "running") this.#advance(live);
    }
  }

  #promote(): void {
    const live = [...this.#live.values()];
    let free = this.#limits.maxRequests - live.filter(({ state }) => state === "running").length;
    for (const next of live) {
      if (free <= 0) return;
      if (next.state !== "waiting") continue;
      next.state = "running";
      free--;
    }
  }

  #advance(live: Live): void {
    const { request } = live;
    if (request.deadlineMs > 0 && this.#nowMs() - live.submittedMs >= request.deadlineMs) {
      this.#end(live, "cancelled");
      return;
    }
    if (live.delaySteps-- > 0 || this.#nowMs() < live.dueMs) return;
    if (live.startedMs === 0) live.startedMs = this.#nowMs();
    if (live.doneTokens < request.prompt.length) {
      const chunk = Math.min(this.#limits.prefillChunkTokens, request.prompt.length - live.doneTokens);
      live.doneTokens += chunk;
      this.#counters.prefillTokens += chunk;
      this.#emit({ type: "prefill", tag: request.tag, doneTokens: live.doneTokens });
      if (live.doneTokens < request.prompt.length) return;
    }
    this.#draw(live);
  }

  #draw(live: Live): void {
    const { request, reply, playback } = live;
    if (reply.failure && live.drawn >= reply.failure.afterTokens) {
      this.#fail(live, reply.failure.code, reply.failure.message);
      return;
    }
    const drawn = live.guided ? live.guided.draw(playback) : playback.isOver ? "over" : playback.draw();
    if (drawn === "late") return;
    if (drawn === "over") return this.#end(live, reply.end ?? "stop");
    if (drawn === "nothing") {
      this.#fail(live, "argument", `The mask of position ${live.drawn} allows no token; wanted is one or more`);
      return;
    }
    this.#tell(live, drawn);
    if (!request.ignoreEnd && request.endTokens.includes(drawn)) this.#end(live, "stop");
    else if (live.drawn >= live.tokensMax) this.#end(live, "length");
    else if (reply.end !== undefined && playback.isOver && !reply.failure && !live.guided) this.#end(live, reply.end);
  }

  /** Counts a token and makes its event. */
  #tell(live: Live, token: number): void {
    const { request, reply } = live;
    const index = live.drawn++;
    const nowMs = this.#nowMs();
    if (index === 0) live.firstTokenMs = nowMs;
    // A late timer is made up for, so that the speed is kept.
    const tokenMs = reply.tokenMs ?? 0;
    live.dueMs = Math.max(live.dueMs, nowMs - tokenMs) + tokenMs;
    this.#counters.completionTokens++;
    const asked = request.logprobsTop !== undefined;
    const logprob = asked ? reply.logprobs?.[index] ?? -0.5 : 0;
    const top = asked ? alternatives(reply, index, { token, logprob }).slice(0, request.logprobsTop) : [];
    this.#emit({ type: "token", tag: request.tag, token, index, logprob, top });
  }

  #end(live: Live, reason: "stop" | "length" | "cancelled"): void {
    this.#live.delete(live.request.tag);
    this.#counters[reason === "cancelled" ? "cancelled" : "completed"]++;
    this.#emit({ type: "finish", tag: live.request.tag, reason, usage: toUsage(live, this.#nowMs()) });
  }

  #fail(live: Live, code: CoreErrorCode, message: string): void {
    const { tag } = live.request;
    this.#live.delete(tag);
    this.#counters.failed++;
    this.#emit({ type: "failure", tag, status: STATUS_OF[code], message, usage: toUsage(live, this.#nowMs()) });
  }

  #emit(...events: CoreEvent[]): void {
    this.#events.push(...events);
    this.#notify?.();
  }

  #nowMs(): number {
    return this.#options.nowMs?.() ?? this.#steps;
  }

  #requireOpen(what: string): void {
    if (this.#closed) throw new CoreError("closed", `Cannot ${what}: the engine is closed`);
  }

  /** What guides a live request; undefined: the tag is not live. @throws {CoreError} argument, if it is not masked. */
  #guided(tag: number): FakeGuided | undefined {
    this.#requireOpen("guide a request");
    const live = this.#live.get(tag);
    if (!live || live.guided) return live?.guided;
    throw new CoreError("argument", `Cannot guide the request: tag ${tag} was submitted without masked`);
  }

  #requireModel(model: ModelHandle): ModelInfo {
    const info = this.#models.get(model);
    if (!info) throw new CoreError("handle", `Cannot find the model ${model}: the handle is stale or unknown`);
    return info;
  }
}

/** Nothing happens to a request before this time; a late mask leaves only its deadline. */
function toDueMs({ dueMs, guided, submittedMs, request: { deadlineMs } }: Live): number {
  if (!guided?.isLate) return dueMs;
  return deadlineMs > 0 ? submittedMs + deadlineMs : Infinity;
}
