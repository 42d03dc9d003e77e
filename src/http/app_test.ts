// deno-lint-ignore-file camelcase -- the wire's own names
import assert from "node:assert/strict";
import { MODEL_HF_ID, MODEL_ID, openTestApp, says, type TestApp } from "../../tests/support/test_app.ts";
import { NOT_AVAILABLE_YET, ROUTES } from "./app.ts";

const CHAT = "/v1/chat/completions";
const TOOLS = [{ type: "function", function: { name: "f" } }];
const USER = [{ role: "user", content: "Hi" }];

/** What a refusal must look like; gives its error object. */
async function refusal(response: Response, status: number, code: string): Promise<Record<string, unknown>> {
  const body = await response.json();
  assert.equal(response.status, status, JSON.stringify(body));
  assert.equal(response.headers.get("content-type"), "application/json");
  assert.match(response.headers.get("x-request-id") ?? "", /^req-/);
  assert.deepEqual(Object.keys(body), ["error"]);
  assert.deepEqual(Object.keys(body.error).toSorted(), ["code", "message", "param", "type"]);
  assert.equal(body.error.code, code);
  assert.ok(body.error.message.length > 10);
  return body.error;
}

Deno.test("every versioned route answers with and without /v1", async () => {
  await using server = await openTestApp();
  for (const prefix of ["", "/v1"]) {
    assert.equal((await server.get(`${prefix}/models`)).status, 200);
    assert.equal((await server.get(`${prefix}/models/${MODEL_ID}`)).status, 200);
    assert.equal((await server.get(`${prefix}/status`)).status, 200);
    const chat = await server.post(`${prefix}/chat/completions?beta=true`, { messages: USER });
    assert.equal(chat.status, 200);
    await chat.text();
    const completion = await server.post(`${prefix}/completions`, { prompt: "Hi" });
    assert.equal(completion.status, 200);
    await completion.text();
  }
});

Deno.test("an unknown path is a 404 in the envelope", async () => {
  await using server = await openTestApp();
  for (
    const path of [
      "/nothing",
      "/v1",
      "/v1/chat",
      "/v2/models",
      "/v1/models/",
      "/api/v1/models",
      "/api/show",
      "/v1/chat/completions/x",
    ]
  ) {
    for (const method of ["GET", "POST", "PUT"]) {
      const response = await server.app.request(path, { method });
      const error = await refusal(response, 404, "not_found");
      assert.equal(error.type, "not_found_error");
    }
  }
  const hostile = await refusal(await server.get("/<script>alert(1)</script>"), 404, "not_found");
  assert.doesNotMatch(String(hostile.message), /script/);
});

Deno.test("a wrong method is a 405 that allows the right one", async () => {
  await using server = await openTestApp();
  const ways = Map.groupBy(ROUTES, ({ path }) => path.replace(/:id(?:\{.*\})?/, "x"));
  ways.delete("/responses/input_tokens"); // its path is an id of another row
  for (const [path, routes] of ways) {
    const right = routes.map(({ method }) => method === "GET" ? "GET, HEAD" : method).join(", ");
    for (const method of ["GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"].filter((one) => !right.includes(one))) {
      const response = await server.app.request(path, { method });
      if (routes[0]?.wire === undefined) await refusal(response, 405, "method_not_allowed");
      else assert.equal((await response.json()).error.type, "invalid_request_error");
      assert.equal(response.status, 405);
      assert.equal(response.headers.get("allow"), right);
    }
  }
});

Deno.test("a wire that is promised and not there yet says so", async () => {
  await using server = await openTestApp();
  for (const path of NOT_AVAILABLE_YET) {
    for (const prefix of ["", "/v1"]) {
      const error = await refusal(
        await server.post(prefix + path.replace(/:\w+(?:\{.*\})?/, "x"), {}),
        404,
        "not_available_yet",
      );
      assert.match(String(error.message), /not available yet/);
    }
  }
});

Deno.test("a client that wants a WebSocket is told at once to go on over HTTP", async () => {
  await using server = await openTestApp();
  const upgrade = { connection: "Upgrade", upgrade: "websocket", "openai-beta": "responses_websockets=2026-02-06" };
  await refusal(await server.get("/v1/responses", { headers: upgrade }), 426, "websocket_not_supported");
  // What some clients offer with every request changes nothing.
  assert.equal((await server.get("/v1/models", { headers: { upgrade: "h2c" } })).status, 200);
});

Deno.test("HEAD answers like GET without a body", async () => {
  await using server = await openTestApp();
  for (const path of ["/", "/api/hello"]) {
    const response = await server.app.request(path, { method: "HEAD" });
    assert.equal(response.status, 200);
    assert.equal(await response.text(), "");
  }
});

Deno.test("what is wrong with a body is told with its code and param", async () => {
  await using server = await openTestApp();
  const nested = `{"messages":${"[".repeat(2000)}${"]".repeat(2000)}}`;
  const cases: [unknown, string, string | null][] = [
    ["", "invalid_json", null],
    ["{", "invalid_json", null],
    ["{'messages': []}", "invalid_json", null],
    [new Uint8Array([0x7b, 0xff, 0x7d]), "invalid_json", null],
    [nested, "request_body_too_deep", null],
    ["[".repeat(1_000_000), "request_body_too_deep", null],
    ["[]", "invalid_request", null],
    ["null", "invalid_request", null],
    ['"text"', "invalid_request", null],
    [{}, "invalid_request", "messages"],
    [{ messages: [] }, "invalid_request", "messages"],
    [{ messages: "Hi" }, "invalid_request", "messages"],
    [{ messages: [{ role: "wizard", content: "Hi" }] }, "invalid_request", "messages[0].role"],
    [{ messages: [{ role: "user", content: 3 }] }, "invalid_request", "messages[0].content"],
    [{ messages: [{ role: "user", content: [{ type: "text" }] }] }, "invalid_request", "messages[0].content[0].text"],
    [
      { messages: [{ role: "user", content: [{ type: "image_url" }] }] },
      "unsupported_field",
      "messages[0].content[0]",
    ],
    ['{"messages":[{"role":"user","content":"\\ud800"}]}', "invalid_request", "messages[0].content"],
    ['{"messages":[{"role":"user","content":"x"}],"metadata":{"\\udfff":1}}', "invalid_request", "metadata.<field>"],
    [{ messages: USER, temperature: 5 }, "invalid_request", "temperature"],
    [{ messages: USER, temperature: "1" }, "invalid_request", "temperature"],
    [{ messages: USER, temperature: -0.1 }, "invalid_request", "temperature"],
    [{ messages: USER, top_p: -1e-300 }, "invalid_request", "top_p"],
    [{ messages: USER, repetition_penalty: 1e-300 }, "invalid_request", "repetition_penalty"],
    [{ messages: USER, max_tokens: 1e18 }, "invalid_request", "max_tokens"],
    [{ messages: USER, max_tokens: -1 }, "invalid_request", "max_tokens"],
    [{ messages: USER, max_tokens: 0 }, "invalid_request", "max_tokens"],
    [{ messages: USER, max_tokens: 1.5 }, "invalid_request", "max_tokens"],
    ['{"messages":[{"role":"user","content":"x"}],"max_tokens":1e999}', "invalid_request", "max_tokens"],
    [{ messages: USER, n: 0 }, "invalid_request", "n"],
    [{ messages: USER, n: 10_000 }, "invalid_request", "n"],
    [{ messages: USER, stop: [""] }, "invalid_request", "stop[0]"],
    [{ messages: USER, stop: Array(33).fill("x") }, "invalid_request", "stop"],
    [{ messages: USER, seed: "-9223372036854775809" }, "invalid_request", "seed"],
    [{ messages: USER, seed: "9223372036854775808" }, "invalid_request", "seed"],
    [{ messages: USER, logit_bias: { "9999": 1 } }, "invalid_request", "logit_bias"],
    [{ messages: USER, logit_bias: { x: 1 } }, "invalid_request", "logit_bias"],
    [{ messages: USER, top_logprobs: 3 }, "invalid_request", "top_logprobs"],
    [{ messages: USER, logprobs: true, top_logprobs: 21 }, "invalid_request", "top_logprobs"],
    [{ messages: USER, stream: "yes" }, "invalid_request", "stream"],
    [{ messages: USER, stream_options: { include_usage: 1 } }, "invalid_request", "stream_options.include_usage"],
    [{ messages: USER, tools: [{ type: "function", function: { name: "f" } }] }, "unsupported_field", "tools"],
    [{ messages: USER, tool_choice: "required" }, "tool_choice_required_without_tools", "tool_choice"],
    [{ messages: USER, response_format: { type: "yaml" } }, "invalid_request", "response_format.type"],
    [{ messages: USER, modalities: ["text", "audio"] }, "unsupported_field", "modalities"],
    [{ messages: USER, guided_json: { not: {} } }, "invalid_response_format_schema", "guided_json"],
    [{ messages: USER, guided_regex: "a", guided_choice: ["a"] }, "unsupported_combination", "guided_choice"],
    [{ messages: USER, guided_regex: "(?=a)" }, "invalid_grammar", "guided_regex"],
    [{ messages: USER, grammar: 'root ::= "a' }, "invalid_grammar", "grammar"],
    [{ messages: USER, grammar: 'root ::= root "a"' }, "invalid_grammar", "grammar"],
    [{ messages: USER, guided_regex: "a", ignore_eos: true }, "unsupported_combination", "ignore_eos"],
    [{ messages: USER, min_tokens: 5 }, "unsupported_field", "min_tokens"],
    [{ messages: USER, add_generation_prompt: false }, "unsupported_combination", "add_generation_prompt"],
  ];
  for (const [body, code, param] of cases) {
    const error = await refusal(await server.post(CHAT, body), 400, code);
    assert.equal(error.param, param, JSON.stringify(error));
    assert.equal(error.type, "invalid_request_error");
  }
  assert.equal(server.engine.stats().submitted, 0);
});

Deno.test("what asks for nothing is accepted, and what has no effect is listed", async () => {
  await using server = await openTestApp();
  const response = await server.post(CHAT, {
    messages: USER,
    tools: [],
    tool_choice: "auto",
    response_format: { type: "text" },
    modalities: ["text"],
    logit_bias: null,
    temperature: null,
    audio: null,
    user: "u",
    store: true,
    metadata: { a: "b" },
    a_new_field: 1,
    min_tokens: 0,
    stop_token_ids: [],
    stream: true,
    "ev\u00edl\r\nheader: x": 1,
    stream_options: { include_usage: true, include_obfuscation: true },
  });
  assert.equal(response.status, 200);
  assert.equal(
    response.headers.get("x-rapid-mlx-ignored"),
    "user, store, metadata, a_new_field, <field>, stream_options.include_obfuscation",
  );
  await response.text();
  const harmless = await server.post(CHAT, { messages: USER, tools: TOOLS, tool_choice: "none" });
  assert.equal(harmless.headers.get("x-rapid-mlx-ignored"), "tools");
  await harmless.text();
  const whole = await server.post(CHAT, { messages: USER, stream_options: { include_usage: true } });
  assert.equal(whole.headers.get("x-rapid-mlx-ignored"), "stream_options");
  await whole.text();
  assert.ok(server.lines.some((line) => line.includes("ignored=tools")));

  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`field_${i}`, 1]));
  const listed = await server.post(CHAT, { messages: USER, ...many });
  assert.match(listed.headers.get("x-rapid-mlx-ignored") ?? "", /field_31, \+468 more$/);
  await listed.text();
});

Deno.test("an unknown model is a 404 that lists the served ids", async () => {
  await using server = await openTestApp();
  for (const model of ["gpt-4o", "test-model ", "x/y"]) {
    const error = await refusal(await server.post(CHAT, { model, messages: USER }), 404, "model_not_found");
    assert.equal(error.param, "model");
    assert.match(String(error.message), new RegExp(MODEL_ID));
  }
  for (const model of [MODEL_ID, MODEL_HF_ID, "default", undefined]) {
    const response = await server.post(CHAT, { model, messages: USER });
    assert.equal((await response.json()).model, MODEL_ID);
  }
});

Deno.test("a full queue is a 429 with Retry-After, before any stream begins", async () => {
  const gate = Promise.withResolvers<void>();
  await using server = await openTestApp({ config: { maxRequests: 1, maxQueue: 1 }, pace: () => gate.promise });
  const running = [1, 2].map(() => server.post(CHAT, { messages: USER }));
  await new Promise((resolve) => setTimeout(resolve, 0));
  const response = await server.post(CHAT, { messages: USER, stream: true });
  assert.equal(response.headers.get("retry-after"), "1");
  const error = await refusal(response, 429, "server_busy");
  assert.equal(error.type, "rate_limit_error");
  gate.resolve();
  for (const answer of running) assert.equal((await answer).status, 200);
});

Deno.test("of several choices that do not all fit none is left running", async () => {
  await using server = await openTestApp({ config: { maxRequests: 1, maxQueue: 1 } });
  const response = await server.post(CHAT, { messages: USER, n: 4 });
  await refusal(response, 429, "server_busy");
  while (server.engine.stats().running + server.engine.stats().waiting > 0) {
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  assert.equal(server.engine.stats().completed, 0);
});

Deno.test("a model that loads is a 503 with Retry-After, one that failed a 503 without", async () => {
  await using server = await openTestApp();
  server.model.status = { state: "loading", perMille: 10 };
  const early = await server.post(CHAT, { messages: USER });
  assert.equal(early.headers.get("retry-after"), "2");
  await refusal(early, 503, "model_loading");
  assert.equal((await server.get("/readyz")).status, 503);
  assert.equal((await server.get("/healthz")).status, 200);
  server.model.status = { state: "failed", message: "no" };
  const late = await server.post(CHAT, { messages: USER });
  assert.equal(late.headers.get("retry-after"), null);
  await refusal(late, 503, "model_failed");
  assert.equal((await server.get("/healthz")).status, 503);
});

Deno.test("a fault of ours tells no detail, and the log has it under the request's id", async () => {
  await using server = await openTestApp();
  server.models.list = (): never => {
    throw new Error("a secret of the inside");
  };
  const response = await server.get("/v1/models");
  const error = await refusal(response, 500, "internal_error");
  const id = response.headers.get("x-request-id") ?? "none";
  assert.ok(String(error.message).includes(id));
  assert.doesNotMatch(String(error.message), /secret/);
  assert.ok(server.lines.some((line) => line.includes(id) && line.includes("a secret of the inside")));
});

async function models(server: TestApp, query = ""): Promise<Record<string, unknown>> {
  return await (await server.get(`/v1/models${query}`)).json();
}

Deno.test("model entries satisfy both families of clients, and pages can be asked for", async () => {
  await using server = await openTestApp();
  server.models.add("second", 1_700_000_100);
  const entry = {
    id: MODEL_ID,
    object: "model",
    type: "model",
    created: 1_700_000_000,
    created_at: "2023-11-14T22:13:20.000Z",
    owned_by: "rapid-mlx",
    display_name: MODEL_ID,
    context_length: 4096,
    max_model_len: 4096,
    context_window: 4096,
    state: "ready",
    root: MODEL_HF_ID,
    quantization: "none",
    capabilities: ["text"],
    profile: {
      id: "none",
      because: "no profile was looked for",
      tool_call_parser: "none",
      reasoning_parser: "none",
    },
  };
  const list = await models(server);
  assert.deepEqual({ ...list, data: [(list.data as unknown[])[0]] }, {
    object: "list",
    data: [entry],
    first_id: MODEL_ID,
    last_id: "second",
    has_more: false,
  });
  const page = await models(server, "?limit=1");
  assert.deepEqual([page.has_more, page.last_id], [true, MODEL_ID]);
  assert.equal((await models(server, `?limit=1&after_id=${MODEL_ID}`)).first_id, "second");
  assert.equal((await models(server, "?limit=1&before_id=second")).first_id, MODEL_ID);
  await refusal(await server.get("/v1/models?limit=0"), 400, "invalid_request");
  for (const id of [MODEL_ID, MODEL_HF_ID, encodeURIComponent(MODEL_HF_ID), "default"]) {
    assert.deepEqual(await (await server.get(`/v1/models/${id}`)).json(), entry);
  }
  await refusal(await server.get("/v1/models/nope/x"), 404, "model_not_found");
  await refusal(await server.get("/v1/models/%E0%A4%A"), 404, "model_not_found");
});

Deno.test("the health family says what holds", async () => {
  await using server = await openTestApp();
  const body = async (path: string): Promise<unknown> => await (await server.get(path)).json();
  assert.deepEqual(await body("/"), { status: "ok" });
  assert.deepEqual(await body("/livez"), { status: "alive" });
  const ready = { ready: true, model: MODEL_ID, state: "ready" };
  assert.deepEqual(await body("/readyz"), ready);
  assert.deepEqual(await body("/health/ready"), ready);
  const healthz = { status: "healthy", ready: true, model_loaded: true, model_name: MODEL_ID };
  assert.deepEqual(await body("/healthz"), healthz);
  assert.deepEqual(await body("/health"), {
    ...healthz,
    state: "ready",
    model_type: "llm",
    engine_type: "fake",
    version: "0.0.0-test",
    mcp: null,
  });
  server.lifecycle.drain();
  assert.equal((await server.get("/readyz")).status, 503);
  assert.equal((await server.get("/healthz")).status, 503);
  await refusal(await server.post(CHAT, { messages: USER }), 503, "server_shutting_down");
});

Deno.test("the status shows what runs and what has ended, with seeds and counts", async () => {
  const gate = Promise.withResolvers<void>();
  let paced = 0;
  await using server = await openTestApp({
    reply: says("Hello", { cachedTokens: 3 }),
    pace: () => ++paced > 3 ? gate.promise : Promise.resolve(),
  });
  const answer = server.post(CHAT, { messages: USER, seed: 11, n: 2, max_tokens: 10 });
  while (paced <= 3) await new Promise((resolve) => setTimeout(resolve, 0));
  const during = await (await server.get("/v1/status")).json();
  assert.equal(during.status, "generating");
  assert.equal(during.requests.length, 1);
  const [request] = during.requests;
  assert.equal(request.seeds[0], "11");
  assert.deepEqual([request.status, request.phase, request.max_tokens], ["running", "generation", 10]);
  assert.equal(request.completion_tokens, 6);
  gate.resolve();
  await (await answer).text();
  const after = await (await server.get("/v1/status")).json();
  assert.deepEqual([after.status, after.requests, after.total_requests_processed], ["idle", [], 1]);
  assert.deepEqual([after.total_completion_tokens, after.total_cached_tokens], [12, 3]);
  assert.equal(after.recent[0].status, "completed");
  assert.equal(after.exactness, "full");
});

Deno.test("metrics are Prometheus text with families that have a meaning", async () => {
  await using server = await openTestApp();
  await (await server.post(CHAT, { messages: USER })).text();
  await (await server.post(CHAT, "{")).text();
  const response = await server.get("/metrics");
  assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const text = await response.text();
  for (const line of text.trimEnd().split("\n")) {
    assert.match(line, /^(# (HELP|TYPE) rapid_mlx_\w+ .+|rapid_mlx_\w+(\{(\w+="[^"]*",?)+\})? [\d.e+-]+)$/);
  }
  assert.match(text, /^rapid_mlx_requests_processed_total 1$/m);
  assert.match(text, /^rapid_mlx_completion_tokens_total 13$/m);
  assert.match(text, /^rapid_mlx_http_responses_total\{route="chat\.completions",status="200"\} 1$/m);
  assert.match(text, /^rapid_mlx_http_responses_total\{route="chat\.completions",status="400"\} 1$/m);
  assert.match(text, /^rapid_mlx_model_ttft_seconds_count 1$/m);
  const names = text.match(/^# TYPE \S+/gm) ?? [];
  assert.equal(new Set(names).size, names.length);
});
