/**
 * Requests on a core: the class that the routes call. Owns the core, the pump and the tags.
 *
 * Takes token ids, gives token ids. Knows nothing of text, of HTTP, or of which core it drives.
 * Invariants: a tag is registered with the pump before it is submitted and stays until its finish, whoever has left.
 *
 * @module
 */
import {
  type Core,
  CoreError,
  type DeviceInfo,
  type EngineStats,
  type ModelConfig,
  type ModelHandle,
  type ModelInfo,
  type SubmitRequest,
} from "../ffi/core.ts";
import { toCoreError } from "../ffi/errors.ts";
import { type GenerationEvent, type GenerationRequest, NO_USAGE } from "../flow.ts";
import { Generation } from "./generation.ts";
import { GuideFeed } from "./guide_feed.ts";
import { type LogEvent, type ModelEvent, Pump, type RequestEvent } from "./pump.ts";
import { EngineCounters, type PumpStats } from "./stats.ts";

/** What an engine may be told. */
export interface EngineOptions {
  /** Gets the lines of the core's log; absent: they are dropped. */
  log?: (level: LogEvent["level"], line: string) => void;
  /** How long one idle wait lasts; nothing is late because of it. Absent: 1000. */
  waitTimeoutMs?: number;
}

/** Counters of the core and of the pump. */
export interface EngineSnapshot extends EngineStats {
  /** The TypeScript side's part. */
  readonly pump: PumpStats;
}

const TAG_MAX = 0xffff_ffff;

/** Generations and models on one core. */
export class Engine {
  readonly #core: Core;
  readonly #counters = new EngineCounters();
  readonly #requests = new Map<number, (event: RequestEvent) => void>();
  readonly #models = new Map<ModelHandle, (event: ModelEvent) => void>();
  readonly #generations = new Map<number, Generation>();
  readonly #feeds = new Map<number, GuideFeed>();
  readonly #loads = new Set<(error: unknown) => void>();
  readonly #pump: Pump;
  readonly #running: Promise<void>;
  #failure: CoreError | undefined;
  #closing: Promise<void> | undefined;
  #drained: (() => void) | undefined;
  #lastTag = 0;

  /** Takes ownership of the core and starts the pump; `close` gives both back. */
  constructor(core: Core, options: EngineOptions = {}) {
    this.#core = core;
    const log = ({ level, line }: LogEvent): void => options.log?.(level, line);
    const receivers = { requests: this.#requests, models: this.#models, log };
    this.#pump = new Pump(core, receivers, this.#counters, options.waitTimeoutMs ?? 1000);
    this.#running = this.#pump.run().catch((error: unknown) => this.#lose(error));
  }

  /** Versions and platform of the core. */
  get version(): Core["version"] {
    return this.#core.version;
  }

  /** Loads a checkpoint directory. @throws {CoreError} If it can't be read, is malformed, or does not fit. */
  async loadModel(path: string, config: ModelConfig, onProgress?: (perMille: number) => void): Promise<ModelHandle> {
    this.#requireOpen("load a model");
    const model = this.#core.loadModel(path, config);
    await this.#modelEvent(model, (event) => {
      if (event.type === "modelProgress") onProgress?.(event.perMille);
      if (event.type === "modelFailed") throw toCoreError(event.status, event.message);
      return event.type === "modelReady";
    });
    return model;
  }

  /** Frees a model; its live generations end as cancelled. @throws {CoreError} If the handle is stale. */
  async unloadModel(model: ModelHandle): Promise<void> {
    this.#requireOpen("unload a model");
    this.#core.unloadModel(model);
    await this.#modelEvent(model, (event) => event.type === "modelUnloaded");
  }

  /** Facts of a loaded model. @throws {CoreError} If it is not ready. */
  modelInfo(model: ModelHandle): ModelInfo {
    return this.#core.modelInfo(model);
  }

  /**
   * Submits a request at once; iterate the result to read its events, once.
   *
   * An abort cancels in the core before the next step, prefill included, and the events end with a `cancelled` finish;
   * leaving the loop cancels too. A signal that has aborted already submits nothing.
   *
   * A guide is asked for the first token at once and closed with the generation, whatever its end; one that throws
   * fails its generation alone.
   *
   * @returns Events in order; `finish` is the last. Iterating throws a CoreError if the generation fails.
   * @throws {CoreError} At once, if the core refuses: busy, memory, argument, handle, closed.
   */
  generate(request: GenerationRequest, signal: AbortSignal): AsyncIterableIterator<GenerationEvent> {
    this.#requireOpen("generate");
    if (signal.aborted) {
      request.guide?.close();
      return abortedGeneration(request);
    }
    const tag = this.#takeTag();
    const cancel = (): void => {
      if (!this.#failure) this.#core.cancel(tag);
    };
    const generation = new Generation(() => {
      signal.removeEventListener("abort", cancel);
      cancel();
    });
    const feed = request.guide && new GuideFeed(this.#core, tag, { ...request, guide: request.guide }, (error) => {
      generation.fail(error);
      cancel();
    });
    this.#requests.set(tag, (event) => {
      if (event.type === "finish" || event.type === "failure") {
        signal.removeEventListener("abort", cancel);
        this.#counters.finished(event.usage);
        this.#forget(tag);
      } else if (event.type === "token") {
        // Before the reader hears of it: the core is at work on the token already.
        feed?.drawn(event.index, event.token);
      }
      deliver(event, generation, request.limits.logprobsTop !== undefined);
    });
    this.#generations.set(tag, generation);
    if (feed) this.#feeds.set(tag, feed);
    try {
      this.#core.submit(toSubmit(tag, request));
    } catch (error) {
      this.#requests.delete(tag);
      this.#forget(tag);
      throw error;
    }
    feed?.start();
    signal.addEventListener("abort", cancel);
    return generation;
  }

  /** Counters now. */
  stats(): EngineSnapshot {
    return { ...this.#core.stats(), pump: this.#counters.snapshot() };
  }

  /** What runs the steps. */
  deviceInfo(): DeviceInfo {
    return this.#core.deviceInfo();
  }

  /** Cancels every generation, waits for their finishes, stops the pump, closes the core. A second call waits too. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (!this.#failure && this.#generations.size > 0) {
      const drained = new Promise<void>((resolve) => this.#drained = resolve);
      for (const tag of this.#generations.keys()) this.#core.cancel(tag);
      await drained;
    }
    this.#pump.stop();
    await this.#running;
    this.#lose(new CoreError("closed", "The engine was closed"));
    await this.#core.close();
  }

  #requireOpen(what: string): void {
    if (this.#failure) throw new CoreError("closed", `Cannot ${what}: ${this.#failure.message}`);
    if (this.#closing) throw new CoreError("closed", `Cannot ${what}: the engine is closing`);
  }

  #takeTag(): number {
    do {
      this.#lastTag = this.#lastTag % TAG_MAX + 1;
    } while (this.#requests.has(this.#lastTag));
    return this.#lastTag;
  }

  /** Resolves when `done` says true for an event of the model; rejects when it throws or the engine is lost. */
  #modelEvent(model: ModelHandle, done: (event: ModelEvent) => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const release = (): void => {
      this.#models.delete(model);
      this.#loads.delete(reject);
    };
    this.#loads.add(reject);
    this.#models.set(model, (event) => {
      try {
        if (!done(event)) return;
        resolve();
      } catch (error) {
        reject(error);
      }
      release();
    });
    return promise;
  }

  #forget(tag: number): void {
    this.#generations.delete(tag);
    this.#feeds.get(tag)?.close();
    this.#feeds.delete(tag);
    if (this.#generations.size === 0) this.#drained?.();
  }

  /** The pump has ended: nobody will hear of anything any more. */
  #lose(error: unknown): void {
    const failure = error instanceof CoreError ? error : new CoreError("internal", `The pump failed: ${String(error)}`);
    this.#failure ??= failure;
    for (const generation of this.#generations.values()) generation.fail(failure);
    for (const feed of this.#feeds.values()) feed.close();
    for (const reject of this.#loads) reject(failure);
    this.#feeds.clear();
    this.#generations.clear();
    this.#requests.clear();
    this.#models.clear();
    this.#loads.clear();
    this.#drained?.();
  }
}

function deliver(event: RequestEvent, generation: Generation, withLogprobs: boolean): void {
  switch (event.type) {
    case "prefill":
      return generation.push({ type: "prefill", doneTokens: event.doneTokens });
    case "token":
      return generation.push({
        type: "token",
        token: event.token,
        index: event.index,
        ...(withLogprobs && { logprob: event.logprob, top: event.top }),
      });
    case "finish":
      return generation.push({ type: "finish", reason: event.reason, usage: event.usage });
    case "failure":
      return generation.fail(toCoreError(event.status, event.message));
  }
}

/** A generation as the core takes it. */
export function toSubmit(tag: number, request: GenerationRequest): SubmitRequest {
  const { sampling, limits } = request;
  return {
    tag,
    model: request.model,
    prompt: request.prompt,
    endTokens: Int32Array.from(request.endTokens),
    ...sampling,
    penaltyWindowTokens: 0,
    maxTokens: limits.maxTokens,
    ...(limits.logprobsTop !== undefined && { logprobsTop: limits.logprobsTop }),
    ignoreEnd: limits.ignoreEnd,
    ...(request.guide && { masked: true }),
    client: request.client,
    priority: 0,
    deadlineMs: 0,
  };
}

/** What a generation is whose client had left before it began. */
function abortedGeneration(request: GenerationRequest): Generation {
  const generation = new Generation(() => {});
  const usage = { ...NO_USAGE, promptTokens: request.prompt.length };
  generation.push({ type: "finish", reason: "cancelled", usage });
  return generation;
}
