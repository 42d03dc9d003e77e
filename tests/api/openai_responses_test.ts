// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * The real `openai` package on the Responses wire against a scripted server: loops with functions, freeform tools,
 * namespaces and thinking say the same streamed and whole, with the items sent back or kept by the server.
 *
 * @module
 */
import assert from "node:assert/strict";
import type OpenAI from "openai";
import { type ScriptedServer, serveScript } from "../support/scripted_server.ts";
import { DIALECTS } from "./tool_dialects.ts";

type Items = OpenAI.Responses.ResponseInputItem[];
type Params = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, "model">;

const ADD_NOTE: OpenAI.Responses.FunctionTool = {
  type: "function",
  name: "add_note",
  description: "Keeps a note.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  strict: false,
};
const USER: Items = [{ role: "user", content: "Note: buy figs" }];

async function serve(script: Record<string, unknown>, flags: Record<string, unknown> = {}): Promise<ScriptedServer> {
  return await serveScript({ tools: "hermes", reasoning: "none", repeat: true, ...script }, flags);
}

/** Asks, streamed or whole. */
async function ask(server: ScriptedServer, params: Params, stream: boolean): Promise<OpenAI.Responses.Response> {
  const body = { model: "scripted", ...params };
  if (!stream) return await server.client.responses.create(body);
  const streamed = server.client.responses.stream({ ...body, stream: true });
  const done: unknown[] = [];
  streamed.on("response.output_item.done", ({ item }) => done.push(item));
  const final = await streamed.finalResponse();
  assert.deepEqual(done.map(withoutParsed), final.output.map(withoutParsed));
  return final;
}

/** What the package's own helper adds to items is no part of the wire. */
function withoutParsed(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, one) => key === "parsed" || key === "parsed_arguments" ? undefined : one),
  );
}

/** Without what is drawn anew for each answer. */
function comparable({ output, usage, status }: OpenAI.Responses.Response): unknown {
  const items = output.map((item) => {
    const { id: _, call_id: __, encrypted_content, ...rest } = withoutParsed(item) as Record<string, unknown>;
    return { ...rest, isSealed: typeof encrypted_content === "string" };
  });
  return { items, status, tokens: [usage?.input_tokens, usage?.output_tokens, usage?.output_tokens_details] };
}

function callsOf({ output }: OpenAI.Responses.Response): OpenAI.Responses.ResponseFunctionToolCall[] {
  return output.filter((item) => item.type === "function_call");
}

Deno.test("a loop with a tool runs in every format, items sent back or kept, streamed and whole", async () => {
  for (const dialect of ["hermes", "qwen3_coder_xml", "mistral", "harmony", "gemma4", "lfm"] as const) {
    const end = dialect === "harmony" ? "<|channel|>final<|message|>Noted." : "Noted.";
    const reasoning = dialect === "harmony" ? { reasoning: "harmony" } : {};
    const replies = [{ when: "kept as 7", text: end }, { text: DIALECTS[dialect] }];
    await using server = await serve({ tools: dialect, ...reasoning, replies });
    const [answers, prompts]: [unknown[], string[]] = [[], []];
    for (const stream of [false, true]) {
      for (const isKept of [false, true]) {
        const first = await ask(server, { input: USER, tools: [ADD_NOTE], store: isKept }, stream);
        const calls = callsOf(first);
        assert.deepEqual(calls.map((call) => [call.name, JSON.parse(call.arguments)]), [["add_note", {
          text: "buy figs",
        }]]);
        const results: Items = calls.map(({ call_id }) => ({
          type: "function_call_output",
          call_id,
          output: "kept as 7",
        }));
        const params = isKept
          ? { input: results, previous_response_id: first.id }
          : { input: [...USER, ...first.output as Items, ...results], store: false };
        const second = await ask(server, { ...params, tools: [ADD_NOTE] }, stream);
        assert.deepEqual([second.output_text, second.status], ["Noted.", "completed"], dialect);
        answers.push([comparable(first), comparable(second)]);
        prompts.push(String((await server.asked()).at(-1).prompt).replaceAll(calls[0]?.call_id ?? "", "ID"));
      }
    }
    for (const answer of answers) assert.deepEqual(answer, answers[0], dialect);
    for (const prompt of prompts) assert.equal(prompt, prompts[0], dialect);
  }
});

Deno.test("thinking is told live, as itself or in a summary's place, and comes back the same in each form", async () => {
  const text = `<think>\nI should note it.\n</think>\n${DIALECTS.hermes}`;
  const prompts = new Set<string>();
  for (const summary of [null, "auto"] as const) {
    for (const include of [[], ["reasoning.encrypted_content"]] satisfies OpenAI.Responses.ResponseIncludable[][]) {
      for (const stream of [false, true]) {
        const replies = [{ when: "kept", text: "Noted." }, { text }];
        await using server = await serve({ reasoning: "qwen3", replies });
        const params = { tools: [ADD_NOTE], reasoning: { summary }, include, store: false };
        const first = await ask(server, { ...params, input: USER }, stream);
        const [thought, call] = first.output;
        assert.ok(thought?.type === "reasoning" && call?.type === "function_call");
        const shown = summary === null ? thought.content : thought.summary;
        assert.deepEqual(shown?.map((part) => part.text.trim()), ["I should note it."]);
        assert.equal(typeof thought.encrypted_content === "string", include.length > 0);
        assert.ok((first.usage?.output_tokens_details.reasoning_tokens ?? 0) > 0);
        const sealed = include.length > 0 ? { ...thought, summary: [], content: [] } : thought;
        const result: Items[number] = { type: "function_call_output", call_id: call.call_id, output: "kept" };
        await ask(server, { ...params, input: [...USER, sealed, call, result] }, stream);
        prompts.add(String((await server.asked()).at(-1).prompt).replaceAll(call.call_id, "ID"));
      }
    }
  }
  assert.equal(prompts.size, 1);
  assert.match([...prompts][0] ?? "", /I should note it\./);
});

Deno.test("a freeform tool gets its text, and its call comes back as the model wrote it", async () => {
  const patch = '*** Begin Patch\n+say("hi")\n*** End Patch';
  const definition = 'start: "*** Begin Patch" LF line+ "*** End Patch"\nline: "+" /[^\\n]*/ LF\n%import common.LF';
  const tool: OpenAI.Responses.CustomTool = {
    type: "custom",
    name: "apply_patch",
    format: { type: "grammar", syntax: "lark", definition },
  };
  const call = `<tool_call>\n${JSON.stringify({ name: "apply_patch", arguments: { input: patch } })}\n</tool_call>`;
  for (const stream of [false, true]) {
    await using server = await serve({ replies: [{ when: "applied", text: "Done." }, { text: call }] });
    const first = await ask(server, { input: "Patch it.", tools: [tool] }, stream);
    const [item] = first.output;
    assert.ok(item?.type === "custom_tool_call");
    assert.deepEqual([item.name, item.input], ["apply_patch", patch]);
    const result: Items[number] = { type: "custom_tool_call_output", call_id: item.call_id, output: "applied" };
    const input: Items = [{ role: "user", content: "Patch it." }, item, result];
    assert.equal((await ask(server, { input, tools: [tool] }, stream)).output_text, "Done.");
    const { prompt, tools } = (await server.asked()).at(-1);
    assert.deepEqual(tools, ["apply_patch"]);
    assert.ok(prompt.includes(JSON.stringify(patch)) && prompt.includes("Lark grammar"));
  }
});

Deno.test("a namespace's function is called by both names, and found tools may be called from where they came", async () => {
  const close: OpenAI.Responses.NamespaceTool.Function = {
    type: "function",
    name: "close_agent",
    parameters: { type: "object", properties: { id: { type: "string" } } },
  };
  const group: OpenAI.Responses.NamespaceTool = {
    type: "namespace",
    name: "agents",
    description: "Helpers.",
    tools: [close],
  };
  const search: OpenAI.Responses.ToolSearchTool = {
    type: "tool_search",
    execution: "client",
    description: "Finds tools.",
    parameters: { type: "object", properties: { query: { type: "string" } } },
  };
  const write = (name: string, args: object): string =>
    `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
  const replies = [
    { when: "close_agent", text: write("agents__close_agent", { id: "7" }) },
    { text: write("tool_search", { query: "agents" }) },
  ];
  for (const stream of [false, true]) {
    await using server = await serve({ replies });
    const first = await ask(server, { input: "Close 7.", tools: [search] }, stream);
    const [found] = first.output;
    assert.ok(found?.type === "tool_search_call");
    assert.deepEqual([found.execution, found.arguments], ["client", { query: "agents" }]);
    const output: Items[number] = {
      type: "tool_search_output",
      call_id: found.call_id,
      execution: "client",
      tools: [group],
    };
    const input: Items = [{ role: "user", content: "Close 7." }, found, output];
    const second = await ask(server, { input, tools: [search] }, stream);
    const [call] = callsOf(second);
    assert.deepEqual([call?.name, call?.namespace, call?.arguments], ["close_agent", "agents", '{"id":"7"}']);
    const { tools, prompt } = (await server.asked()).at(-1);
    assert.deepEqual(tools, ["tool_search", "agents__close_agent"]);
    assert.match(prompt, /Helpers\./);
  }
});

Deno.test("text.format binds and is parsed by the package's helper", async () => {
  const schema = {
    type: "object",
    properties: { n: { type: "integer" } },
    required: ["n"],
    additionalProperties: false,
  };
  const format = { type: "json_schema", name: "number", schema, strict: true } as const;
  await using server = await serve({ replies: [{ text: '{"n": 7}' }] });
  const parsed = await server.client.responses.parse({ model: "scripted", input: "A number.", text: { format } });
  assert.deepEqual(parsed.output_parsed, { n: 7 });
  assert.equal((await server.asked()).at(-1).constraint, "json_schema");
});

Deno.test("what was kept is retrieved, listed page by page, counted and deleted by the package", async () => {
  await using server = await serve({ replies: [{ text: "Noted." }] });
  const { responses } = server.client;
  const input: Items = ["one", "two", "three"].map((content) => ({ role: "user", content }));
  const made = await ask(server, { input, instructions: "Be terse." }, false);
  const { output_text, ...kept } = await responses.retrieve(made.id);
  assert.equal(output_text, "Noted.");
  assert.deepEqual(kept, Object.fromEntries(Object.entries(made).filter(([name]) => name !== "output_text")));
  const seen: unknown[] = [];
  for await (const item of responses.inputItems.list(made.id, { limit: 2, order: "asc" })) {
    assert.ok(item.type === "message" && item.id);
    seen.push(item.content.map((part) => "text" in part ? part.text : ""));
  }
  assert.deepEqual(seen, [["one"], ["two"], ["three"]]);
  const counted = await responses.inputTokens.count({ model: "scripted", input, instructions: "Be terse." });
  assert.equal(counted.input_tokens, made.usage?.input_tokens);
  await responses.delete(made.id);
  await assert.rejects(responses.retrieve(made.id), /No response of this id is kept/);
});

Deno.test("what is kept of a request has its numbers to the last digit", async () => {
  await using server = await serve({ replies: [{ text: "Noted." }] });
  const digits = "12345678901234567890";
  const call = `{"type":"tool_search_call","call_id":"1","execution":"client","arguments":{"after":${digits}}}`;
  const body = `{"model":"scripted","input":[${call},{"role":"user","content":"Hi"}]}`;
  const headers = { "content-type": "application/json" };
  const { id } = await (await fetch(`${server.url}/v1/responses`, { method: "POST", headers, body })).json();
  const items = await (await fetch(`${server.url}/v1/responses/${id}/input_items`)).text();
  assert.ok(items.includes(`"after":${digits}}`), items);
  await ask(server, { input: "And?", previous_response_id: id }, false);
  for (const { prompt } of await server.asked()) assert.ok(prompt.includes(`"after": ${digits}}`), prompt);
});

Deno.test("numbers of a search, and of a found tool's schema, are given to their last digit", async () => {
  const digits = "12345678901234567890";
  const text = `<tool_call>\n{"name": "tool_search", "arguments": {"after": ${digits}}}\n</tool_call>`;
  await using server = await serve({ replies: [{ text }] });
  const found =
    `{"type":"function","name":"f","parameters":{"type":"object","properties":{"n":{"maximum":${digits}}}}}`;
  const search = '{"type":"tool_search","execution":"client","parameters":{"type":"object"}}';
  const items = `{"role":"user","content":"Hi"},{"type":"tool_search_output","call_id":"1","tools":[${found}]}`;
  const body = `{"model":"scripted","input":[${items}],"tools":[${search}]}`;
  const answer = await (await fetch(`${server.url}/v1/responses`, { method: "POST", body })).text();
  assert.ok(answer.includes(`"arguments":{"after":${digits}}`), answer);
  assert.ok((await server.asked())[0].prompt.includes(`"maximum":${digits}`));
});
