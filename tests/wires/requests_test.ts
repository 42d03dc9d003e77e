// deno-lint-ignore-file camelcase -- the wires' own names
/**
 * What clients of every wire send: fields, roles, tools, results, thinking, choices.
 *
 * @module
 */
import assert from "node:assert/strict";
import { ManualPace } from "../support/manual_pace.ts";
import { type ScriptedServer, serveScript } from "../support/scripted_server.ts";
import { openTestApp } from "../support/test_app.ts";
import { askBoth, CHAT, type Json, MESSAGES, post, RESPONSES, type Turn, type Wire, WIRES } from "./wires.ts";

const USER: readonly Turn[] = [{ user: "Hi" }];
const CALL = '<tool_call>\n{"name": "look", "arguments": {"path": "a.txt"}}\n</tool_call>';
const PATH = { properties: { path: { type: "string" } }, required: ["path"], additionalProperties: false };
/** What every reply of a test needs that wants any answer. */
const ANY = { tools: "hermes", reasoning: "qwen3", replies: [{ text: "Yes." }], repeat: true };

async function answer(server: ScriptedServer, wire: Wire, body: object, headers: HeadersInit = {}): Promise<Json> {
  const response = await post(server.url + wire.path, body, headers);
  const json = await response.json();
  assert.equal(response.status, 200, `${wire.name}: ${JSON.stringify(json)}`);
  return json;
}

/** Without the switch of thinking, which the wires leave in different places where nobody asks. */
async function lastPrompt(server: ScriptedServer): Promise<string> {
  return (await server.asked()).at(-1).prompt.replaceAll(/<\|thinking .*\|>\n/g, "");
}

/** The prompt of a body. */
async function promptOf(server: ScriptedServer, wire: Wire, body: object): Promise<string> {
  await answer(server, wire, body);
  return await lastPrompt(server);
}

/** What agents send with every request and a server of one model has no use for, and what nobody has heard of. */
const HINTS: Record<Wire["name"], object> = {
  chat: {
    metadata: { a: "b" },
    store: false,
    service_tier: "auto",
    prompt_cache_key: "k",
    prompt_cache_retention: "24h",
    safety_identifier: "s",
    user: "u",
    verbosity: "low",
    parallel_tool_calls: true,
    stream_options: { include_usage: true },
    tool_choice: "auto",
    reasoning_effort: null,
    x_unknown: { deep: [1] },
  },
  messages: {
    metadata: { user_id: '{"device_id":"d","account_uuid":"","session_id":"s"}' },
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    output_config: { effort: "high" },
    thinking: { type: "adaptive", display: "updates" },
    cache_control: { type: "ephemeral" },
    service_tier: "auto",
    betas: ["x-2099-01-01"],
    x_unknown: 1,
  },
  responses: {
    client_metadata: { b: "1", a: "2" },
    prompt_cache_key: "thread",
    include: ["reasoning.encrypted_content"],
    store: false,
    text: { verbosity: "low" },
    reasoning: { summary: "auto", effort: "medium", context: "all_turns" },
    service_tier: "auto",
    parallel_tool_calls: true,
    tool_choice: "auto",
    truncation: "disabled",
    x_unknown: "x",
  },
};

Deno.test("No hint, beta or unknown field is refused; what has no effect is named in a header", async () => {
  await using server = await serveScript(ANY);
  const headers = { "anthropic-beta": "never-heard-of-2099-01-01,effort-2025-11-24", "openai-beta": "x=y" };
  for (const wire of WIRES) {
    for (const stream of [false, true]) {
      const tools = [{ ...wire.tool("look", PATH), x_unknown: 1, strict: null, cache_control: { type: "ephemeral" } }];
      const body = { ...wire.ask(USER), ...HINTS[wire.name], tools, stream };
      const response = await post(server.url + wire.path, body, headers);
      assert.equal(response.status, 200, `${wire.name}: ${await response.clone().text()}`);
      await response.text();
      const ignored = response.headers.get("x-rapid-mlx-ignored") ?? "";
      for (const name of ["x_unknown", "tools[].x_unknown"]) assert.ok(ignored.split(", ").includes(name), ignored);
    }
  }
});

Deno.test("A field that is refused for a reason is refused by its path, on Messages in the words that agents drop it by", async () => {
  await using server = await serveScript(ANY);
  const rows: [Wire, object, string][] = [
    [CHAT, { modalities: ["audio"] }, "modalities"],
    [MESSAGES, { min_tokens: 5 }, "min_tokens"],
    [RESPONSES, { background: true }, "background"],
  ];
  for (const [wire, fields, param] of rows) {
    const response = await post(server.url + wire.path, { ...wire.ask(USER), ...fields });
    const { message } = wire.refusal(await response.json(), response);
    assert.equal(response.status, 400);
    assert.ok(message.includes(`\`${param}\``), message);
    if (wire === MESSAGES) assert.ok(message.startsWith(`${param}: Extra inputs are not permitted`), message);
  }
});

Deno.test("An answer may be asked to be longer than the window: it gets what is left, and that is listed", async () => {
  await using server = await serveScript({ ...ANY, context_tokens: 500 });
  for (const wire of WIRES) {
    for (const tokens of [32_000, 65_536, 128_000]) {
      const body = wire.ask(USER, { [wire.maxTokensField]: tokens });
      const response = await post(server.url + wire.path, body);
      assert.equal(response.status, 200, wire.name);
      assert.equal(wire.whole(await response.json()).text, "Yes.");
      assert.equal(response.headers.get("x-rapid-mlx-ignored"), wire.maxTokensField, wire.name);
    }
  }
});

Deno.test("System and developer messages are rendered where they stand, any number of them, the same from every wire", async () => {
  const turns: Turn[] = [
    { system: "One." },
    { developer: "Two." },
    { user: "Hi" },
    { assistant: "Ho" },
    { system: "Three." },
    { user: "And?" },
    { developer: "Four." },
  ];
  const prompts = await Promise.all(WIRES.map(async (wire) => {
    await using own = await serveScript(ANY);
    return await promptOf(own, wire, wire.ask(turns));
  }));
  assert.equal(new Set(prompts).size, 1, prompts.join("\n---\n"));
  assert.deepEqual(
    ["One.", "Two.", "Hi", "Ho", "Three.", "And?", "Four."].map((text) => prompts[0]?.includes(text)),
    Array(7).fill(true),
  );
});

Deno.test("Content is a string, a list of parts, null or nothing, and a string is the list of its one part", async () => {
  await using server = await serveScript(ANY);
  for (const wire of WIRES) {
    const [key, type] = wire === RESPONSES ? ["input", "input_text"] : ["messages", "text"];
    const shapes = [{ content: "Hi" }, { content: [{ type, text: "Hi" }] }];
    const prompts = [];
    for (const shape of shapes) {
      prompts.push(await promptOf(server, wire, { ...wire.ask([]), [key]: [{ role: "user", ...shape }] }));
    }
    assert.equal(prompts[0], prompts[1], wire.name);
    for (const role of ["user", "assistant", "system"]) {
      for (const shape of [{ content: null }, {}, { content: "" }, { content: [] }]) {
        await answer(server, wire, {
          ...wire.ask([]),
          [key]: [{ role: "user", content: "Hi" }, { role, ...shape }, { role: "user", content: "So?" }],
        });
        assert.ok((await lastPrompt(server)).includes("So?"));
      }
    }
  }
});

/** Schemas as agents have them: 62 kB with every keyword that was seen. */
function manyTools(wire: Wire): object[] {
  const limit = Number.MAX_SAFE_INTEGER;
  return Array.from({ length: 62 }, (_, index) =>
    wire.tool(`tool_${index}`, {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      additionalProperties: false,
      properties: {
        path: { type: "string", minLength: 1, maxLength: 4096, pattern: "^/", description: "x".repeat(600) },
        line: { type: "integer", minimum: -limit, maximum: limit, exclusiveMinimum: 0, default: 1 },
        mode: { oneOf: [{ const: "a" }, { enum: ["b", "c"] }], default: "a" },
        list: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 9 },
      },
      required: ["path"],
    }));
}

const HOSTED: Record<Wire["name"], object[]> = {
  chat: [{ type: "web_search" }],
  messages: [{ type: "web_search_20260318", name: "web_search" }, { type: "bash_20250124", name: "bash" }],
  responses: [
    { type: "web_search", external_web_access: true, search_content_types: ["text", "image"] },
    { type: "file_search", vector_store_ids: [] },
    { type: "image_generation" },
    { type: "code_interpreter", container: { type: "auto" } },
    { type: "local_shell" },
    { type: "mcp", server_label: "x", server_url: "https://example.com" },
  ],
};

Deno.test("Sixty tools of 62 kB are taken as they are; tools that another server runs are left out and listed", async () => {
  for (const wire of WIRES) {
    await using server = await serveScript({ ...ANY, context_tokens: 500_000 });
    const tools = [...manyTools(wire), ...HOSTED[wire.name]];
    assert.ok(JSON.stringify(tools).length > 62_000);
    const response = await post(server.url + wire.path, wire.ask(USER, { tools }));
    assert.equal(response.status, 200, `${wire.name}: ${await response.clone().text()}`);
    assert.ok(response.headers.get("x-rapid-mlx-ignored")?.includes("tools[].type"), wire.name);
    await response.text();
    const [asked] = await server.asked();
    assert.equal(asked.tools.length, 62);
    assert.ok(asked.prompt.includes('"maximum": 9007199254740991') && !asked.prompt.includes("web_search"));
  }
});

Deno.test("Tools are functions of no type or of the wire's, freeform ones with a grammar, groups and searches", async () => {
  await using server = await serveScript(ANY);
  const grammar = { type: "grammar", syntax: "lark", definition: "start: /[a-z]+/ LF\n%import common.LF" };
  const nested = { type: "function", name: "close", parameters: { type: "object", properties: {} }, strict: false };
  const cases: [Wire, object[], string[]][] = [
    [CHAT, [CHAT.tool("look", PATH)], ["look"]],
    [MESSAGES, [MESSAGES.tool("look", PATH), { type: "custom", ...MESSAGES.tool("other", {}) }], ["look", "other"]],
    [RESPONSES, [RESPONSES.tool("look", PATH), { type: "custom", name: "patch", format: grammar }], ["look", "patch"]],
    [RESPONSES, [{ type: "custom", name: "p", format: { ...grammar, syntax: "regex", definition: "[a-z]+" } }], ["p"]],
    [RESPONSES, [{ type: "namespace", name: "agents", description: "d", tools: [nested] }], ["agents__close"]],
    [RESPONSES, [{ type: "tool_search", execution: "client", parameters: { type: "object" } }], ["tool_search"]],
  ];
  for (const [wire, tools, names] of cases) {
    await answer(server, wire, wire.ask(USER, { tools }));
    const asked = (await server.asked()).at(-1);
    assert.deepEqual(asked.tools, names);
    for (const name of names) assert.ok(asked.prompt.includes(`"name": "${name}"`), asked.prompt);
  }
  const added = {
    type: "additional_tools",
    role: "developer",
    tools: [{ type: "namespace", name: "functions", tools: [nested] }],
  };
  const body = { input: [added, { role: "user", content: "Hi" }], store: false };
  await answer(server, RESPONSES, body);
  assert.deepEqual((await server.asked()).at(-1).tools, ["functions__close"]);
});

Deno.test("A call of a group names tool and group apart, and a freeform call leaves as its raw text", async () => {
  const call = (name: string, input: object): string =>
    `<tool_call>\n${JSON.stringify({ name, arguments: input })}\n</tool_call>`;
  const replies = [{ text: call("agents__close", { id: 1 }) + call("patch", { input: '*** Begin\n+"é"\n' }) }];
  await using server = await serveScript({ ...ANY, replies });
  const tools = [
    { type: "namespace", name: "agents", tools: [{ type: "function", name: "close", parameters: { type: "object" } }] },
    { type: "custom", name: "patch", description: "Patches." },
  ];
  const body = RESPONSES.ask(USER, { tools });
  const { output } = await answer(server, RESPONSES, body);
  const streamed = await (await post(server.url + RESPONSES.path, { ...body, stream: true })).text();
  for (const items of [output, JSON.parse(streamed.trimEnd().split("data: ").at(-1) ?? "").response.output]) {
    assert.deepEqual(items.map(({ type, name, namespace }: Json) => [type, name, namespace]), [
      ["function_call", "close", "agents"],
      ["custom_tool_call", "patch", undefined],
    ]);
    assert.equal(items[1].input, '*** Begin\n+"é"\n');
  }
});

Deno.test("Deferred tools are kept out of the head, shown where a search found them, and may be called from then on", async () => {
  const call = '<tool_call>\n{"name": "fetch", "arguments": {"path": "a"}}\n</tool_call>';
  const search = { id: "s1", name: "find", arguments: "{}" };
  const found: Record<string, unknown> = {
    messages: MESSAGES.ask([{ user: "Hi" }, { assistant: "", calls: [search] }], {
      tools: [MESSAGES.tool("find", {}), { ...MESSAGES.tool("fetch", PATH), defer_loading: true }],
    }),
    responses: {
      store: false,
      tools: [
        { type: "tool_search", execution: "client", parameters: { type: "object" } },
        { ...RESPONSES.tool("fetch", PATH), defer_loading: true },
      ],
      input: [
        { role: "user", content: "Hi" },
        {
          type: "tool_search_call",
          call_id: "s1",
          execution: "client",
          status: "completed",
          arguments: { query: "f" },
        },
      ],
    },
  };
  for (const wire of [MESSAGES, RESPONSES]) {
    await using server = await serveScript({ ...ANY, replies: [{ text: call }] });
    const before: Json = found[wire.name];
    const hidden = wire.whole(await answer(server, wire, before));
    assert.deepEqual([hidden.calls, (await lastPrompt(server)).includes("fetch")], [[], false], wire.name);
    const after = structuredClone(before);
    if (wire === MESSAGES) {
      const content = [{ type: "tool_reference", tool_name: "fetch" }];
      after.messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: "s1", content }] });
    } else after.input.push({ type: "tool_search_output", call_id: "s1", tools: [RESPONSES.tool("fetch", PATH)] });
    const shown = await askBoth(server.url, wire, after);
    assert.deepEqual(shown.calls.map(({ name }) => name), ["fetch"], wire.name);
    const prompt = await lastPrompt(server);
    assert.ok(prompt.indexOf('"fetch"') > prompt.indexOf("Hi"), prompt);
  }
});

Deno.test("Results are strings or lists, failed or not, several at once, with text beside them, and render the same", async () => {
  const calls = ["c1", "c2"].map((id) => ({ id, name: "look", arguments: '{"path":"a"}' }));
  const turns: Turn[] = [{ user: "Hi" }, { assistant: "", calls }];
  const prompts: string[] = [];
  for (const wire of WIRES) {
    for (const asList of [false, true]) {
      await using server = await serveScript(ANY);
      const body: Json = wire.ask(turns, { tools: [wire.tool("look", PATH)] });
      addResults(wire, body, asList);
      prompts.push(await promptOf(server, wire, body));
    }
  }
  assert.equal(new Set(prompts).size, 1, [...new Set(prompts)].join("\n---\n"));
  assert.match(prompts[0] ?? "", /\[c1\] one.*\[c2\] Error: two.*Go on\./s);
});

/** Two results, the second one of a failure, and what the user says beside them. */
function addResults(wire: Wire, body: Json, asList: boolean): void {
  const type = wire === RESPONSES ? "input_text" : "text";
  const shape = (text: string): unknown => asList ? [{ type, text }] : text;
  if (wire === MESSAGES) {
    const results = [
      { type: "tool_result", tool_use_id: "c1", content: shape("one") },
      { type: "tool_result", tool_use_id: "c2", content: shape("two"), is_error: true },
      { type: "text", text: "Go on.", cache_control: { type: "ephemeral" } },
    ];
    body.messages.push({ role: "user", content: results });
  } else if (wire === CHAT) {
    body.messages.at(-1).content = asList ? null : "";
    body.messages.push(
      { role: "tool", tool_call_id: "c1", content: shape("one"), name: "look" },
      { role: "tool", tool_call_id: "c2", content: shape("Error: two") },
      { role: "user", content: "Go on." },
    );
  } else {
    body.input.push(
      { type: "function_call_output", id: "fco_1", call_id: "c1", output: shape("one") },
      { type: "function_call_output", call_id: "c2", output: shape("Error: two") },
      { role: "user", content: "Go on." },
    );
  }
}

Deno.test("An image in a result is told to be one and listed, never refused", async () => {
  await using server = await serveScript(ANY);
  const data = "iVBORw0KGgo=";
  const calls = [{ id: "c1", name: "look", arguments: "{}" }];
  const turns: Turn[] = [{ user: "Hi" }, { assistant: "", calls }];
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data } };
  const url = `data:image/png;base64,${data}`;
  const results: Record<Wire["name"], [string, object]> = {
    chat: ["messages", { role: "tool", tool_call_id: "c1", content: [{ type: "image_url", image_url: { url } }] }],
    messages: ["messages", { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: [image] }] }],
    responses: ["input", {
      type: "function_call_output",
      call_id: "c1",
      output: [{ type: "input_image", image_url: url, detail: "high" }],
    }],
  };
  for (const wire of WIRES) {
    const [key, result] = results[wire.name];
    const body: Json = wire.ask(turns, { tools: [wire.tool("look", {})] });
    body[key].push(result);
    const response = await post(server.url + wire.path, body);
    assert.equal(response.status, 200, await response.clone().text());
    await response.text();
    assert.match(response.headers.get("x-rapid-mlx-ignored") ?? "", /image/, wire.name);
    assert.ok((await lastPrompt(server)).includes("image not shown"), wire.name);
  }
});

Deno.test("Thinking that comes back as the wire gave it, or not at all, renders the same prompt from each", async () => {
  const prompts: string[] = [];
  for (const wire of WIRES) {
    const replies = [{ when: "kept", text: "Done." }, { text: `<think>\nI look.\n</think>\n${CALL}` }];
    await using server = await serveScript({ ...ANY, replies });
    const fields = {
      tools: [wire.tool("look", PATH)],
      ...(wire === MESSAGES && { thinking: { type: "adaptive" } }),
      ...(wire === RESPONSES && { include: ["reasoning.encrypted_content"] }),
    };
    const body: Json = wire.ask(USER, fields);
    const first = await answer(server, wire, body);
    assert.equal(wire.whole(first).calls.length, 1);
    for (const isKept of [true, false]) {
      const next = structuredClone(body);
      giveBack(wire, next, first, isKept);
      assert.equal(wire.whole(await answer(server, wire, next)).text, "Done.", wire.name);
      const prompt = (await lastPrompt(server)).replaceAll(/(call|toolu|fc)_\w+/g, "ID").replaceAll(
        /<\|thinking.*\n/g,
        "",
      );
      prompts.push(prompt);
    }
  }
  assert.match(prompts[0] ?? "", /I look\./);
  assert.equal(new Set(prompts).size, 1, [...new Set(prompts)].join("\n---\n"));
});

/** The answer and the result of its call, at the end of a conversation. */
function giveBack(wire: Wire, body: Json, given: Json, keepsThinking: boolean): void {
  const [{ id } = { id: "" }] = wire.whole(given).calls;
  if (wire === CHAT) {
    const { reasoning_content, ...rest } = given.choices[0].message;
    body.messages.push(keepsThinking ? { reasoning_content, ...rest } : rest);
    body.messages.push({ role: "tool", tool_call_id: id, content: "kept" });
  } else if (wire === MESSAGES) {
    const content = given.content.filter(({ type }: Json) => keepsThinking || type !== "thinking");
    body.messages.push({ role: "assistant", content });
    body.messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "kept" }] });
  } else {
    // As Codex does: the text goes, what is sealed stays.
    const items = given.output.filter(({ type }: Json) => keepsThinking || type !== "reasoning")
      .map((item: Json) => item.type === "reasoning" ? { ...item, content: null } : item);
    body.input.push(...items, { type: "function_call_output", call_id: id, output: "kept" });
  }
}

Deno.test("Calls and items of other servers are taken with their ids, and nothing needs to have been kept here", async () => {
  await using server = await serveScript(ANY);
  for (const wire of WIRES) {
    const ids = ["toolu_01ABC", "call_x-1", "functions.look:0"];
    for (const id of ids) {
      const calls = [{ id, name: "look", arguments: '{"path":"a"}' }];
      const turns: Turn[] = [{ user: "Hi" }, { assistant: "I see.", thought: "Hm.", calls }, { result: "one", of: id }];
      const body: Json = wire.ask(turns, { tools: [wire.tool("look", PATH)] });
      for (const item of body.input ?? []) item.id ??= `msg_${id}`;
      await answer(server, wire, body);
      assert.ok((await lastPrompt(server)).includes(`[${id}] one`), wire.name);
    }
  }
});

Deno.test("A choice of tools holds: none offers none, any or one by name is called by a model that would rather talk", async () => {
  for (const wire of WIRES) {
    await using server = await serveScript({ ...ANY, replies: [{ text: CALL }] });
    const tools = [wire.tool("look", PATH), wire.tool("other", {})];
    const none = wire === MESSAGES ? { type: "none" } : "none";
    assert.deepEqual((await askBoth(server.url, wire, wire.ask(USER, { tools, tool_choice: none }))).calls, []);
    assert.ok(!(await lastPrompt(server)).includes('"look"'.concat(",")), wire.name);
    for (const tool_choice of [wire.mustCall(), wire.mustCall("look")]) {
      const said = await askBoth(server.url, wire, wire.ask(USER, { tools, tool_choice }));
      assert.deepEqual([said.calls.map(({ name }) => name), said.end], [["look"], "calls"], wire.name);
    }
  }
});

Deno.test("Formats of answers and lists of stops are kept to on every wire that has them", async () => {
  const schema = {
    type: "object",
    properties: { ok: { type: "boolean" } },
    required: ["ok"],
    additionalProperties: false,
  };
  // The fake core draws what the mask allows, so a bound answer is one that fits.
  await using app = await openTestApp({ reply: { tokens: new Array(200).fill(111) } });
  for (const wire of WIRES) {
    const response = await app.post(wire.path, wire.ask(USER, { ...wire.bound(schema), [wire.maxTokensField]: 100 }));
    const { text } = wire.whole(await response.json());
    assert.equal(typeof JSON.parse(text).ok, "boolean", `${wire.name}: ${text}`);
  }
  const object = await app.post(CHAT.path, CHAT.ask(USER, { response_format: { type: "json_object" }, max_tokens: 5 }));
  assert.match(CHAT.whole(await object.json()).text, /^\{/);
  await using server = await serveScript({ ...ANY, replies: [{ text: "Thought. Observation: x" }] });
  for (const [wire, field] of [[CHAT, "stop"], [MESSAGES, "stop_sequences"], [RESPONSES, "stop"]] as const) {
    const body = wire.ask(USER, { [field]: ["Observation:", "Calling tools:"] });
    assert.equal(wire.whole(await answer(server, wire, body)).text, "Thought. ", wire.name);
  }
});

Deno.test("Two requests of one client run side by side: neither waits for the other's end", async () => {
  for (const wire of WIRES) {
    const pace = new ManualPace();
    await using server = await openTestApp({ pace: pace.pace });
    const streams = await Promise.all(
      ["title", "main"].map((user) => server.post(wire.path, wire.ask([{ user }], { stream: true }))),
    );
    const readers = streams.map((response) => response.body!.getReader());
    const texts = ["", ""];
    const read = readers.map(async (reader, at) => {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        texts[at] += new TextDecoder().decode(next.value);
      }
    });
    // Each has shown text before either has ended.
    for (let step = 0; step < 50 && texts.some((text) => !/"(content|text|delta)":"H"/.test(text)); step++) {
      pace.advance();
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    for (const text of texts) {
      assert.match(text, /"(content|text|delta)":"H"/, wire.name);
      assert.doesNotMatch(text, /\[DONE\]|message_stop|response\.completed/, wire.name);
    }
    pace.advance(50);
    await Promise.all(readers.map((reader) => reader.cancel()));
    await Promise.all(read);
  }
});
