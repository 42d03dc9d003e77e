/** Guides on a scripted core: when they are asked, what their answers do, and how they end. */
import assert from "node:assert/strict";
import { CoreError } from "../ffi/core.ts";
import { FakeCore } from "../ffi/fake_core.ts";
import type { FakeReply } from "../ffi/fake_reply.ts";
import type { Allowance, GenerationEvent, GenerationRequest, TokenGuide } from "../flow.ts";
import { Engine } from "./engine.ts";

type Next = TokenGuide["next"];

/** A guide that writes down what it was asked. */
class Recorder implements TokenGuide {
  readonly asked: [position: number, token: number | undefined][] = [];
  closed = 0;
  readonly #next: Next;
  constructor(next: Next) {
    this.#next = next;
  }
  next(position: number, token: number | undefined): Allowance | Promise<Allowance> {
    this.asked.push([position, token]);
    return this.#next(position, token);
  }
  close(): void {
    this.closed++;
  }
}

function toRequest(model: number, guide: TokenGuide, maxTokens = 16): GenerationRequest {
  const off = { topP: 1, topK: 0, minP: 0, repetitionPenalty: 1, presencePenalty: 0, frequencyPenalty: 0 };
  return {
    requestId: "test",
    model,
    prompt: Int32Array.of(1, 2, 3),
    endTokens: [0],
    sampling: { temperature: 0, ...off, logitBias: new Map(), seed: 7n },
    limits: { maxTokens, stop: [], ignoreEnd: false },
    client: 1,
    guide,
  };
}

async function run(
  guide: TokenGuide,
  reply: FakeReply = { tokens: [10, 11, 12] },
  signal = new AbortController().signal,
): Promise<GenerationEvent[]> {
  const engine = new Engine(new FakeCore({ reply }));
  try {
    const model = await engine.loadModel("fake", {});
    return await Array.fromAsync(engine.generate(toRequest(model, guide), signal));
  } finally {
    await engine.close();
  }
}

const tokensOf = (events: GenerationEvent[]): number[] => events.flatMap((e) => e.type === "token" ? [e.token] : []);
const free = (positions: number): Allowance => ({ type: "free", positions });

function maskOf(...tokens: number[]): Allowance {
  const words = new Uint32Array(Math.ceil(50_000 / 32));
  for (const token of tokens) words[token >>> 5] = (words[token >>> 5] ?? 0) | 1 << (token & 31);
  return { type: "mask", words };
}

Deno.test("A guide is asked once a run of positions is told, with the token before it, and closed once", async () => {
  const guide = new Recorder((position) => position === 0 ? free(2) : free(Infinity));
  assert.deepEqual(tokensOf(await run(guide)), [10, 11, 12, 0]);
  assert.deepEqual(guide.asked, [[0, undefined], [2, 11]]);
  assert.equal(guide.closed, 1);
});

Deno.test("Answers may be promises: nothing is drawn before they are settled", async () => {
  const guide = new Recorder(async (position) => {
    for (let turns = 0; turns < 20; turns++) await Promise.resolve();
    return position === 1 ? maskOf(7, 12) : free(1);
  });
  assert.deepEqual(tokensOf(await run(guide)), [10, 12, 0]);
});

Deno.test("The script skips to what a mask allows, then ends if it may, then says the lowest that is allowed", async () => {
  const guide = new Recorder((position) => [maskOf(12, 30), maskOf(5, 4), maskOf(9, 0)][position] ?? free(1));
  const events = await run(guide);
  assert.deepEqual(tokensOf(events), [12, 4, 0]);
  assert.deepEqual(events.at(-1)?.type === "finish" && events.at(-1), { ...events.at(-1), reason: "stop" });
});

Deno.test("Forced tokens are played, and the script goes on after its own", async () => {
  const guide = new Recorder((position) => position === 1 ? { type: "force", tokens: [30, 11] } : free(1));
  assert.deepEqual(tokensOf(await run(guide)), [10, 30, 11, 12, 0]);
  assert.deepEqual(guide.asked.map(([position]) => position), [0, 1, 3, 4]);
});

Deno.test("An end token gives way to what stands in for it, as long as the guide says so", async () => {
  const guide = new Recorder((position) =>
    position < 3 ? { type: "free", positions: 1, insteadOfEnd: [20, 21] } : free(1)
  );
  assert.deepEqual(tokensOf(await run(guide, { tokens: [10] })), [10, 20, 21, 0]);
  const scripted = new Recorder((position) =>
    position < 3 ? { type: "free", positions: 1, insteadOfEnd: [20, 21] } : free(1)
  );
  assert.deepEqual(tokensOf(await run(scripted, { tokens: [10], end: "stop" })), [10, 20, 21]);
});

Deno.test("A guide that throws fails its generation by name and is closed", async () => {
  for (const throws of [() => Promise.reject(new Error("no grammar")), (): never => assert.fail("no grammar")]) {
    const guide = new Recorder((position) => position === 2 ? throws() : free(1));
    await assert.rejects(run(guide), (error) => {
      return error instanceof CoreError && error.code === "internal" && /token 2 .*no grammar/.test(error.message);
    });
    assert.equal(guide.closed, 1);
  }
});

Deno.test("A mask of the wrong length, or one that allows nothing, fails the generation with what is wanted", async () => {
  await assert.rejects(run(new Recorder(() => ({ type: "mask", words: new Uint32Array(3) }))), /wanted 1563 a row/);
  await assert.rejects(run(new Recorder(() => maskOf())), /mask of position 0 allows no token/);
});

Deno.test("A guide is closed when its client leaves, has left, or the core refuses", async () => {
  const controller = new AbortController();
  const waiting = new Recorder(() => {
    queueMicrotask(() => controller.abort());
    return new Promise(() => {});
  });
  const events = await run(waiting, undefined, controller.signal);
  assert.deepEqual(events.at(-1)?.type === "finish" && events.at(-1), { ...events.at(-1), reason: "cancelled" });
  assert.equal(waiting.closed, 1);

  const late = new Recorder(() => free(1));
  await run(late, undefined, controller.signal);
  assert.deepEqual([late.closed, late.asked.length], [1, 0]);

  const refused = new Recorder(() => free(1));
  const engine = new Engine(new FakeCore({ reply: { tokens: [1] } }));
  assert.throws(() => engine.generate(toRequest(99, refused), new AbortController().signal), { code: "handle" });
  await engine.close();
  assert.deepEqual([refused.closed, refused.asked.length], [1, 0]);
});
