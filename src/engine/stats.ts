/**
 * Counters of the engine's TypeScript side, for /metrics and /v1/status. The core's own counters join them in
 * `Engine.stats()`. Fixed memory: histograms have fixed buckets.
 *
 * @module
 */
import type { GenerationUsage } from "../flow.ts";

/** A histogram as Prometheus shows it. */
export interface HistogramSnapshot {
  /** Upper bounds of the buckets in seconds, ascending; the last bucket (+Inf) is not listed. */
  readonly boundsSeconds: readonly number[];
  /** Observations at or under each bound, then all of them: one more than there are bounds. */
  readonly cumulativeCounts: readonly number[];
  /** Sum of all observations in seconds. */
  readonly sumSeconds: number;
}

/** Counts durations in fixed buckets. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  /** Nothing counted; upper bounds ascend. */
  constructor(boundsSeconds: readonly number[]) {
    this.#bounds = boundsSeconds;
    this.#counts = new Array<number>(boundsSeconds.length + 1).fill(0);
  }

  /** Counts one duration. */
  observe(seconds: number): void {
    const found = this.#bounds.findIndex((bound) => seconds <= bound);
    const bucket = found === -1 ? this.#bounds.length : found;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += seconds;
  }

  /** What was counted until now. */
  snapshot(): HistogramSnapshot {
    let total = 0;
    return {
      boundsSeconds: this.#bounds,
      cumulativeCounts: this.#counts.map((count) => total += count),
      sumSeconds: this.#sum,
    };
  }
}

/** What the TypeScript side counts beside the core. */
export interface PumpStats {
  /** Batches that the pump took. */
  readonly batches: number;
  /** Events that it took. */
  readonly events: number;
  /** Events of tags or models that nobody waits for; a bug if it grows. */
  readonly droppedEvents: number;
  /** Submit to first token. */
  readonly firstToken: HistogramSnapshot;
  /** Mean time between the tokens of a generation, one observation a generation of two tokens or more. */
  readonly betweenTokens: HistogramSnapshot;
}

const FIRST_TOKEN_BOUNDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const BETWEEN_TOKENS_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

/** The pump's counters. */
export class EngineCounters {
  /** Batches that the pump took. */
  batches = 0;
  /** Events that it took. */
  events = 0;
  /** Events that nobody waited for. */
  droppedEvents = 0;
  readonly #firstToken = new Histogram(FIRST_TOKEN_BOUNDS);
  readonly #betweenTokens = new Histogram(BETWEEN_TOKENS_BOUNDS);

  /** Counts what a generation cost, at its end. */
  finished(usage: GenerationUsage): void {
    if (usage.completionTokens === 0) return;
    this.#firstToken.observe((usage.queueUs + usage.prefillUs) / 1e6);
    if (usage.completionTokens > 1) this.#betweenTokens.observe(usage.decodeUs / 1e6 / (usage.completionTokens - 1));
  }

  /** All of them now. */
  snapshot(): PumpStats {
    return {
      batches: this.batches,
      events: this.events,
      droppedEvents: this.droppedEvents,
      firstToken: this.#firstToken.snapshot(),
      betweenTokens: this.#betweenTokens.snapshot(),
    };
  }
}
