/** What the promises of Core are tested with: a reader of events, requests, and the type of a test's definition. */
import assert from "node:assert/strict";
import type { Core, CoreEvent, EngineConfig, SubmitRequest } from "../../../src/ffi/core.ts";

/** A kind of core under test. */
export interface CoreSubject {
  /** Opens one engine. */
  open(config: EngineConfig): Core;
  /** A path that loads: a model with a vocabulary of 64 or more and a context of 128 or more. */
  modelPath: string;
  /** Whether it takes masked requests. */
  guides?: boolean;
  /** Says why these tests can't run here; undefined: they can. */
  missing?: string;
}

/** The last event of a request. */
export type RequestEnd = Extract<CoreEvent, { type: "finish" | "failure" }>;

/** Reads events until `done`; at most a minute of silence. */
export class Reader {
  readonly events: CoreEvent[] = [];
  readonly core: Core;

  constructor(core: Core) {
    this.core = core;
  }

  async until(done: (event: CoreEvent) => boolean): Promise<void> {
    for (;;) {
      const batch = await this.core.wait(60_000);
      assert.ok(batch.length > 0, "no event within a minute");
      this.events.push(...batch);
      if (batch.some(done)) return;
    }
  }

  /** Until each of these tags has ended. */
  async untilEnded(...tags: number[]): Promise<void> {
    while (tags.some((tag) => this.end(tag) === undefined)) await this.until(isEnd);
  }

  of(tag: number): CoreEvent[] {
    return this.events.filter((event) => "tag" in event && event.tag === tag);
  }

  end(tag: number): RequestEnd | undefined {
    return this.of(tag).find(isEnd);
  }

  tokens(tag: number): number[] {
    return this.of(tag).flatMap((event) => event.type === "token" ? [event.token] : []);
  }
}

/** Whether a request has ended with it. */
export function isEnd(event: CoreEvent): event is RequestEnd {
  return event.type === "finish" || event.type === "failure";
}

/** Some ids below 64. */
export function prompt(length: number): Int32Array {
  return Int32Array.from({ length }, (_, i) => (i * 7 + 3) % 64);
}

/** A greedy request that runs for `maxTokens`. */
export function request(model: number, tag: number, overrides: Partial<SubmitRequest> = {}): SubmitRequest {
  return {
    tag,
    model,
    prompt: prompt(5),
    endTokens: new Int32Array(),
    seed: 1n,
    maxTokens: 6,
    temperature: 0,
    topP: 1,
    minP: 0,
    topK: 0,
    repetitionPenalty: 1,
    presencePenalty: 0,
    frequencyPenalty: 0,
    penaltyWindowTokens: 0,
    logitBias: new Map(),
    ignoreEnd: true,
    client: 1,
    priority: 0,
    deadlineMs: 0,
    ...overrides,
  };
}

/** Defines a test of one promise. */
export type Define = (
  sentence: string,
  body: (core: Core, model: number, reader: Reader) => Promise<void>,
  config?: EngineConfig,
) => void;

/** Thrown by a test that has closed its core itself. */
export const CLOSED = new Error("closed by the test");
