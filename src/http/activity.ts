/**
 * What the server is doing: the requests that are being answered, the last that were, and counters over all.
 *
 * Feeds /v1/status, /metrics and the drain at the end. Bounded: live requests by the core's queue, finished ones by
 * RECENT_MAX. Holds ids and numbers only, no text of a client.
 *
 * @module
 */
import type { GenerationEvent, GenerationUsage } from "../flow.ts";
import type { Clock } from "./clock.ts";

/** Finished requests that /v1/status still shows. */
export const RECENT_MAX = 16;

/** How a request ended. */
export type Outcome = "completed" | "failed" | "left" | "cancelled";

/** What is known of a request when it begins. */
export interface ActivityStart {
  /** e.g. `chatcmpl-…`. */
  id: string;
  /** Served id. */
  model: string;
  /** When it arrived; of the same clock. */
  arrivedMs: number;
  /** Over all prompts. */
  promptTokens: number;
  /** Limit of each choice. */
  maxTokens: number;
  /** One a choice: what its tokens were drawn with. */
  seeds: readonly bigint[];
}

/** A request that is being answered. */
export class LiveRequest {
  /** What was known at its begin. */
  readonly start: ActivityStart;
  /** Ends its generations. */
  readonly abort: AbortController = new AbortController();
  /** Tokens drawn so far, over all choices. */
  completionTokens = 0;
  /** Prompt tokens run so far, over all choices; cached ones count. */
  doneTokens = 0;
  /** When the first token of any choice came. */
  firstTokenAtMs: number | undefined;
  /** Of start.promptTokens, taken from the cache; known at the end. */
  cachedTokens = 0;
  /** Sums over its choices of what the core told at their ends. */
  usage: { cachedTokens: number; prefillUs: number; decodeUs: number } = { cachedTokens: 0, prefillUs: 0, decodeUs: 0 };
  readonly #clock: Clock;
  readonly #doneByChoice = new Map<number, number>();

  /** @param start What is known. @param clock The clock of `arrivedMs`. */
  constructor(start: ActivityStart, clock: Clock) {
    this.start = start;
    this.#clock = clock;
  }

  /** Hears an event of the engine. */
  observe(choice: number, event: GenerationEvent): void {
    if (event.type === "prefill") {
      this.doneTokens += event.doneTokens - (this.#doneByChoice.get(choice) ?? 0);
      this.#doneByChoice.set(choice, event.doneTokens);
    } else if (event.type === "token") {
      this.completionTokens++;
      this.firstTokenAtMs ??= this.#clock.nowMs();
    } else this.#finish(event.usage);
  }

  /** Milliseconds from arrival to the first token. */
  get firstTokenMs(): number | undefined {
    return this.firstTokenAtMs === undefined ? undefined : this.firstTokenAtMs - this.start.arrivedMs;
  }

  /** What it is doing. */
  get phase(): "queued" | "prefill" | "generation" {
    return this.firstTokenAtMs !== undefined ? "generation" : this.doneTokens > 0 ? "prefill" : "queued";
  }

  #finish(usage: GenerationUsage): void {
    this.usage.cachedTokens += usage.cachedTokens;
    this.usage.prefillUs += usage.prefillUs;
    this.usage.decodeUs += usage.decodeUs;
  }
}

/** A request that was answered, or not. */
export interface FinishedRequest {
  /** What it was. */
  live: LiveRequest;
  /** How it ended. */
  outcome: Outcome;
  /** From arrival to end. */
  elapsedMs: number;
}

/** The requests of one server. */
export class Activity {
  /** Requests that ended, by outcome. */
  readonly counts: Record<Outcome, number> = { completed: 0, failed: 0, left: 0, cancelled: 0 };
  /** HTTP responses by route and status: `chat.completions 200` → count. Routes and statuses are few. */
  readonly responses: Map<string, number> = new Map();
  /** When the server started; of its clock. */
  readonly startedMs: number;
  /** Tokens of prompts that requests brought. */
  promptTokens = 0;
  /** Tokens drawn for them. */
  completionTokens = 0;
  /** Of promptTokens, taken from the cache. */
  cachedTokens = 0;
  readonly #clock: Clock;
  readonly #live = new Set<LiveRequest>();
  readonly #recent: FinishedRequest[] = [];
  #idle: (() => void) | undefined;

  /** @param clock The clock of the server. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.startedMs = clock.nowMs();
  }

  /** A request begins: the core has taken it. */
  begin(live: LiveRequest): void {
    this.#live.add(live);
  }

  /** It ends; a second call changes nothing. */
  end(live: LiveRequest, outcome: Outcome): void {
    if (!this.#live.delete(live)) return;
    this.counts[outcome]++;
    this.promptTokens += live.start.promptTokens;
    this.completionTokens += live.completionTokens;
    this.cachedTokens += live.cachedTokens;
    this.#recent.push({ live, outcome, elapsedMs: this.#clock.nowMs() - live.start.arrivedMs });
    if (this.#recent.length > RECENT_MAX) this.#recent.shift();
    if (this.#live.size === 0) this.#idle?.();
  }

  /** A response went out, or its head did. */
  countResponse(route: string, status: number): void {
    const key = `${route} ${status}`;
    this.responses.set(key, (this.responses.get(key) ?? 0) + 1);
  }

  /** Being answered now, oldest first. */
  live(): LiveRequest[] {
    return [...this.#live];
  }

  /** The last that ended, newest first. */
  recent(): readonly FinishedRequest[] {
    return this.#recent.toReversed();
  }

  /** Resolves when no request is being answered. */
  idle(): Promise<void> {
    if (this.#live.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle = resolve);
  }

  /** Ends every generation. */
  abortAll(): void {
    for (const live of this.#live) live.abort.abort();
  }
}
