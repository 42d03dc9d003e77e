/**
 * How every wire refuses and how its streams break: envelopes, waits, windows, cut connections.
 *
 * @module
 */
import assert from "node:assert/strict";
import { CoreError } from "../../src/ffi/core.ts";
import { serveScript } from "../support/scripted_server.ts";
import { MODEL_ID, openTestApp, says } from "../support/test_app.ts";
import { type Json, MESSAGES, post, toEvents, type Turn, WIRES } from "./wires.ts";

const USER: readonly Turn[] = [{ user: "Hi" }];
const LONG: readonly Turn[] = [{ system: "x".repeat(300) }, { user: "Hi" }];

Deno.test("Every refusal is in its wire's envelope, whoever refuses: guard, key, body, field, model, window", async () => {
  await using server = await openTestApp({ contextTokens: 64, flags: { apiKey: "k", maxBodyBytes: 2000 } });
  const key = { authorization: "Bearer k" };
  for (const wire of WIRES) {
    const rows: [unknown, HeadersInit, number][] = [
      [wire.ask(USER), {}, 401],
      [wire.ask(USER), { ...key, host: "evil.example" }, 400],
      [wire.ask(USER), { ...key, origin: "https://evil.example" }, 403],
      ["{", key, 400],
      [wire.ask(USER, { [wire.maxTokensField]: -1 }), key, 400],
      [wire.ask(USER, { model: "no-such-model" }), key, 404],
      [wire.ask(LONG), key, 400],
      ["x".repeat(3000), key, 413],
    ];
    for (const [body, headers, status] of rows) {
      for (const stream of typeof body === "string" ? [false] : [false, true]) {
        const asked = typeof body === "string" ? body : { ...Object(body), stream };
        const response = await server.post(wire.path, asked, { headers });
        const { type, message } = wire.refusal(await response.json(), response);
        assert.equal(response.status, status, `${wire.name}: ${message}`);
        assert.ok(type.endsWith("_error") || type === "request_too_large", type);
        assert.match(response.headers.get("content-type") ?? "", /^application\/json/);
      }
    }
  }
});

Deno.test("Busy is 429 and loading is 503, each with whole seconds to wait, before any event of a stream", async () => {
  await using server = await openTestApp();
  const generate = server.engine.generate;
  for (const wire of WIRES) {
    for (const stream of [false, true]) {
      server.engine.generate = (): never => {
        throw new CoreError("busy", "the queue is full");
      };
      const busy = await server.post(wire.path, wire.ask(USER, { stream }));
      assert.deepEqual([busy.status, wire.refusal(await busy.json(), busy).type], [429, "rate_limit_error"]);
      assert.match(busy.headers.get("retry-after") ?? "", /^[1-9]\d*$/, wire.name);
      server.engine.generate = generate;
      const { status } = server.model;
      server.model.status = { state: "loading", perMille: 500 };
      const loading = await server.post(wire.path, wire.ask(USER, { stream }));
      assert.equal(loading.status, 503);
      wire.refusal(await loading.json(), loading);
      assert.match(loading.headers.get("retry-after") ?? "", /^[1-9]\d*$/, wire.name);
      server.model.status = status;
    }
  }
});

Deno.test("States that pass are never told as a missing key or a missing model", async () => {
  await using server = await openTestApp();
  server.model.status = { state: "loading", perMille: 1 };
  for (const model of [undefined, MODEL_ID, "default"]) {
    for (const wire of WIRES) {
      const response = await server.post(wire.path, wire.ask(USER, { ...(model && { model }) }));
      assert.equal(response.status, 503, wire.name);
      await response.text();
    }
  }
  assert.equal((await server.get("/v1/models")).status, 200);
});

Deno.test("A prompt that is too long is a 400 with both numbers in the family's words, and the models tell the window", async () => {
  await using server = await openTestApp({ contextTokens: 64 });
  for (const wire of WIRES) {
    for (const stream of [false, true]) {
      const response = await server.post(wire.path, wire.ask(LONG, { stream }));
      assert.equal(response.status, 400);
      const body = await response.json();
      const { message } = wire.refusal(body, response);
      if (wire === MESSAGES) assert.match(message, /^prompt is too long: \d+ tokens > \d+ maximum/);
      else {
        assert.match(message, /maximum context length is 64 tokens.*\b\d{3} tokens/);
        assert.deepEqual([body.error.code, body.error.type], ["context_length_exceeded", "invalid_request_error"]);
      }
    }
  }
  const { data: [entry] } = await (await server.get("/v1/models")).json();
  assert.equal(entry.context_length, 64);
});

Deno.test("A stream that breaks tells it in the wire's own event and never looks whole; before its first byte it is a status", async () => {
  const failure = { afterTokens: 2, code: "internal" as const, message: "a detail of the device" };
  await using server = await openTestApp({ reply: says("Hello", { failure }) });
  for (const wire of WIRES) {
    const response = await server.post(wire.path, wire.ask(USER, { stream: true }));
    const text = await response.text();
    const events = toEvents(text);
    const told = wire.failure(events.at(-1));
    assert.ok(told?.includes(response.headers.get("x-request-id") ?? "none"), `${wire.name}: ${text}`);
    assert.equal(events.filter((event: Json) => wire.failure(event) !== undefined).length, 1);
    assert.doesNotMatch(text, /\[DONE\]|message_stop|response\.completed|"finish_reason":"|"stop_reason":"/);
    assert.ok(!text.includes("device"));
    const whole = await server.post(wire.path, wire.ask(USER));
    assert.equal(whole.status, 500);
    wire.refusal(await whole.json(), whole);
  }
});

Deno.test("A transient fault may cut the connection instead: the body then has no proper end", async () => {
  await using server = await serveScript({ replies: [{ text: "one two three", cut_after_tokens: 2 }], repeat: true });
  for (const wire of WIRES) {
    const response = await post(server.url + wire.path, wire.ask(USER, { stream: true }));
    assert.equal(response.status, 200);
    await assert.rejects(response.text(), wire.name);
  }
});
