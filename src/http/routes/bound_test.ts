// deno-lint-ignore-file camelcase -- the wire's own names
/** Bound answers over the whole server on the fake core: every field that binds, streamed as whole, n, stop, tools. */
import assert from "node:assert/strict";
import { judgeOf } from "../../../tests/structure/judge.ts";
import { openTestApp, readEvents, readNamedEvents, says, type TestApp } from "../../../tests/support/test_app.ts";
import { findDialect } from "../../output/parser_names.ts";

const CHAT = "/v1/chat/completions";
const USER = [{ role: "user", content: "Hi" }];
const SCHEMA = {
  type: "object",
  properties: { a: { type: "integer" }, b: { type: "string", maxLength: 3 } },
  required: ["a", "b"],
  additionalProperties: false,
};
const FORMAT = { type: "json_schema", json_schema: { name: "x", schema: SCHEMA, strict: true } };
const TOOLS = ["look", "take"].map((name) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
}));

/** A server whose model would rather chat. */
async function openChatty(dialect = findDialect()): Promise<TestApp> {
  const app = await openTestApp({ reply: says('Sure! {"a": 12, "b": "xyzzy"} and {"n": 7} more.') });
  if (app.model.status.state === "ready") app.model.status.loaded.dialect = dialect;
  return app;
}

// deno-lint-ignore no-explicit-any -- a test reads what it expects
async function whole(app: TestApp, body: object, path = CHAT): Promise<any> {
  const response = await app.post(path, path === CHAT ? { messages: USER, ...body } : { prompt: "Hi", ...body });
  const json = await response.json();
  assert.equal(response.status, 200, JSON.stringify(json));
  return json;
}

Deno.test("every field that binds an answer binds it", async () => {
  await using app = await openChatty();
  const cases: [body: object, right: RegExp][] = [
    [{ response_format: { type: "json_object" } }, /^\{.*\}$/s],
    [{ response_format: { type: "json_object", schema: SCHEMA } }, /^\{"a": 12, "b": "xyz"\}$/],
    [{ response_format: { type: "json_schema", schema: SCHEMA } }, /^\{"a": 12, "b": "xyz"\}$/],
    [{ guided_json: JSON.stringify(SCHEMA) }, /^\{"a": 12, "b": "xyz"\}$/],
    [{ json_schema: SCHEMA }, /^\{"a": 12, "b": "xyz"\}$/],
    [{ structured_outputs: { json: SCHEMA } }, /^\{"a": 12, "b": "xyz"\}$/],
    [{ guided_regex: "[a-e]{4}" }, /^[a-e]{4}$/],
    [{ structured_outputs: { regex: "r\\d+e" } }, /^r\d+e$/],
    [{ guided_choice: ["yes", "no"] }, /^(yes|no)$/],
    [{ structured_outputs: { choice: ["só"] } }, /^só$/],
    [{ guided_grammar: 'root ::= "u" "r"+' }, /^ur+$/],
    [{ grammar: 'start: "S" "u"? LF\n%import common.LF' }, /^Su?\n$/],
    [{ structured_outputs: { grammar: 'root ::= "u"' } }, /^u$/],
    [{ structured_outputs: { json_object: true } }, /^\{.*\}$/s],
  ];
  for (const [body, right] of cases) {
    const { choices: [choice] } = await whole(app, { ...body, max_tokens: 200 });
    assert.match(choice.message.content, right, JSON.stringify(body));
    assert.equal(choice.finish_reason, "stop");
    const { choices: [completion] } = await whole(app, { ...body, max_tokens: 200 }, "/v1/completions");
    assert.match(completion.text, right, JSON.stringify(body));
  }
});

Deno.test("a bound answer streams as it is whole, several at once, with logprobs", async () => {
  await using app = await openChatty();
  const body = { response_format: FORMAT, n: 3, max_tokens: 200, logprobs: true };
  const { choices } = await whole(app, body);
  assert.deepEqual(
    choices.map(({ message }: { message: { content: string } }) => message.content),
    Array(3).fill('{"a": 12, "b": "xyz"}'),
  );
  // deno-lint-ignore no-explicit-any -- the same
  const events = await readEvents(await app.post(CHAT, { messages: USER, ...body, stream: true })) as any[];
  const joined = ["", "", ""];
  for (const event of events) {
    for (const { index, delta } of event.choices ?? []) joined[index] += delta.content ?? "";
  }
  assert.deepEqual(joined, Array(3).fill('{"a": 12, "b": "xyz"}'));
});

Deno.test("a stop string ends a bound answer, and too few tokens say length", async () => {
  await using app = await openChatty();
  const stopped = await whole(app, { response_format: FORMAT, stop: ", ", max_tokens: 200 });
  assert.equal(stopped.choices[0].message.content, '{"a": 12');
  const cut = await whole(app, { response_format: FORMAT, max_tokens: 6 });
  assert.equal(cut.choices[0].finish_reason, "length");
});

Deno.test("a required call is made by a model that would not, in every dialect that can be bound", async () => {
  for (const tools of ["hermes", "llama", "granite", "kimi", "qwen3_coder_xml", "glm47", "deepseek_v31"]) {
    await using app = await openChatty(findDialect(tools));
    for (const tool_choice of ["required", { type: "function", function: { name: "take" } }]) {
      const body = { tools: TOOLS, tool_choice, parallel_tool_calls: false, max_tokens: 400 };
      const { choices: [choice] } = await whole(app, body);
      const [call, ...more] = choice.message.tool_calls;
      assert.equal(choice.finish_reason, "tool_calls", tools);
      assert.equal(more.length, 0);
      assert.equal(judgeOf(TOOLS[0]?.function.parameters)(call.function.arguments), undefined);
      assert.ok(tool_choice === "required" || call.function.name === "take");
    }
  }
});

Deno.test("what tools are not bound by is listed, and refused for strict ones", async () => {
  await using app = await openChatty(findDialect("hermes"));
  const parameters = { type: "object", properties: { n: { type: "integer", multipleOf: 5 } }, required: ["n"] };
  const body = (strict: boolean): object => ({
    messages: USER,
    tools: [{ type: "function", function: { name: "f", parameters, strict } }],
    tool_choice: "required",
    max_tokens: 300,
  });
  for (let round = 0; round < 2; round++) {
    const response = await app.post(CHAT, body(false));
    assert.equal(response.headers.get("x-rapid-mlx-ignored"), "tools[].function.parameters multipleOf");
    await response.body?.cancel();
  }
  const { error } = await (await app.post(CHAT, body(true))).json();
  assert.equal(error.code, "invalid_tool_schema");
  assert.match(error.message, /`multipleOf` at #\/properties\/n /);
});

Deno.test("matchers are given back however an answer ends", async () => {
  await using app = await openChatty();
  // More answers than may be bound at once, one after the other and some left early.
  for (let round = 0; round < 40; round++) {
    const controller = new AbortController();
    const init = round % 2 === 0 ? { signal: controller.signal } : {};
    const response = await app.post(CHAT, { messages: USER, guided_regex: "[a-z]{30}", n: 16, stream: true }, init);
    if (round % 2 === 0) {
      controller.abort();
      await response.body?.cancel().catch(() => {});
    } else await response.text();
  }
  // 1,024 may be open: 640 that stayed open and these would be more.
  for (let round = 0; round < 30; round++) await whole(app, { guided_regex: "[a-z]{3}", n: 16 });
});

Deno.test("on the Messages wire a format binds text, and any, tool and one call bind calls, streamed as whole", async () => {
  await using app = await openChatty(findDialect("hermes"));
  const tools = TOOLS.map(({ function: { name, parameters } }) => ({ name, input_schema: parameters }));
  const ask = async (fields: object): Promise<unknown> => {
    const body = { messages: USER, max_tokens: 400, ...fields };
    const response = await app.post("/v1/messages", body);
    const { content, stop_reason } = await response.json();
    const events = await readNamedEvents(await app.post("/v1/messages", { ...body, stream: true }));
    const pieces = events.map(({ delta }) => Object(delta)).map(({ text, partial_json }) => text ?? partial_json ?? "");
    const [block] = content;
    assert.equal(content.length, 1);
    assert.equal(stop_reason, block.type === "text" ? "end_turn" : "tool_use");
    if (block.type === "text") assert.equal(pieces.join(""), block.text);
    else assert.deepEqual(JSON.parse(pieces.join("")), block.input); // -0 included
    return block.type === "text" ? block.text : block.name;
  };
  const format = { type: "json_schema", schema: SCHEMA };
  assert.equal(await ask({ output_config: { format } }), '{"a": 12, "b": "xyz"}');
  const once = { disable_parallel_tool_use: true };
  assert.match(String(await ask({ tools, tool_choice: { type: "any", ...once } })), /^(look|take)$/);
  assert.equal(await ask({ tools, tool_choice: { type: "tool", name: "take", ...once } }), "take");
  const loose = [{
    name: "f",
    input_schema: { type: "object", properties: { n: { type: "integer", multipleOf: 5 } } },
  }];
  const body = { messages: USER, max_tokens: 300, tools: loose, tool_choice: { type: "any" } };
  const response = await app.post("/v1/messages", body);
  assert.equal(response.headers.get("x-rapid-mlx-ignored"), "tools[].input_schema multipleOf");
  await response.text();
});

Deno.test("a line's bias of tokens counts where tools may be called and are not bound, under the client's own", async () => {
  const seen: ReadonlyMap<number, number>[] = [];
  await using app = await openTestApp({
    reply: (request) => {
      seen.push(request.logitBias);
      return says("Hi");
    },
  });
  if (app.model.status.state !== "ready") return assert.fail();
  Object.assign(app.model.status.loaded, { dialect: findDialect("hermes"), toolBias: { A: 3, B: -2 } });
  const [a, b] = [..."AB"].map((char) => char.charCodeAt(0));
  const strict = [{ type: "function", function: { ...TOOLS[0]?.function, strict: true } }];
  await whole(app, { tools: TOOLS });
  await whole(app, { tools: TOOLS, logit_bias: { [String(b)]: 9 } });
  for (const body of [{}, { tools: TOOLS, tool_choice: "none" }, { tools: strict }]) await whole(app, { ...body });
  assert.deepEqual(seen.map((bias) => [...bias]), [[[a, 3], [b, -2]], [[a, 3], [b, 9]], [], [], []]);
});
