/**
 * What every `Core` promises, as tests: run on the fake and on the library, so that what is tested above the fake holds
 * above the real core. Each test opens an engine of its own and ends with no handle left.
 *
 * @module
 */
import assert from "node:assert/strict";
import { type Core, CoreError, type CoreEvent, type EngineConfig, type SubmitRequest } from "../../src/ffi/core.ts";

/** A kind of core under test. */
export interface CoreSubject {
  /** Opens one engine. */
  open(config: EngineConfig): Core;
  /** A path that loads: a model with a vocabulary of 64 or more and a context of 128 or more. */
  modelPath: string;
  /** Says why these tests can't run here; undefined: they can. */
  missing?: string;
}

type RequestEnd = Extract<CoreEvent, { type: "finish" | "failure" }>;

/** Reads events until `done`; at most a minute of silence. */
class Reader {
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

function isEnd(event: CoreEvent): event is RequestEnd {
  return event.type === "finish" || event.type === "failure";
}

function prompt(length: number): Int32Array {
  return Int32Array.from({ length }, (_, i) => (i * 7 + 3) % 64);
}

/** A greedy request that runs for `maxTokens`. */
function request(model: number, tag: number, overrides: Partial<SubmitRequest> = {}): SubmitRequest {
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

/** Wrong values, with the field of rmx.h that the error must name. */
const WRONG: readonly (readonly [string, Partial<SubmitRequest>])[] = [
  ["temperature", { temperature: NaN }],
  ["temperature", { temperature: -1 }],
  ["temperature", { temperature: Infinity }],
  ["top_p", { topP: NaN }],
  ["top_p", { topP: 0 }],
  ["top_p", { topP: 1.5 }],
  ["min_p", { minP: NaN }],
  ["min_p", { minP: -0.1 }],
  ["top_k", { topK: -1 }],
  ["top_k", { topK: 0.5 }],
  ["repetition_penalty", { repetitionPenalty: 0 }],
  ["repetition_penalty", { repetitionPenalty: NaN }],
  ["presence_penalty", { presencePenalty: 3 }],
  ["frequency_penalty", { frequencyPenalty: NaN }],
  ["max_tokens", { maxTokens: 0 }],
  ["max_tokens", { maxTokens: -5 }],
  ["max_tokens", { maxTokens: 2 ** 32 }],
  ["seed", { seed: -1n }],
  ["seed", { seed: 1n << 63n }],
  ["tag", { tag: 0 }],
  ["client", { client: -1 }],
  ["priority", { priority: 0.5 }],
  ["logprobs_top", { logprobsTop: 21 }],
  ["prompt", { prompt: new Int32Array() }],
  ["prompt", { prompt: Int32Array.of(1, 1 << 30) }],
  ["prompt", { prompt: Int32Array.of(-1) }],
  ["prompt", { prompt: prompt(1 << 20) }],
  ["bias", { logitBias: new Map([[1 << 30, 1]]) }],
  ["bias", { logitBias: new Map([[1, NaN]]) }],
];

/** Defines the tests for one kind of core. */
export function coreSuite(name: string, subject: CoreSubject): void {
  const promise = (
    sentence: string,
    body: (core: Core, model: number, reader: Reader) => Promise<void>,
    config: EngineConfig = {},
  ): void => {
    const ignore = subject.missing !== undefined;
    Deno.test({
      name: `${name}: ${sentence}${ignore ? ` (skipped: ${subject.missing})` : ""}`,
      ignore,
      fn: () => withCore(subject, config, body),
    });
  };
  requestPromises(promise);
  cancelPromises(promise);
  limitPromises(promise);
  modelPromises(promise, subject);
  waitPromises(promise);
}

type Define = (
  sentence: string,
  body: (core: Core, model: number, reader: Reader) => Promise<void>,
  config?: EngineConfig,
) => void;

async function withCore(
  subject: CoreSubject,
  config: EngineConfig,
  body: (core: Core, model: number, reader: Reader) => Promise<void>,
): Promise<void> {
  const core = subject.open(config);
  let closed = false;
  try {
    const reader = new Reader(core);
    const model = core.loadModel(subject.modelPath, { contextTokens: 512 });
    await reader.until((event) => event.type === "modelReady");
    await body(core, model, reader).catch((error: unknown) => {
      if (error === CLOSED) closed = true;
      else throw error;
    });
    if (closed) return;
    const { running, waiting } = core.stats();
    assert.deepEqual({ running, waiting }, { running: 0, waiting: 0 }, "requests were left behind");
    core.unloadModel(model);
    await reader.until((event) => event.type === "modelUnloaded");
    assert.equal(core.stats().openHandles, 0, "handles were left open");
  } finally {
    if (!closed) await core.close();
  }
}

/** Thrown by a test that has closed its core itself. */
const CLOSED = new Error("closed by the test");

function requestPromises(promise: Define): void {
  promise(
    "an accepted submit gives its tokens in order and exactly one finish, the last",
    async (core, model, reader) => {
      core.submit(request(model, 7));
      await reader.untilEnded(7);
      core.submit(request(model, 8, { maxTokens: 1 }));
      await reader.untilEnded(8);
      const events = reader.of(7);
      const indices = events.flatMap((event) => event.type === "token" ? [event.index] : []);
      assert.deepEqual(indices, [0, 1, 2, 3, 4, 5]);
      assert.deepEqual(events.filter(isEnd).length, 1);
      const end = events.at(-1);
      assert.ok(end?.type === "finish" && end.reason === "length");
      assert.deepEqual([end.usage.promptTokens, end.usage.completionTokens], [5, 6]);
    },
  );

  promise("an end token is reported, counted, and ends the request", async (core, model, reader) => {
    core.submit(request(model, 1, { maxTokens: 3 }));
    await reader.untilEnded(1);
    const first = reader.tokens(1)[0]!;
    core.submit(request(model, 2, { ignoreEnd: false, endTokens: Int32Array.of(first), maxTokens: 3 }));
    await reader.untilEnded(2);
    const end = reader.end(2);
    assert.ok(end?.type === "finish" && end.reason === "stop");
    assert.equal(reader.tokens(2).at(-1), first);
    assert.equal(end.usage.completionTokens, reader.tokens(2).length);
  });

  promise("progress of the prompt grows up to its length", async (core, model, reader) => {
    core.submit(request(model, 1, { prompt: prompt(40) }));
    await reader.untilEnded(1);
    const done = reader.of(1).flatMap((event) => event.type === "prefill" ? [event.doneTokens] : []);
    assert.deepEqual(done, done.toSorted((a, b) => a - b));
    assert.equal(done.at(-1), 40);
  }, { prefillChunkTokens: 16 });

  promise("logprobs come when asked for, best first, and not otherwise", async (core, model, reader) => {
    core.submit(request(model, 1, { logprobsTop: 3 }));
    core.submit(request(model, 2));
    await reader.untilEnded(1, 2);
    for (const event of reader.of(1)) {
      if (event.type !== "token") continue;
      assert.equal(event.top.length, 3);
      assert.ok(event.logprob <= 0 && event.top.every(({ logprob }) => logprob <= 0));
      assert.deepEqual(event.top, event.top.toSorted((a, b) => b.logprob - a.logprob));
      assert.equal(event.top[0]!.token, event.token, "greedy draws the best");
    }
    assert.ok(reader.of(2).every((event) => event.type !== "token" || event.top.length === 0));
  });

  promise("a full context ends a request with length", async (core, model, reader) => {
    core.submit(request(model, 1, { prompt: prompt(508), maxTokens: 100 }));
    await reader.untilEnded(1);
    const end = reader.end(1);
    assert.ok(end?.type === "finish" && end.reason === "length");
    assert.equal(end.usage.completionTokens, 4);
  });

  promise("32 requests at once through one pump each say what they say alone", async (core, model, reader) => {
    const tags = Array.from({ length: 32 }, (_, i) => i + 100);
    const shape = (tag: number): Partial<SubmitRequest> => ({ prompt: prompt(tag - 90), maxTokens: 4 + tag % 5 });
    for (const tag of tags) core.submit(request(model, tag, shape(tag)));
    await reader.untilEnded(...tags);
    for (const tag of [100, 117, 131]) {
      core.submit(request(model, tag + 900, shape(tag)));
      await reader.untilEnded(tag + 900);
      assert.deepEqual(reader.tokens(tag), reader.tokens(tag + 900));
    }
    for (const tag of tags) assert.equal(reader.of(tag).filter(isEnd).length, 1);
    assert.equal(core.stats().completed, 35);
  });
}

function cancelPromises(promise: Define): void {
  promise("cancel ends a request in the queue, once", async (core, model, reader) => {
    core.submit(request(model, 1, { maxTokens: 400 }));
    core.submit(request(model, 2));
    core.cancel(2);
    core.cancel(2);
    core.cancel(1);
    await reader.untilEnded(1, 2);
    assert.deepEqual(reader.of(2).map((event) => event.type === "finish" && event.reason), ["cancelled"]);
    assert.equal(core.stats().cancelled, 2);
  }, { maxRequests: 1 });

  promise("cancel ends a request in its prompt, before the next step", async (core, model, reader) => {
    core.submit(request(model, 1, { prompt: prompt(500) }));
    await reader.until((event) => event.type === "prefill");
    core.cancel(1);
    core.cancel(1);
    await reader.untilEnded(1);
    const end = reader.end(1);
    assert.ok(end?.type === "finish" && end.reason === "cancelled");
    assert.deepEqual(reader.tokens(1), []);
    assert.equal(end.usage.completionTokens, 0);
  }, { prefillChunkTokens: 1, maxRequests: 2 });

  promise(
    "cancel ends a request that is being answered; its usage counts what it said",
    async (core, model, reader) => {
      core.submit(request(model, 1, { maxTokens: 500 }));
      await reader.until((event) => event.type === "token");
      core.cancel(1);
      await reader.untilEnded(1);
      const end = reader.end(1);
      assert.ok(end?.type === "finish" && end.reason === "cancelled");
      assert.equal(end.usage.completionTokens, reader.tokens(1).length);
    },
  );

  promise("cancel of a finished or unknown tag is no error and makes no event", async (core, model, reader) => {
    core.submit(request(model, 1, { maxTokens: 1 }));
    await reader.untilEnded(1);
    core.cancel(1);
    core.cancel(12345);
    core.submit(request(model, 2, { maxTokens: 1 }));
    await reader.untilEnded(2);
    assert.equal(reader.of(1).filter(isEnd).length, 1);
    assert.deepEqual(reader.of(12345), []);
  });

  promise("a finished tag can be used again", async (core, model, reader) => {
    core.submit(request(model, 1, { maxTokens: 1 }));
    await reader.untilEnded(1);
    core.submit(request(model, 1, { maxTokens: 2 }));
    await reader.until(isEnd);
    assert.deepEqual(reader.of(1).filter(isEnd).length, 2);
  });

  promise("a deadline ends a request as cancelled", async (core, model, reader) => {
    core.submit(request(model, 1, { prompt: prompt(500), deadlineMs: 1 }));
    await reader.untilEnded(1);
    const end = reader.end(1);
    assert.ok(end?.type === "finish" && end.reason === "cancelled");
  }, { prefillChunkTokens: 1, maxRequests: 2 });

  promise("close finishes every request, and a wait in flight hears of it", async (core, model, reader) => {
    for (const tag of [1, 2, 3]) core.submit(request(model, tag, { maxTokens: 500 }));
    await reader.until((event) => event.type === "token");
    const waiting = (async () => {
      const ends: CoreEvent[] = [];
      while (ends.length < 3) ends.push(...(await core.wait(60_000)).filter(isEnd));
      return ends;
    })().catch((error: unknown) => error);
    const closing = core.close();
    await closing;
    const heard = await waiting;
    // The wait that was in flight has brought what fitted; a later one is refused.
    if (heard instanceof Error) assert.ok(heard instanceof CoreError && heard.code === "closed", String(heard));
    else {assert.deepEqual(
        (heard as CoreEvent[]).map((end) => "reason" in end && end.reason),
        Array(3).fill("cancelled"),
      );}
    assert.throws(() => core.submit(request(model, 4)), { code: "closed" });
    assert.throws(() => core.loadModel("x", {}), { code: "closed" });
    await assert.rejects(core.wait(0), { code: "closed" });
    throw CLOSED;
  }, { maxRequests: 2 });
}

function limitPromises(promise: Define): void {
  promise(
    "a full queue refuses with busy and the limit, and takes more once one has ended",
    async (core, model, reader) => {
      for (const tag of [1, 2, 3]) core.submit(request(model, tag, { maxTokens: 100 }));
      assert.throws(() => core.submit(request(model, 4)), (error) => {
        return error instanceof CoreError && error.code === "busy" && /\b3\b/.test(error.message);
      });
      for (const tag of [1, 2, 3]) core.cancel(tag);
      await reader.untilEnded(1, 2, 3);
      core.submit(request(model, 4));
      await reader.untilEnded(4);
    },
    { maxRequests: 1, maxQueue: 2 },
  );

  promise("a wrong parameter is refused by its name and leaves nothing behind", async (core, model) => {
    for (const [field, wrong] of WRONG) {
      assert.throws(() => core.submit(request(model, 1, wrong)), (error) => {
        assert.ok(error instanceof CoreError, String(error));
        assert.equal(error.code, "argument", error.message);
        assert.ok(error.message.includes(field), `${field} is not named in: ${error.message}`);
        return true;
      });
    }
    await Promise.resolve();
    assert.equal(core.stats().submitted, 0);
  });

  promise("a tag in use is refused", async (core, model, reader) => {
    core.submit(request(model, 9, { maxTokens: 200 }));
    assert.throws(() => core.submit(request(model, 9)), { code: "argument", message: /tag 9/ });
    core.cancel(9);
    await reader.untilEnded(9);
  });
}

function modelPromises(promise: Define, subject: CoreSubject): void {
  promise("facts of a loaded model, capped at the context asked for", async (core, model) => {
    const info = core.modelInfo(model);
    assert.ok(info.vocabularySize >= 64);
    assert.equal(info.contextTokens, 512);
    assert.ok(info.modelType.length > 0 && info.dtype.length > 0 && info.quantization.length > 0);
    await Promise.resolve();
  });

  promise(
    "a path without a checkpoint is a failed event with a sentence that names it",
    async (core, _model, reader) => {
      const model = core.loadModel("/no/such/checkpoint", {});
      await reader.until((event) => event.type === "modelFailed");
      const failed = reader.events.find((event) => event.type === "modelFailed");
      assert.ok(failed?.type === "modelFailed" && failed.model === model && failed.status < 0);
      assert.match(failed.message, /\/no\/such\/checkpoint/);
      assert.throws(() => core.modelInfo(model), { code: "handle" });
    },
  );

  promise("the handle of an unloaded model is stale for every call", async (core, _model, reader) => {
    const model = core.loadModel(subject.modelPath, {});
    await reader.until((event) => event.type === "modelReady");
    core.unloadModel(model);
    await reader.until((event) => event.type === "modelUnloaded" && event.model === model);
    for (
      const use of [() => core.modelInfo(model), () => core.unloadModel(model), () => core.submit(request(model, 1))]
    ) {
      assert.throws(use, { code: "handle" });
    }
    assert.throws(() => core.modelInfo(0), { code: "handle" });
  });

  promise(
    "an unload ends the model's requests as cancelled and leaves other models alone",
    async (core, model, reader) => {
      const other = core.loadModel(subject.modelPath, {});
      await reader.until((event) => event.type === "modelReady");
      core.submit(request(other, 1, { maxTokens: 100 }));
      core.submit(request(model, 2, { maxTokens: 5 }));
      core.unloadModel(other);
      await reader.untilEnded(1, 2);
      const unloaded = (event: CoreEvent): boolean => event.type === "modelUnloaded" && event.model === other;
      if (!reader.events.some(unloaded)) await reader.until(unloaded);
      assert.deepEqual([1, 2].map((tag) => reader.end(tag)).map((end) => end?.type === "finish" && end.reason), [
        "cancelled",
        "length",
      ]);
    },
  );
}

function waitPromises(promise: Define): void {
  promise("a wait with nothing to bring ends at its timeout, or at a wake", async (core) => {
    assert.deepEqual(await core.wait(1), []);
    const waiting = core.wait(60_000);
    core.wake();
    assert.deepEqual(await waiting, []);
  });

  promise("a wake before the wait ends it at once", async (core) => {
    core.wake();
    assert.deepEqual(await core.wait(60_000), []);
  });

  promise("a second wait is refused while one is in flight", async (core) => {
    const waiting = core.wait(60_000);
    await assert.rejects(core.wait(0), { code: "argument" });
    core.wake();
    assert.deepEqual(await waiting, []);
  });
}
