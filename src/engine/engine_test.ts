/** Engine on a scripted core: order, aborts, failures, closing, and what is counted. */
import assert from "node:assert/strict";
import { ManualPace } from "../../tests/support/manual_pace.ts";
import { type Core, CoreError, type CoreEvent } from "../ffi/core.ts";
import { FAKE_MODEL_INFO, FakeCore, type FakeCoreOptions } from "../ffi/fake_core.ts";
import type { GenerationEvent, GenerationRequest } from "../flow.ts";
import { Engine, type EngineOptions } from "./engine.ts";

const never = new AbortController().signal;

function request(model: number, limits: Partial<GenerationRequest["limits"]> = {}): GenerationRequest {
  return {
    requestId: "test",
    model,
    prompt: Int32Array.of(1, 2, 3),
    endTokens: [0],
    sampling: {
      temperature: 0,
      topP: 1,
      topK: 0,
      minP: 0,
      repetitionPenalty: 1,
      presencePenalty: 0,
      frequencyPenalty: 0,
      logitBias: new Map(),
      seed: 7n,
    },
    limits: { maxTokens: 16, stop: [], ignoreEnd: false, ...limits },
    client: 1,
  };
}

async function withEngine(
  core: Partial<FakeCoreOptions>,
  body: (engine: Engine, model: number) => Promise<void>,
  options: EngineOptions = {},
): Promise<void> {
  const engine = new Engine(new FakeCore({ reply: { tokens: [10, 11, 12] }, ...core }), options);
  try {
    await body(engine, await engine.loadModel("fake", {}));
  } finally {
    await engine.close();
  }
}

async function collect(events: AsyncIterable<GenerationEvent>): Promise<GenerationEvent[]> {
  return await Array.fromAsync(events);
}

const tokensOf = (events: GenerationEvent[]): number[] => events.flatMap((e) => e.type === "token" ? [e.token] : []);

Deno.test("Engine gives a generation's tokens in order and one finish, which is the last event", async () => {
  await withEngine({}, async (engine, model) => {
    const events = await collect(engine.generate(request(model), never));
    assert.deepEqual(tokensOf(events), [10, 11, 12, 0]);
    assert.deepEqual(events.map(({ type }) => type), ["prefill", "token", "token", "token", "token", "finish"]);
    const last = events.at(-1);
    assert.ok(last?.type === "finish" && last.reason === "stop");
    assert.equal(last.usage.promptTokens, 3);
    assert.equal(last.usage.completionTokens, 4);
  });
});

Deno.test("Engine gives logprobs to those who asked and to nobody else", async () => {
  await withEngine({}, async (engine, model) => {
    const [, plain] = await collect(engine.generate(request(model), never));
    assert.deepEqual(plain, { type: "token", token: 10, index: 0 });
    const [, asked] = await collect(engine.generate(request(model, { logprobsTop: 2 }), never));
    const top = [{ token: 10, logprob: -0.5 }, { token: 11, logprob: -1.5 }];
    assert.deepEqual(asked, { type: "token", token: 10, index: 0, logprob: -0.5, top });
  });
});

Deno.test("Engine keeps 20 generations on one core apart", async () => {
  await withEngine({ reply: ({ tag }) => ({ tokens: [tag * 100, tag * 100 + 1] }) }, async (engine, model) => {
    const all = await Promise.all(
      Array.from({ length: 20 }, () => collect(engine.generate(request(model), never))),
    );
    assert.deepEqual(all.map(tokensOf), all.map((_, i) => [(i + 1) * 100, (i + 1) * 100 + 1, 0]));
    assert.equal(engine.stats().pump.droppedEvents, 0);
  });
});

Deno.test("an abort ends a generation with a cancelled finish before the next step", async () => {
  const pace = new ManualPace();
  await withEngine({ pace: pace.pace }, async (engine, model) => {
    const abort = new AbortController();
    const events = engine.generate(request(model), abort.signal);
    pace.advance(2);
    assert.deepEqual((await events.next()).value, { type: "prefill", doneTokens: 3 });
    assert.equal((await events.next()).value?.token, 10);
    assert.equal((await events.next()).value?.token, 11);
    abort.abort();
    pace.advance();
    const last = (await events.next()).value;
    assert.equal(last?.reason, "cancelled");
    assert.equal(last.usage.completionTokens, 2);
    assert.equal((await events.next()).done, true);
    assert.equal(engine.stats().cancelled, 1);
  });
});

Deno.test("a signal that has aborted already submits nothing and still gives a finish", async () => {
  await withEngine({}, async (engine, model) => {
    const events = await collect(engine.generate(request(model), AbortSignal.abort()));
    assert.deepEqual(events.map((e) => e.type === "finish" && e.reason), ["cancelled"]);
    assert.equal(engine.stats().submitted, 0);
  });
});

Deno.test("leaving the loop cancels in the core, and the late events are not counted as dropped", async () => {
  const reply = { tokens: Array.from({ length: 1000 }, (_, i) => i + 1) };
  await withEngine({ reply }, async (engine, model) => {
    for await (const event of engine.generate(request(model, { maxTokens: 1000 }), never)) {
      if (event.type === "token") break;
    }
    await collect(engine.generate(request(model, { maxTokens: 3 }), never));
    const { cancelled, running, pump } = engine.stats();
    assert.deepEqual([cancelled, running, pump.droppedEvents], [1, 0, 0]);
  });
});

Deno.test("a refused submit throws at once and leaves nothing behind", async () => {
  const pace = new ManualPace();
  await withEngine({ config: { maxRequests: 1, maxQueue: 1 }, pace: pace.pace }, (engine, model) => {
    const abort = new AbortController();
    engine.generate(request(model), abort.signal);
    engine.generate(request(model), abort.signal);
    assert.throws(() => engine.generate(request(model), never), (error) => {
      return error instanceof CoreError && error.code === "busy" &&
        /^2 requests are running or waiting/.test(error.message);
    });
    assert.equal(engine.stats().submitted, 2);
    pace.advance(1000);
    return Promise.resolve();
  });
});

Deno.test("a failure in the middle reaches the reader after the tokens before it", async () => {
  const failure = { afterTokens: 2, code: "internal", message: "The device was lost in step 3" } as const;
  await withEngine({ reply: { tokens: [5], failure } }, async (engine, model) => {
    const seen: GenerationEvent[] = [];
    await assert.rejects(async () => {
      for await (const event of engine.generate(request(model, { ignoreEnd: true }), never)) seen.push(event);
    }, { name: "CoreError", code: "internal", message: "The device was lost in step 3" });
    assert.deepEqual(tokensOf(seen), [5, 5]);
    assert.equal(engine.stats().failed, 1);
  });
});

Deno.test("loadModel() reports progress, and rejects with the core's sentence when the path is wrong", async () => {
  await withEngine({}, async (engine) => {
    const progress: number[] = [];
    const model = await engine.loadModel("fake", { contextTokens: 99 }, (perMille) => progress.push(perMille));
    assert.deepEqual(progress, [1000]);
    assert.equal(engine.modelInfo(model).contextTokens, 99);
    await engine.unloadModel(model);
    assert.throws(() => engine.modelInfo(model), { code: "handle" });
    await assert.rejects(engine.loadModel("nowhere", {}), { code: "io", message: /from "nowhere"/ });
  });
});

Deno.test("close() ends live generations as cancelled, and later calls are refused", async () => {
  const pace = new ManualPace();
  const engine = new Engine(new FakeCore({ reply: { tokens: [1] }, pace: pace.pace }));
  const model = await engine.loadModel("fake", {});
  const generation = collect(engine.generate(request(model), never));
  const closing = engine.close();
  pace.advance();
  await closing;
  assert.deepEqual((await generation).map((e) => e.type === "finish" && e.reason), ["cancelled"]);
  assert.throws(() => engine.generate(request(model), never), { code: "closed" });
  await engine.close();
});

/** A core whose waits fail once `broken` is set. */
class BreakingCore extends FakeCore {
  broken = false;

  override wait(timeoutMs: number): Promise<CoreEvent[]> {
    if (this.broken) return Promise.reject(new CoreError("internal", "The engine thread has died"));
    return super.wait(timeoutMs);
  }
}

Deno.test("a lost engine rejects every generation and every load, then refuses new ones with the reason", async () => {
  const core = new BreakingCore({ reply: { tokens: [1] }, pace: () => new Promise(() => {}) });
  const engine = new Engine(core);
  const model = await engine.loadModel("fake", {});
  const generations = [1, 2].map(() => collect(engine.generate(request(model), never)));
  core.broken = true;
  core.wake();
  const lost = { code: "internal", message: "The engine thread has died" };
  for (const generation of generations) await assert.rejects(generation, lost);
  assert.throws(() => engine.generate(request(model), never), { code: "closed", message: /engine thread has died/ });
  await engine.close();
});

Deno.test("events of unknown tags and models are dropped and counted", async () => {
  const stray: CoreEvent[] = [
    { type: "token", tag: 99, token: 1, index: 0, logprob: 0, top: [] },
    { type: "modelProgress", model: 99, perMille: 1 },
  ];
  const core: Core = new FakeCore({ reply: { tokens: [1] } });
  const wait = core.wait.bind(core);
  core.wait = async (timeoutMs) => [...stray.splice(0), ...await wait(timeoutMs)];
  const engine = new Engine(core);
  await engine.loadModel("fake", {});
  assert.equal(engine.stats().pump.droppedEvents, 2);
  await engine.close();
});

Deno.test("the log of the core reaches the engine's listener", async () => {
  const core: Core = new FakeCore({ reply: { tokens: [1] }, models: { a: FAKE_MODEL_INFO } });
  const wait = core.wait.bind(core);
  core.wait = async (timeoutMs) => [{ type: "log", level: "warning", line: "slow disk" }, ...await wait(timeoutMs)];
  const lines: string[] = [];
  const engine = new Engine(core, { log: (level, line) => lines.push(`${level}: ${line}`) });
  await engine.loadModel("a", {});
  await engine.close();
  assert.equal(lines[0], "warning: slow disk");
});
