import assert from "node:assert/strict";
import { type RequestRecord, RequestRecordSchema } from "../../api/request_record.ts";
import { openTestApp, says, type TestApp, type TestAppOptions } from "../../../tests/support/test_app.ts";

const CHAT = "/v1/chat/completions";
const USER = [{ role: "user", content: "Hi" }];

async function last(server: TestApp): Promise<RequestRecord> {
  return RequestRecordSchema.parse(await (await server.get("/v1/requests/last")).json());
}

/** Sends a chat and reads what the server tells of it. */
async function recordOf(options: TestAppOptions, body: object): Promise<RequestRecord> {
  await using server = await openTestApp({ flags: { recordContent: true }, ...options });
  await (await server.post(CHAT, { messages: USER, ...body })).text();
  return await last(server);
}

for (const stream of [true, false]) {
  Deno.test(`a record tells numbers and content of ${stream ? "a stream" : "a whole answer"}`, async () => {
    const record = await recordOf({}, { stream, seed: 7, n: 2, user: "me" });
    assert.equal(record.state, "completed");
    assert.equal(record.status, 200);
    assert.equal(record.stream, stream);
    assert.equal(record.choices[0]?.seed, "7");
    assert.notEqual(record.choices[1]?.seed, "7");
    assert.deepEqual(record.ignored, ["user"]);
    assert.equal(record.usage.completion_tokens, 26);
    const [choice] = record.choices;
    assert.equal(choice?.finish_reason, "stop");
    assert.equal(choice?.characters.raw, 12);
    assert.equal(choice?.characters.content, 12);
    const { content } = record;
    assert.equal(content?.prompts[0]?.text, "user: Hi\nassistant:");
    assert.equal(content?.choices[0]?.raw, "Hello there.");
    assert.equal(content?.choices[0]?.tokens.length, 13);
    assert.deepEqual(content?.choices[0]?.steps[0], { at: 0, shown: [{ text: "H" }] });
    assert.deepEqual(content?.choices[0]?.steps.at(-1)?.shown.at(-1), { finish: "stop", stop_string: null });
    assert.match(content?.response.text ?? "", stream ? /^data: .*\[DONE\]\n\n$/s : /^\{.*Hello there\..*\}$/s);
  });
}

Deno.test("every character of a cut, a hidden and a damaged answer is accounted for", async () => {
  for (const [text, stop] of [["Hello there.", ["th"]], ["caf\u00e9 \ud83d\ude42", []], ["", []]] as const) {
    const record = await recordOf({ reply: says(text) }, { stop });
    const { lost, withheld, raw, ...parts } = record.choices[0]?.characters ?? assert.fail();
    assert.deepEqual([lost, withheld], [0, 0]);
    assert.equal(Object.values(parts).reduce((sum, part) => sum + part), raw);
  }
  const { choices } = await recordOf({ reply: { tokens: [72, 257, 105, 256] } }, {});
  assert.equal(choices[0]?.characters.hidden, 5);
  assert.deepEqual(choices[0]?.repairs, [{ name: "special_token_hidden", count: 1 }]);
});

Deno.test("a refused request has a record with its error", async () => {
  const record = await recordOf({}, { temperature: 9 });
  assert.equal(record.state, "refused");
  assert.equal(record.status, 400);
  assert.equal(record.error?.param, "temperature");
  assert.match(record.content?.response.text ?? "", /temperature/);
});

Deno.test("an answer that breaks has a record with its error, and nothing of it counts as lost", async () => {
  const failure = { afterTokens: 3, code: "internal", message: "burnt" } as const;
  for (const stream of [true, false]) {
    const record = await recordOf({ reply: says("Hello there.", { failure }) }, { stream, stop: ["lo there?"] });
    assert.equal(record.state, "failed");
    assert.equal(record.error?.code, "internal_error");
    assert.equal(record.status, stream ? 200 : 500);
    assert.equal(record.choices[0]?.characters.lost, 0);
  }
});

Deno.test("what was changed in a conversation is counted in the usage and named in the record", async () => {
  await using server = await openTestApp();
  const messages = [{ role: "user", content: "Hi", name: "somebody" }];
  const { usage } = await (await server.post(CHAT, { messages })).json();
  assert.equal(usage.rapid_mlx.prompt_repairs, 2);
  assert.deepEqual((await last(server)).prompt_repairs, [{ name: "turns_merged", count: 2 }]);
});

Deno.test("without --record-content a record holds no text", async () => {
  await using server = await openTestApp();
  await (await server.post(CHAT, { messages: [{ role: "user", content: "sesame" }] })).text();
  const record = await last(server);
  assert.equal(record.content, null);
  assert.match(record.content_note ?? "", /--record-content/);
  assert.doesNotMatch(JSON.stringify(record), /sesame|Hello/);
  const list = await (await server.get("/v1/requests?limit=1")).json();
  assert.equal(list.data[0].id, record.id);
  assert.equal(list.content_recorded, false);
});

Deno.test("records ask for the key, and an unknown id is a 404 of the envelope", async () => {
  await using server = await openTestApp({ flags: { apiKey: "sesame" } });
  const authorization = "Bearer sesame";
  assert.equal((await server.get("/v1/requests")).status, 401);
  assert.equal((await server.get("/v1/requests/last")).status, 401);
  const missing = await server.get("/v1/requests/req-1", { headers: { authorization } });
  assert.equal(missing.status, 404);
  assert.equal((await missing.json()).error.code, "request_not_found");
  await (await server.post(CHAT, { messages: USER }, { headers: { authorization } })).text();
  const found = await server.get("/v1/requests/last", { headers: { "x-api-key": "sesame" } });
  assert.equal((await found.json()).state, "completed");
});

Deno.test("a completion of token ids is recorded with the spelling of its prompt", async () => {
  await using server = await openTestApp({ flags: { recordContent: true } });
  await (await server.post("/v1/completions", { prompt: [[72, 105], [79]], echo: true })).text();
  const record = await last(server);
  assert.equal(record.route, "/v1/completions");
  assert.deepEqual(record.content?.prompts, [{ text: null, ids: [72, 105] }, { text: null, ids: [79] }]);
  assert.deepEqual(record.content?.vocabulary.pieces["79"], { text: "O", special: false });
  assert.deepEqual(record.choices.map(({ prompt }) => prompt), [0, 1]);
});
