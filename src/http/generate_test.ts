import assert from "node:assert/strict";
import type { ChatChunk } from "../api/chat_answer.ts";
import { CoreError, type CoreErrorCode } from "../ffi/core.ts";
import { ManualPace } from "../../tests/support/manual_pace.ts";
import { openTestApp, says, type TestApp, toEvents } from "../../tests/support/test_app.ts";
import { KEEP_ALIVE_MS } from "./sse.ts";

const CHAT = "/v1/chat/completions";
const USER = [{ role: "user", content: "Hi" }];

/** Lets what is resolved already run. */
async function settle(turns = 5): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setTimeout(resolve, 0));
}

/** Steps until nothing runs any more. */
async function runDown(server: TestApp, pace: ManualPace): Promise<void> {
  while (server.engine.stats().running + server.engine.stats().waiting > 0) {
    pace.advance();
    await settle(1);
  }
}

Deno.test("a stream's head and role come before the first step, and silence is filled while queue and prefill last", async () => {
  const pace = new ManualPace();
  await using server = await openTestApp({ pace: pace.pace });
  const response = await server.post(CHAT, { messages: USER, stream: true });
  assert.equal(response.status, 200);
  const reader = response.body?.getReader();
  assert.ok(reader);
  const read = async (): Promise<ChatChunk> => {
    const { value } = await reader.read();
    return toEvents(new TextDecoder().decode(value))[0] as ChatChunk;
  };
  assert.deepEqual((await read()).choices[0]?.delta, { role: "assistant", content: "" });
  for (let i = 0; i < 3; i++) {
    const next = read();
    await settle();
    server.clock.advance(KEEP_ALIVE_MS);
    assert.deepEqual((await next).choices, [{ index: 0, delta: { content: "" }, finish_reason: null }]);
  }
  pace.advance(100);
  assert.equal((await read()).choices[0]?.delta.content, "H");
  await reader.cancel();
});

/** Sends a request, lets it run some steps, and leaves. */
async function leaveAfter(server: TestApp, pace: ManualPace, steps: number, body: object): Promise<void> {
  const leaving = new AbortController();
  const answer = server.post(CHAT, body, { signal: leaving.signal });
  const stream = "stream" in body ? await answer : undefined;
  await settle();
  for (let i = 0; i < steps; i++) {
    pace.advance();
    await settle(2);
  }
  if (stream) {
    const reader = stream.body?.getReader();
    await reader?.read();
    void reader?.cancel();
  } else {
    leaving.abort();
    void answer.catch(() => {});
  }
  await settle();
}

Deno.test("a client that leaves ends its generation before the next step: queued, in prefill and in decode", async () => {
  for (const stream of [false, true]) {
    for (const steps of [0, 2, 6]) {
      const pace = new ManualPace();
      await using server = await openTestApp({ pace: pace.pace, config: { prefillChunkTokens: 5 } });
      await leaveAfter(server, pace, steps, { messages: USER, ...(stream && { stream }) });
      const before = server.engine.stats();
      pace.advance();
      await settle();
      const after = server.engine.stats();
      assert.equal(after.running + after.waiting, 0);
      assert.equal(after.cancelled, 1);
      assert.equal(after.completionTokens, before.completionTokens);
      assert.equal(after.prefillTokens, before.prefillTokens);
      assert.equal(server.activity.live().length, 0);
      assert.equal(server.activity.counts.left, 1);
    }
  }
});

Deno.test("a client that leaves ends every choice of its request, and other requests go on", async () => {
  const pace = new ManualPace();
  await using server = await openTestApp({ pace: pace.pace });
  const other = server.post(CHAT, { messages: USER });
  await leaveAfter(server, pace, 4, { messages: USER, n: 5, stream: true });
  pace.advance();
  await settle();
  assert.equal(server.engine.stats().cancelled, 5);
  await runDown(server, pace);
  assert.equal((await (await other).json()).choices[0].message.content, "Hello there.");
  assert.deepEqual(server.activity.counts, { completed: 1, failed: 0, left: 1, cancelled: 0 });
});

Deno.test("a client that has left before the tokens are submitted leaves nothing in the core", async () => {
  await using server = await openTestApp();
  const gone = AbortSignal.abort();
  for (const stream of [false, true]) {
    const response = await server.post(CHAT, { messages: USER, stream }, { signal: gone }).catch(() => undefined);
    await response?.text();
  }
  assert.equal(server.engine.stats().submitted, 0);
  assert.equal(server.activity.live().length, 0);
});

Deno.test("a slow reader holds up its own stream only", async () => {
  const pace = new ManualPace();
  await using server = await openTestApp({ pace: pace.pace, reply: says("x".repeat(200)) });
  const slow = await server.post(CHAT, { messages: USER, stream: true });
  const quick = server.post(CHAT, { messages: USER });
  await settle();
  await runDown(server, pace);
  assert.equal((await (await quick).json()).choices[0].message.content, "x".repeat(200));
  const events = toEvents(await slow.text()) as ChatChunk[];
  assert.equal(events.length, 200 + 3);
});

Deno.test("an answer that breaks midway ends with an error chunk and without [DONE]", async () => {
  const failure = { afterTokens: 2, code: "internal" as const, message: "a detail of the device" };
  await using server = await openTestApp({ reply: says("Hello", { failure }) });
  const response = await server.post(CHAT, { messages: USER, stream: true });
  const text = await response.text();
  const events = toEvents(text) as Record<string, unknown>[];
  const error = events.at(-1)?.error as Record<string, unknown>;
  assert.ok(String(error.message).includes(response.headers.get("x-request-id") ?? "none"));
  assert.equal(error.code, "internal_error");
  assert.equal(error.type, "api_error");
  assert.ok(!text.includes("[DONE]") && !text.includes("device") && !text.includes('"finish_reason":"'));
  assert.ok(server.lines.some((line) => line.includes("a detail of the device") && line.includes(" error ")));
  const whole = await server.post(CHAT, { messages: USER });
  assert.equal(whole.status, 500);
  assert.equal((await whole.json()).error.code, "internal_error");
  assert.equal(server.activity.counts.failed, 2);
});

Deno.test("what the core refuses reaches the client as the table says, before any byte of a stream", async () => {
  const rows: [CoreErrorCode, number, string][] = [
    ["busy", 429, "server_busy"],
    ["memory", 400, "insufficient_memory"],
    ["closed", 503, "server_shutting_down"],
    ["argument", 500, "internal_error"],
    ["handle", 500, "internal_error"],
    ["internal", 500, "internal_error"],
  ];
  for (const [code, status, wireCode] of rows) {
    await using server = await openTestApp();
    server.engine.generate = (): never => {
      throw new CoreError(code, "what the core says");
    };
    for (const stream of [false, true]) {
      const response = await server.post(CHAT, { messages: USER, stream });
      assert.equal(response.status, status);
      const { error } = await response.json();
      assert.equal(error.code, wireCode);
      assert.equal(error.message.includes("what the core says"), status !== 500);
    }
    assert.equal(server.activity.live().length, 0);
  }
});

Deno.test("an answer that the shutdown cuts is an error, not a whole answer", async () => {
  const pace = new ManualPace();
  await using server = await openTestApp({ pace: pace.pace });
  const stream = await server.post(CHAT, { messages: USER, stream: true });
  const whole = server.post(CHAT, { messages: USER });
  await settle();
  pace.advance(3);
  await settle();
  server.lifecycle.drain();
  server.activity.abortAll();
  pace.advance();
  const events = toEvents(await stream.text()) as Record<string, unknown>[];
  assert.equal((events.at(-1)?.error as Record<string, unknown>).code, "server_shutting_down");
  assert.equal((await whole).status, 503);
  assert.deepEqual(server.activity.counts, { completed: 0, failed: 0, left: 0, cancelled: 2 });
});
