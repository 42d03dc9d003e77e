// deno-lint-ignore-file camelcase -- the wire's own names
import assert from "node:assert/strict";
import type { MessageAnswer } from "../../api/messages/answer.ts";
import { CoreError } from "../../ffi/core.ts";
import { toByteTokens } from "../../../tests/support/byte_text_model.ts";
import { ManualPace } from "../../../tests/support/manual_pace.ts";
import { MODEL_HF_ID, MODEL_ID, openTestApp, readNamedEvents, says } from "../../../tests/support/test_app.ts";
import { KEEP_ALIVE_MS } from "../sse.ts";

const PATH = "/v1/messages";
const USER = [{ role: "user", content: "Hi" }];
const PROMPT_TOKENS = toByteTokens("user: Hi\nassistant:").length;
const BODY = { model: MODEL_ID, max_tokens: 100, messages: USER };

Deno.test("a message is answered whole, with exact usage", async () => {
  await using server = await openTestApp();
  for (const path of [PATH, "/messages", `${PATH}?beta=true`]) {
    const response = await server.post(path, BODY);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("request-id"), response.headers.get("x-request-id"));
    const body: MessageAnswer = await response.json();
    assert.match(body.id, /^msg_[0-9a-f]{32}$/);
    assert.deepEqual({ ...body, id: "" }, {
      id: "",
      type: "message",
      role: "assistant",
      model: MODEL_ID,
      content: [{ type: "text", text: "Hello there.", citations: null }],
      stop_reason: "end_turn",
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: {
        input_tokens: PROMPT_TOKENS,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 13,
        output_tokens_details: { thinking_tokens: 0 },
        server_tool_use: null,
        cache_creation: null,
        inference_geo: null,
        service_tier: null,
        speed: null,
        rapid_mlx: body.usage.rapid_mlx,
      },
    });
    assert.equal(body.usage.rapid_mlx?.decode_ms, 12);
  }
});

Deno.test("a message streams: strictly nested events under their names, usage at both ends", async () => {
  await using server = await openTestApp({ reply: says("Grüße, 世界 👋🏽!") });
  const response = await server.post(PATH, { ...BODY, stream: true });
  assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  const events = await readNamedEvents(response);
  const types = events.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1]);
  assert.deepEqual(types, [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  const start = events[0]?.message as MessageAnswer;
  assert.deepEqual([start.content, start.stop_reason, start.usage.input_tokens], [[], null, PROMPT_TOKENS]);
  const deltas = events.filter(({ type }) => type === "content_block_delta").map(({ delta }) => delta);
  assert.equal((deltas as { text: string }[]).map(({ text }) => text).join(""), "Grüße, 世界 👋🏽!");
  const { delta, usage } = events.at(-2) as { delta: unknown; usage: MessageAnswer["usage"] };
  assert.deepEqual(delta, { stop_reason: "end_turn", stop_sequence: null, stop_details: null, container: null });
  assert.equal(usage.output_tokens, toByteTokens("Grüße, 世界 👋🏽!").length + 1);
  assert.ok(usage.rapid_mlx);
});

Deno.test("every end has its stop reason, streamed as whole", async () => {
  await using server = await openTestApp({ contextTokens: PROMPT_TOKENS + 8 });
  const rows: [object, HeadersInit, string, string | null, string | null][] = [
    [{ max_tokens: 5 }, {}, "max_tokens", null, null],
    [{ stop_sequences: ["th"] }, {}, "stop_sequence", "th", "max_tokens"],
    [{}, {}, "max_tokens", null, "max_tokens"],
    [
      {},
      { "anthropic-beta": "a,model-context-window-exceeded-2025-08-26" },
      "model_context_window_exceeded",
      null,
      "max_tokens",
    ],
    [{ max_tokens: 5 }, { "anthropic-beta": "model-context-window-exceeded-2025-08-26" }, "max_tokens", null, null],
  ];
  for (const [fields, headers, reason, sequence, ignored] of rows) {
    const whole = await server.post(PATH, { ...BODY, ...fields }, { headers });
    assert.equal(whole.headers.get("x-rapid-mlx-ignored"), ignored);
    const { stop_reason, stop_sequence }: MessageAnswer = await whole.json();
    assert.deepEqual([stop_reason, stop_sequence], [reason, sequence]);
    const events = await readNamedEvents(await server.post(PATH, { ...BODY, ...fields, stream: true }, { headers }));
    const { delta } = events.at(-2) as { delta: MessageAnswer };
    assert.deepEqual([delta.stop_reason, delta.stop_sequence], [reason, sequence]);
  }
});

Deno.test("an empty answer says why", async () => {
  await using server = await openTestApp({ reply: says("") });
  const body: MessageAnswer = await (await server.post(PATH, BODY)).json();
  assert.deepEqual([body.content, body.stop_reason, body.rapid_mlx], [[], "end_turn", { empty: "nothing_said" }]);
  const events = await readNamedEvents(await server.post(PATH, { ...BODY, stream: true }));
  assert.deepEqual(events.map(({ type }) => type), ["message_start", "message_delta", "message_stop"]);
  assert.deepEqual(events[1]?.rapid_mlx, { empty: "nothing_said" });
});

Deno.test("the start comes before the first step, and pings fill the silence", async () => {
  const pace = new ManualPace();
  await using server = await openTestApp({ pace: pace.pace });
  const response = await server.post(PATH, { ...BODY, stream: true });
  const reader = response.body?.getReader();
  assert.ok(reader);
  const read = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
  assert.match(await read(), /^event: message_start\n/);
  for (let i = 0; i < 3; i++) {
    const next = read();
    await new Promise((resolve) => setTimeout(resolve, 0));
    server.clock.advance(KEEP_ALIVE_MS);
    assert.equal(await next, 'event: ping\ndata: {"type":"ping"}\n\n');
  }
  pace.advance(100);
  assert.match(await read(), /^event: content_block_start\n/);
  await reader.cancel();
});

Deno.test("a stream that breaks ends with an error event and no message_stop", async () => {
  const failure = { afterTokens: 2, code: "internal" as const, message: "a detail of the device" };
  await using server = await openTestApp({ reply: says("Hello", { failure }) });
  const response = await server.post(PATH, { ...BODY, stream: true });
  const id = response.headers.get("x-request-id");
  const last = (await readNamedEvents(response)).at(-1) as {
    error: { type: string; message: string };
    request_id: string;
  };
  assert.deepEqual([last.error.type, last.request_id], ["api_error", id]);
  assert.ok(last.error.message.includes(id ?? "none") && !last.error.message.includes("device"));
  assert.equal((await server.post(PATH, BODY)).status, 500);
});

Deno.test("refusals are in the wire's envelope, whatever refused", async () => {
  await using server = await openTestApp({ contextTokens: 64, flags: { apiKey: "secret", maxBodyBytes: 5000 } });
  const key = { "x-api-key": "secret" };
  const long = { ...BODY, messages: [{ role: "user", content: "x".repeat(100) }] };
  const rows: [string, unknown, HeadersInit, number, string, RegExp][] = [
    [PATH, BODY, {}, 401, "authentication_error", /API key required/],
    [PATH, BODY, { ...key, host: "evil.example" }, 400, "invalid_request_error", /Host header/],
    [PATH, BODY, { ...key, origin: "https://evil.example" }, 403, "permission_error", /origins/],
    [PATH, "{", key, 400, "invalid_request_error", /not valid JSON/],
    [PATH, { ...BODY, messages: 1 }, key, 400, "invalid_request_error", /`messages`/],
    [PATH, { ...BODY, model: "unknown" }, key, 404, "not_found_error", /Cannot find the model/],
    [PATH, long, key, 400, "invalid_request_error", /^prompt is too long: 117 tokens > 63 maximum$/],
    [
      PATH,
      { ...long, stream: true },
      key,
      400,
      "invalid_request_error",
      /^prompt is too long: 117 tokens > 63 maximum$/,
    ],
    [PATH, "x".repeat(6000), key, 413, "request_too_large", /body/],
    [`${PATH}/count_tokens`, { ...BODY, messages: 1 }, key, 400, "invalid_request_error", /`messages`/],
    [`${PATH}/batches`, BODY, key, 404, "not_found_error", /does not exist/],
  ];
  for (const [path, body, headers, status, type, message] of rows) {
    const response = await server.post(path, body, { headers });
    const told = await response.json();
    assert.deepEqual([response.status, told.type, told.error.type], [status, "error", type], JSON.stringify(told));
    assert.match(told.error.message, message);
    assert.equal(told.request_id, response.headers.get("x-request-id"));
  }
  const wrongMethod = await server.get(PATH, { headers: key });
  assert.deepEqual([wrongMethod.status, (await wrongMethod.json()).type], [405, "error"]);
});

Deno.test("busy and loading pass: 429 and 503 with retry-after", async () => {
  await using server = await openTestApp();
  server.engine.generate = (): never => {
    throw new CoreError("busy", "the queue is full");
  };
  for (const stream of [false, true]) {
    const busy = await server.post(PATH, { ...BODY, stream });
    assert.deepEqual([busy.status, busy.headers.get("retry-after")], [429, "1"]);
    assert.equal((await busy.json()).error.type, "rate_limit_error");
  }
  server.model.status = { state: "loading", perMille: 500 };
  const loading = await server.post(PATH, BODY);
  assert.deepEqual([loading.status, loading.headers.get("retry-after")], [503, "2"]);
  assert.equal((await loading.json()).error.type, "overloaded_error");
});

Deno.test("names of hosted models mean the default one, and that is listed", async () => {
  await using server = await openTestApp();
  for (const model of [undefined, "default", MODEL_ID, MODEL_HF_ID]) {
    const response = await server.post(PATH, { ...BODY, model });
    assert.deepEqual([response.status, response.headers.get("x-rapid-mlx-ignored")], [200, null]);
    await response.text();
  }
  for (const model of ["claude-sonnet-5", "gpt-5"]) {
    const response = await server.post(PATH, { ...BODY, model });
    assert.equal(response.headers.get("x-rapid-mlx-ignored"), "model");
    assert.equal((await response.json()).model, MODEL_ID);
  }
  assert.equal((await server.post("/v1/chat/completions", { model: "claude-sonnet-5", messages: USER })).status, 404);
});

Deno.test("a count is the count of what would be prefilled, also beyond the context", async () => {
  await using server = await openTestApp({ contextTokens: 64 });
  const count = async (body: object): Promise<number> => {
    const response = await server.post(`${PATH}/count_tokens`, body);
    assert.equal(response.status, 200);
    return (await response.json()).input_tokens;
  };
  for (const fields of [{}, { system: "Be terse." }, { thinking: { type: "adaptive" } }]) {
    const body: MessageAnswer = await (await server.post(PATH, { ...BODY, ...fields })).json();
    assert.equal(await count({ ...BODY, ...fields }), body.usage.input_tokens);
  }
  assert.equal(await count({ messages: [{ role: "user", content: "x".repeat(100) }], tools: [] }), 117);
});

Deno.test("what happened to a message is recorded under its id", async () => {
  await using server = await openTestApp({ flags: { recordContent: true } });
  const { id }: MessageAnswer = await (await server.post(PATH, { ...BODY, metadata: { user_id: "u" } })).json();
  const record = await (await server.get(`/v1/requests/${id}`)).json();
  assert.deepEqual([record.route, record.state, record.ignored], [PATH, "completed", ["metadata"]]);
  assert.equal(record.choices[0].characters.lost, 0);
  assert.match(record.content.response.text, /"type":"message"/);
  await (await server.post(PATH, { ...BODY, max_tokens: -1 })).text();
  const refused = await (await server.get("/v1/requests/last")).json();
  assert.deepEqual([refused.state, refused.status, refused.error.param], ["refused", 400, "max_tokens"]);
  assert.match(refused.content.response.text, /^\{"type":"error"/);
});
