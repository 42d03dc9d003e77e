/**
 * The one loop on `core.wait`: takes batches and deals each event to who asked for it, by tag or by model handle.
 *
 * Receivers are registered before the call that makes their first event, so none can come early. Events that nobody
 * waits for are dropped and counted. Exactly one wait is in flight; it holds the process open until `stop`.
 *
 * @module
 */
import type { Core, CoreEvent, ModelHandle } from "../ffi/core.ts";
import type { EngineCounters } from "./stats.ts";

/** An event of a request. */
export type RequestEvent = Extract<CoreEvent, { tag: number }>;
/** An event of a model. */
export type ModelEvent = Extract<CoreEvent, { model: ModelHandle }>;
/** A line of the core's log. */
export type LogEvent = Extract<CoreEvent, { type: "log" }>;

/** Who gets what. */
export interface PumpReceivers {
  /** By tag; an entry is removed when its `finish` or `failure` has been dealt. */
  readonly requests: Map<number, (event: RequestEvent) => void>;
  /** By handle; the receivers remove themselves. */
  readonly models: Map<ModelHandle, (event: ModelEvent) => void>;
  /** Lines of the core's log. */
  readonly log: (event: LogEvent) => void;
}

/** Turns `core.wait` into calls of receivers. */
export class Pump {
  readonly #core: Core;
  readonly #receivers: PumpReceivers;
  readonly #counters: EngineCounters;
  readonly #timeoutMs: number;
  #stopping = false;

  /** A pump that does not run yet; a wait lasts `timeoutMs` (> 0) when nothing happens. */
  constructor(core: Core, receivers: PumpReceivers, counters: EngineCounters, timeoutMs: number) {
    this.#core = core;
    this.#receivers = receivers;
    this.#counters = counters;
    this.#timeoutMs = timeoutMs;
  }

  /** Runs until `stop`. @throws {CoreError} If a wait fails: the engine is lost. */
  async run(): Promise<void> {
    while (!this.#stopping) {
      const batch = await this.#core.wait(this.#timeoutMs);
      this.#counters.batches++;
      this.#counters.events += batch.length;
      for (const event of batch) this.#deal(event);
    }
  }

  /** Lets `run` end: at once if it waits for nothing, else after the batch in hand. */
  stop(): void {
    this.#stopping = true;
    this.#core.wake();
  }

  #deal(event: CoreEvent): void {
    if (event.type === "log") {
      this.#receivers.log(event);
    } else if ("tag" in event) {
      const receive = this.#receivers.requests.get(event.tag);
      if (event.type === "finish" || event.type === "failure") this.#receivers.requests.delete(event.tag);
      if (receive) receive(event);
      else this.#counters.droppedEvents++;
    } else {
      const receive = this.#receivers.models.get(event.model);
      if (receive) receive(event);
      else this.#counters.droppedEvents++;
    }
  }
}
