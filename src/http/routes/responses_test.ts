// deno-lint-ignore-file camelcase -- the wire's own names
import assert from "node:assert/strict";
import type { ResponseObject } from "../../api/responses/response.ts";
import { toByteTokens } from "../../../tests/support/byte_text_model.ts";
import { ManualPace } from "../../../tests/support/manual_pace.ts";
import { MODEL_ID, openTestApp, readNamedEvents, says, type TestApp } from "../../../tests/support/test_app.ts";
import { KEEP_ALIVE_MS } from "../sse.ts";

const PATH = "/v1/responses";
const PROMPT_TOKENS = toByteTokens("user: Hi\nassistant:").length;
const BODY = { model: MODEL_ID, input: "Hi" };

async function create(server: TestApp, fields: object, headers: HeadersInit = {}): Promise<ResponseObject> {
  const response = await server.post(PATH, { ...BODY, ...fields }, { headers });
  const body = await response.json();
  assert.equal(response.status, 200, JSON.stringify(body));
  return body;
}

Deno.test("a response is made whole, with exact usage and what was asked", async () => {
  await using server = await openTestApp();
  for (const path of [PATH, "/responses"]) {
    const response = await server.post(path, { ...BODY, instructions: "Be terse.", metadata: { a: "b" }, top_p: 0.5 });
    const body: ResponseObject = await response.json();
    const key = /^resp_([0-9a-f]{32})$/.exec(body.id)?.[1];
    assert.ok(key);
    assert.equal(response.headers.get("x-rapid-mlx-ignored"), null);
    assert.deepEqual({ ...body, id: "", created_at: 0, completed_at: 0 }, {
      id: "",
      object: "response",
      created_at: 0,
      completed_at: 0,
      status: "completed",
      error: null,
      incomplete_details: null,
      model: MODEL_ID,
      output: [{
        id: `msg_${key}0000`,
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "Hello there.", annotations: [], logprobs: [] }],
      }],
      usage: {
        input_tokens: toByteTokens("system: Be terse.\nuser: Hi\nassistant:").length,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 13,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: toByteTokens("system: Be terse.\nuser: Hi\nassistant:").length + 13,
        rapid_mlx: body.usage?.rapid_mlx,
      },
      background: false,
      truncation: "disabled",
      instructions: "Be terse.",
      max_output_tokens: null,
      metadata: { a: "b" },
      parallel_tool_calls: true,
      previous_response_id: null,
      reasoning: { effort: null, summary: null },
      store: true,
      temperature: null,
      text: { format: { type: "text" } },
      tool_choice: "auto",
      tools: [],
      top_logprobs: 0,
      top_p: 0.5,
    });
  }
});

Deno.test("a response streams: numbered events under their names, and what is done is what is completed", async () => {
  await using server = await openTestApp({ reply: says("Grüße, 世界 👋🏽!") });
  const events = await readNamedEvents(await server.post(PATH, { ...BODY, stream: true }));
  assert.deepEqual(events.map(({ sequence_number }) => sequence_number), events.map((_, at) => at));
  const types = events.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1]);
  assert.deepEqual(types, [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
  const created = events[0]?.response as ResponseObject;
  const completed = events.at(-1)?.response as ResponseObject;
  assert.deepEqual([created.id, created.status, created.output, created.usage], [
    completed.id,
    "in_progress",
    [],
    null,
  ]);
  assert.deepEqual(events.at(-2)?.item, completed.output[0]);
  const text = events.filter(({ type }) => type === "response.output_text.delta").map(({ delta }) => delta).join("");
  assert.equal(text, "Grüße, 世界 👋🏽!");
  assert.deepEqual(events.find(({ type }) => type === "response.output_text.done")?.text, text);
  assert.equal(completed.usage?.output_tokens, toByteTokens(text).length + 1);
});

Deno.test("a cut answer is incomplete, streamed as whole, and its bound is listed where the context is less", async () => {
  await using server = await openTestApp({ contextTokens: PROMPT_TOKENS + 8 });
  for (
    const [fields, text, ignored] of [[{ max_output_tokens: 5 }, "Hello", null], [
      { max_output_tokens: 32_000 },
      "Hello th",
      "max_output_tokens",
    ]] as const
  ) {
    const response = await server.post(PATH, { ...BODY, ...fields });
    assert.equal(response.headers.get("x-rapid-mlx-ignored"), ignored);
    const whole: ResponseObject = await response.json();
    const events = await readNamedEvents(await server.post(PATH, { ...BODY, ...fields, stream: true }));
    assert.equal(events.at(-1)?.type, "response.incomplete");
    for (const body of [whole, events.at(-1)?.response as ResponseObject]) {
      assert.deepEqual([body.status, body.incomplete_details, body.completed_at], [
        "incomplete",
        { reason: "max_output_tokens" },
        null,
      ]);
      const [item] = body.output;
      assert.ok(item?.type === "message");
      assert.deepEqual([item.status, item.content[0]?.text], ["incomplete", text]);
    }
  }
});

Deno.test("an empty answer says why", async () => {
  await using server = await openTestApp({ reply: says("") });
  const body = await create(server, {});
  assert.deepEqual([body.output, body.status, body.rapid_mlx], [[], "completed", { empty: "nothing_said" }]);
  const events = await readNamedEvents(await server.post(PATH, { ...BODY, stream: true }));
  assert.deepEqual((events.at(-1)?.response as ResponseObject).rapid_mlx, { empty: "nothing_said" });
});

Deno.test("probabilities of the answer's tokens are in its deltas and in its items", async () => {
  await using server = await openTestApp();
  const include = ["message.output_text.logprobs"];
  for (const fields of [{ include }, { include, top_logprobs: 2 }, { top_logprobs: 2 }]) {
    const [item] = (await create(server, fields)).output;
    assert.ok(item?.type === "message");
    const logprobs = item.content[0]?.logprobs ?? [];
    assert.equal(logprobs.map(({ token }) => token).join(""), "Hello there.");
    assert.ok(logprobs.every(({ top_logprobs }) => top_logprobs.length <= 2));
    const events = await readNamedEvents(await server.post(PATH, { ...BODY, ...fields, stream: true }));
    const deltas = events.filter(({ type }) => type === "response.output_text.delta");
    assert.deepEqual(deltas.flatMap(({ logprobs }) => logprobs), logprobs);
  }
});

Deno.test("the response is there before the first step, and says again that it is in progress in the silence", async () => {
  const pace = new ManualPace();
  await using server = await openTestApp({ pace: pace.pace });
  const response = await server.post(PATH, { ...BODY, stream: true });
  const reader = response.body?.getReader();
  assert.ok(reader);
  const read = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
  assert.match(await read(), /^event: response\.created\n/);
  assert.match(await read(), /^event: response\.in_progress\n/);
  for (let i = 0; i < 3; i++) {
    const next = read();
    await new Promise((resolve) => setTimeout(resolve, 0));
    server.clock.advance(KEEP_ALIVE_MS);
    assert.match(await next, new RegExp(`^event: response\\.in_progress\\n.*"sequence_number":${i + 2}}\n\n$`));
  }
  pace.advance(100);
  assert.match(await read(), /^event: response\.output_item\.added\n/);
  await reader.cancel();
});

Deno.test("a stream that breaks ends with response.failed, and is not kept", async () => {
  const failure = { afterTokens: 2, code: "internal" as const, message: "a detail of the device" };
  await using server = await openTestApp({ reply: says("Hello", { failure }) });
  const events = await readNamedEvents(await server.post(PATH, { ...BODY, stream: true }));
  assert.equal(events.at(-1)?.type, "response.failed");
  const { id, status, error, output } = events.at(-1)?.response as ResponseObject;
  assert.deepEqual([status, error?.code], ["failed", "server_error"]);
  assert.ok(!error?.message.includes("device"));
  assert.deepEqual(output.map((item) => item.status), ["incomplete"]);
  assert.equal((await server.get(`${PATH}/${id}`)).status, 404);
  assert.equal((await server.post(PATH, BODY)).status, 500);
});

Deno.test("a kept response is gone on from, shown, listed and deleted", async () => {
  await using server = await openTestApp({ flags: { recordContent: true } });
  const promptOf = async (id: string): Promise<string> =>
    (await (await server.get(`/v1/requests/${id}`)).json()).content.prompts[0].text;
  const first = await create(server, { instructions: "Be terse." });
  const input = [{ role: "user", content: [{ type: "input_text", text: "And?" }] }];
  const second = await create(server, { input, previous_response_id: first.id });
  assert.equal(second.previous_response_id, first.id);
  // The instructions are those of each request.
  assert.equal(await promptOf(second.id), "user: Hi\nassistant: Hello there.\nuser: And?\nassistant:");
  const third = await create(server, { input: "So?", previous_response_id: second.id, stream: false });
  assert.match(await promptOf(third.id), /^user: Hi\n.*And\?\nassistant: Hello there\.\nuser: So\?\nassistant:$/s);
  const shown = await server.get(`${PATH}/${second.id}`);
  assert.deepEqual([shown.headers.get("content-type"), await shown.json()], ["application/json", second]);
  const items = await (await server.get(`${PATH}/${second.id}/input_items?order=asc&limit=1`)).json();
  assert.deepEqual([items.data, items.has_more, items.first_id], [
    [{ id: items.first_id, type: "message", ...input[0] }],
    false,
    items.last_id,
  ]);
  const reference = [{ type: "item_reference", id: first.output[0]?.id }, { role: "user", content: "Why?" }];
  const referred = await create(server, { input: reference });
  assert.equal(await promptOf(referred.id), "assistant: Hello there.\nuser: Why?\nassistant:");
  const gone = await server.app.request(`${PATH}/${first.id}`, { method: "DELETE" });
  assert.deepEqual(await gone.json(), { id: first.id, object: "response", deleted: true });
  for (
    const [fields, code, param] of [
      [{ previous_response_id: third.id }, "previous_response_not_found", "previous_response_id"],
      [{ previous_response_id: "resp_x" }, "previous_response_not_found", "previous_response_id"],
      [{ input: reference }, "item_not_found", "input[0].id"],
    ] as const
  ) {
    const response = await server.post(PATH, { ...BODY, ...fields });
    const { error } = await response.json();
    assert.deepEqual([response.status, error.code, error.param], [400, code, param]);
  }
  for (const method of ["GET", "DELETE"]) {
    const response = await server.app.request(`${PATH}/${first.id}`, { method });
    assert.deepEqual([response.status, (await response.json()).error.code], [404, "response_not_found"]);
  }
});

Deno.test("what is streamed is kept when its end is sent, and what is not to be kept is not", async () => {
  await using server = await openTestApp();
  const events = await readNamedEvents(await server.post(PATH, { ...BODY, stream: true }));
  const streamed = events.at(-1)?.response as ResponseObject;
  assert.deepEqual(await (await server.get(`${PATH}/${streamed.id}`)).json(), streamed);
  const { id, store } = await create(server, { store: false });
  assert.deepEqual([store, (await server.get(`${PATH}/${id}`)).status], [false, 404]);
  const large = await server.post(PATH, { ...BODY, input: "x".repeat(3 * 2 ** 20) });
  assert.equal((await large.json()).error.code, "context_length_exceeded");
});

Deno.test("a kept response is there for the key that made it alone", async () => {
  await using server = await openTestApp({ flags: { apiKey: "secret" } });
  const first = await create(server, {}, { "x-api-key": "secret" });
  assert.equal((await server.get(`${PATH}/${first.id}`)).status, 401);
  // As after a restart with another key on the same file.
  await using other = await openTestApp({ flags: { apiKey: "other" } });
  Object.assign(other.responses, { get: server.responses.get.bind(server.responses) });
  Object.assign(other.responses, { chain: server.responses.chain.bind(server.responses) });
  const headers = { "x-api-key": "other" };
  assert.equal((await other.get(`${PATH}/${first.id}`, { headers })).status, 404);
  const body = { ...BODY, previous_response_id: first.id };
  assert.equal((await other.post(PATH, body, { headers })).status, 400);
});

Deno.test("a count is the count of what would be prefilled, that of earlier responses included", async () => {
  await using server = await openTestApp();
  const first = await create(server, {});
  for (const fields of [{}, { instructions: "Be terse." }, { previous_response_id: first.id }, { tools: [] }]) {
    const count = await (await server.post(`${PATH}/input_tokens`, { ...BODY, ...fields })).json();
    const { usage } = await create(server, fields);
    assert.deepEqual(count, { object: "response.input_tokens", input_tokens: usage?.input_tokens });
  }
});

Deno.test("other methods and what is not there are told at once", async () => {
  await using server = await openTestApp();
  const rows: [string, string, number, string | null][] = [
    ["GET", PATH, 405, "POST"],
    ["POST", `${PATH}/resp_x`, 405, "GET, HEAD, DELETE"],
    ["POST", `${PATH}/resp_x/cancel`, 404, null],
    ["POST", `${PATH}/compact`, 404, null],
    ["GET", `${PATH}/resp_x?stream=true`, 400, null],
    ["GET", `${PATH}/resp_x/input_items`, 404, null],
  ];
  for (const [method, path, status, allow] of rows) {
    const response = await server.app.request(path, { method });
    assert.deepEqual([response.status, response.headers.get("allow")], [status, allow], `${method} ${path}`);
    assert.ok((await response.json()).error.code);
  }
  const preflight = await server.app.request(`${PATH}/resp_x`, {
    method: "OPTIONS",
    headers: { host: "localhost", origin: "http://localhost", "access-control-request-method": "DELETE" },
  });
  assert.match(preflight.headers.get("access-control-allow-methods") ?? "", /DELETE/);
});
