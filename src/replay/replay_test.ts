import assert from "node:assert/strict";
import { serveScript } from "../../tests/support/scripted_server.ts";
import { openTestApp, says } from "../../tests/support/test_app.ts";
import { type RequestRecord, RequestRecordSchema } from "../api/request_record.ts";
import { parseTraceLine } from "../trace/read_trace.ts";
import { compareRecords } from "./compare.ts";
import { replay, ReplayError } from "./replay.ts";

const TOOLS = [{
  type: "function",
  function: { name: "add_note", parameters: { type: "object", properties: { text: { type: "string" } } } },
}];

/** What dialects write, with a stop string, a cut and damage among them. */
const SCRIPTS: [string, Record<string, unknown>, Record<string, unknown>][] = [
  ["hermes with reasoning", {
    tools: "hermes",
    reasoning: "qwen3",
    replies: [{
      text: 'Hm.</think>Well.<tool_call>\n{"name": "add_note", "arguments": {"text": "buy figs 🙂"}}\n</tool_call>',
      prompt_open: "<think>\n",
    }],
  }, {}],
  ["harmony", {
    tools: "harmony",
    replies: [{
      text: "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.add_note " +
        '<|constrain|>json<|message|>{"text": "figs"}<|call|>',
    }],
  }, {}],
  ["mistral, cut inside a call", {
    tools: "mistral",
    replies: [{ text: 'Yes. [TOOL_CALLS]add_note[ARGS]{"text": "fi', finish: "length" }],
  }, {}],
  ["qwen3_coder_xml, damaged", {
    tools: "qwen3_coder_xml",
    replies: [{
      text: "<tool_call>\n<function=add_note>\n<parameter=text>\nfigs\n</function>\n</tool_call> and <|x|>",
    }],
  }, {}],
  ["a stop string and two choices", {
    tools: "hermes",
    replies: [{ text: "One two three four five six" }],
  }, { stop: ["three f"], n: 2 }],
  ["logprobs", { tools: "hermes", replies: [{ text: "One two" }] }, { logprobs: true, top_logprobs: 2 }],
  ["bound to a schema", { tools: "hermes", replies: [{ text: '{"a": 1}' }] }, {
    response_format: { type: "json_schema", json_schema: { name: "a", schema: { type: "object" } } },
  }],
  ["a thinking budget", {
    tools: "hermes",
    reasoning: "qwen3",
    replies: [{ text: "<think>One two three four five six</think>Done." }],
  }, { reasoning_max_tokens: 2 }],
  ["a required call that is not made", { tools: "hermes", replies: [{ text: "No." }] }, { tool_choice: "required" }],
];

async function record(
  script: Record<string, unknown>,
  body: Record<string, unknown>,
  flags: Record<string, unknown> = {},
  path = "/v1/chat/completions",
): Promise<RequestRecord> {
  await using server = await serveScript(script, flags);
  const flat = TOOLS.map(({ type, function: { name } }) => path === "/v1/messages" ? { name } : { type, name });
  const tools = path === "/v1/chat/completions" ? TOOLS : flat;
  const response = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      [path === "/v1/responses" ? "input" : "messages"]: [{ role: "user", content: "Hi" }],
      tools,
      ...body,
    }),
  });
  await response.text();
  return RequestRecordSchema.parse(await (await fetch(`${server.url}/v1/requests/last`)).json());
}

for (const [name, script, body] of SCRIPTS) {
  for (const stream of [false, true]) {
    Deno.test(`A replay shows what was shown: ${name}${stream ? ", streamed" : ""}`, async () => {
      const recorded = await record(script, { ...body, stream });
      assert.ok((recorded.content?.choices[0]?.tokens.length ?? 0) > 0);
      const replayed = await replay(recorded);
      assert.deepEqual(compareRecords(recorded, replayed), []);
      assert.equal(replayed.choices[0]?.characters.lost, 0);
    });
  }
}

Deno.test("A replay of messages shows what was shown: thinking shown and sealed, a call, a stop sequence, a refusal", async () => {
  const text = 'Hm.</think>Well.<tool_call>\n{"name": "add_note", "arguments": {"text": "figs 🙂"}}\n</tool_call>';
  const script = { tools: "hermes", reasoning: "qwen3", replies: [{ text, prompt_open: "<think>\n" }] };
  const thinking = { type: "adaptive" };
  const bodies = [
    { thinking },
    { thinking: { ...thinking, display: "omitted" } },
    { stop_sequences: ["Well"] },
    { max_tokens: 3, model: "claude-x" },
    { max_tokens: 0 },
  ];
  for (const body of bodies) {
    for (const stream of [false, true]) {
      const recorded = await record(script, { ...body, stream }, {}, "/v1/messages");
      assert.equal(recorded.state, body.max_tokens === 0 ? "refused" : "completed");
      assert.deepEqual(compareRecords(recorded, await replay(recorded)), []);
    }
  }
});

Deno.test("A replay of responses shows what was shown: thinking in its forms, calls of every kind, a cut, a refusal", async () => {
  const call = (name: string, args: object): string =>
    `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
  const text = `Hm.</think>Well.${call("add_note", { text: "figs 🙂" })}${call("patch", { input: "a\n" })}`;
  const script = { tools: "hermes", reasoning: "qwen3", replies: [{ text, prompt_open: "<think>\n" }] };
  const tools = [{ type: "function", name: "add_note" }, { type: "custom", name: "patch" }];
  const bodies = [
    { tools },
    { tools, reasoning: { summary: "auto" }, include: ["reasoning.encrypted_content"], store: false },
    { max_output_tokens: 3, model: "gpt-x" },
    { background: true },
  ];
  for (const body of bodies) {
    for (const stream of [false, true]) {
      const recorded = await record(script, { ...body, stream }, {}, "/v1/responses");
      assert.equal(recorded.state, "background" in body ? "refused" : "completed");
      assert.deepEqual(compareRecords(recorded, await replay(recorded)), []);
    }
  }
});

Deno.test("A replay of a response that went on from another shows what was shown", async () => {
  await using server = await serveScript({ replies: [{ text: "One." }, { text: "Two." }] });
  const ask = async (body: object): Promise<{ id: string }> =>
    await (await fetch(`${server.url}/v1/responses`, { method: "POST", body: JSON.stringify(body) })).json();
  const { id } = await ask({ input: "Count." });
  await ask({ input: "On.", previous_response_id: id });
  const recorded = RequestRecordSchema.parse(await (await fetch(`${server.url}/v1/requests/last`)).json());
  assert.equal(recorded.state, "completed");
  assert.deepEqual(compareRecords(recorded, await replay(recorded)), []);
});

Deno.test("A replay of thinking that came back is no different for having other keys than its server", async () => {
  const reply = { text: "Hm.</think>Well.", "prompt_open": "<think>\n" };
  const shown = { type: "adaptive" };
  for (const thinking of [shown, { ...shown, display: "omitted" }]) {
    await using server = await serveScript({ reasoning: "qwen3", replies: [reply, reply] });
    const ask = async (messages: object[]): Promise<{ content: { signature?: string }[] }> => {
      const body = JSON.stringify({ max_tokens: 100, thinking, messages });
      return await (await fetch(`${server.url}/v1/messages`, { method: "POST", body })).json();
    };
    const user = { role: "user", content: "Hi" };
    const { content } = await ask([user]);
    assert.ok(content[0]?.signature);
    await ask([user, { role: "assistant", content }, user]);
    const recorded = RequestRecordSchema.parse(await (await fetch(`${server.url}/v1/requests/last`)).json());
    assert.deepEqual(recorded.ignored, []);
    assert.deepEqual(compareRecords(recorded, await replay(recorded)), []);
  }
});

Deno.test("A replay of calls that were shown as they were written shows them so", async () => {
  const text = '<tool_call>\n{"name": "add_note", "arguments": {"text": "buy figs and dates"}}\n</tool_call>';
  const script = { tools: "hermes", replies: [{ text }] };
  const whole = await record(script, { stream: true });
  const live = await record(script, { stream: true }, { toolArguments: "live" });
  assert.deepEqual(compareRecords(live, await replay(live)), []);
  assert.ok((live.content?.choices[0]?.steps.length ?? 0) > (whole.content?.choices[0]?.steps.length ?? 0));
});

Deno.test("A replay of completions of text and of ids, with an echo, shows what was shown", async () => {
  for (const prompt of ["Once", [[72, 105], [79]]]) {
    await using server = await openTestApp({ flags: { recordContent: true }, reply: says("upon a time") });
    await (await server.post("/v1/completions", { prompt, echo: true, logprobs: undefined, n: 2 })).text();
    const recorded = RequestRecordSchema.parse(await (await server.get("/v1/requests/last")).json());
    assert.deepEqual(compareRecords(recorded, await replay(recorded)), []);
    assert.match(recorded.content?.response.text ?? "", /upon a time/);
  }
});

Deno.test("A replay of a refused request is refused, and one of a broken answer breaks at the same token", async () => {
  const failure = { afterTokens: 3, code: "internal", message: "burnt" } as const;
  // The last grammar can be read and not followed.
  const refused = [{ temperature: 9 }, { grammar: "root ::= (" }, { grammar: 'root ::= root "a" | "b"' }];
  for (const body of [...refused, { stream: true }, { stream: false }]) {
    await using server = await openTestApp({
      flags: { recordContent: true },
      reply: says("Hello there.", { failure }),
    });
    await (await server.post("/v1/chat/completions", { messages: [{ role: "user", content: "Hi" }], ...body })).text();
    const recorded = RequestRecordSchema.parse(await (await server.get("/v1/requests/last")).json());
    assert.notEqual(recorded.error, null);
    assert.deepEqual(compareRecords(recorded, await replay(recorded)), []);
  }
});

Deno.test("A difference is told with its path", async () => {
  const recorded = await record({ tools: "hermes", replies: [{ text: "One two" }] }, {});
  const first = recorded.content?.choices[0]?.steps[0]?.shown[0] ?? assert.fail();
  assert.ok("text" in first);
  first.text = "Won";
  const [difference] = compareRecords(recorded, await replay(recorded));
  assert.deepEqual(difference, { path: "steps[0][0].shown[0].text", recorded: "Won", replayed: "One" });
});

Deno.test("A trace that was written by hand plays a damaged call", async () => {
  const path = new URL("../../tests/golden/traces/damaged_call.jsonl", import.meta.url);
  const [, line = ""] = (await Deno.readTextFile(path)).split("\n");
  const parsed = parseTraceLine(line);
  assert.ok(parsed.kind === "record", "fault" in parsed ? parsed.fault : "no record");
  assert.deepEqual(compareRecords(parsed.record, await replay(parsed.record)), []);
  assert.deepEqual(parsed.record.choices[0]?.repairs.map(({ name }) => name), ["tool_call_shown_as_text"]);
});

Deno.test("What the server's state ended is not replayed", async () => {
  const recorded = await record({ tools: "hermes", replies: [{ status: 429, retry_after: 1 }] }, {});
  await assert.rejects(replay(recorded), ReplayError);
  await assert.rejects(replay({ ...recorded, error: null, content: null, content_note: "off" }), /off/);
});

Deno.test("A trace that names an id beyond any vocabulary is refused, and no memory is taken for it", async () => {
  const recorded = await record({ tools: "hermes", replies: [{ text: "One" }] }, {});
  assert.ok(recorded.content !== null);
  recorded.content.vocabulary.pieces["4294967294"] = { text: "x", special: false };
  await assert.rejects(replay(recorded), /an id in content\.vocabulary, is over 4194304/);
});
