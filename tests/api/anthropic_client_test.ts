// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * The real `@anthropic-ai/sdk` package against a scripted server: it must not notice that it does not talk with
 * Anthropic. A loop with a tool and thinking, streamed and whole, says the same.
 *
 * @module
 */
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { type ScriptedServer, serveScript } from "../support/scripted_server.ts";
import { DIALECTS } from "./tool_dialects.ts";

const ADD_NOTE: Anthropic.Tool = {
  name: "add_note",
  description: "Keeps a note.",
  input_schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};
const USER: Anthropic.MessageParam[] = [{ role: "user", content: "Note: buy figs" }];
const CALL = '<tool_call>\n{"name": "add_note", "arguments": {"text": "buy figs"}}\n</tool_call>';
const ADAPTIVE: Anthropic.ThinkingConfigParam = { type: "adaptive" };

interface Served extends AsyncDisposable {
  client: Anthropic;
  server: ScriptedServer;
}

async function serve(script: Record<string, unknown>, flags: Record<string, unknown> = {}): Promise<Served> {
  const server = await serveScript({ tools: "hermes", reasoning: "qwen3", repeat: true, ...script }, flags);
  const client = new Anthropic({ baseURL: server.url, apiKey: "unused", maxRetries: 0, logLevel: "off" });
  return { client, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

type Params = Omit<Anthropic.MessageCreateParamsNonStreaming, "model" | "max_tokens">;

/** Asks, streamed or whole. */
async function ask({ client }: Served, params: Params, stream: boolean): Promise<Anthropic.Message> {
  const body = { model: "scripted", max_tokens: 1000, ...params };
  return stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
}

/** Without what is drawn anew for each answer. */
function comparable({ id: _, usage, content, ...message }: Anthropic.Message): unknown {
  const { input_tokens, output_tokens, output_tokens_details } = usage;
  Reflect.deleteProperty(message, "parsed_output"); // the stream helper's own
  return {
    ...message,
    content: content.map(toComparableBlock),
    usage: { input_tokens, output_tokens, output_tokens_details },
  };
}

function toComparableBlock(block: Anthropic.ContentBlock): unknown {
  if (block.type === "tool_use") return { ...block, id: "" };
  return block.type === "thinking" ? { ...block, signature: "" } : block;
}

Deno.test("a loop with a tool and thinking runs in every format, and streams say what whole answers say", async () => {
  for (const dialect of ["hermes", "qwen3_coder_xml", "mistral", "harmony", "gemma4", "lfm"] as const) {
    const end = dialect === "harmony" ? "<|channel|>final<|message|>Noted." : "Noted.";
    const reasoning = dialect === "harmony" ? {} : { reasoning: "none" };
    const replies = [{ when: "kept as 7", text: end }, { text: DIALECTS[dialect] }];
    await using served = await serve({ tools: dialect, ...reasoning, replies });
    const answers = [];
    for (const stream of [false, true]) {
      const first = await ask(served, { messages: USER, tools: [ADD_NOTE] }, stream);
      assert.equal(first.stop_reason, "tool_use");
      const calls = first.content.filter((block) => block.type === "tool_use");
      assert.deepEqual(calls.map(({ name, input }) => [name, input]), [["add_note", { text: "buy figs" }]], dialect);
      const results = calls.map(({ id }): Anthropic.ToolResultBlockParam => (
        { type: "tool_result", tool_use_id: id, content: [{ type: "text", text: "kept as 7" }] }
      ));
      const messages: Anthropic.MessageParam[] = [
        ...USER,
        { role: "assistant", content: first.content },
        { role: "user", content: results },
      ];
      const second = await ask(served, { messages, tools: [ADD_NOTE] }, stream);
      assert.deepEqual(second.content.map((block) => block.type === "text" && block.text), ["Noted."]);
      assert.equal(second.stop_reason, "end_turn");
      answers.push([comparable(first), comparable(second)]);
    }
    assert.deepEqual(answers[0], answers[1], dialect);
  }
});

Deno.test("thinking is shown, sealed or hidden as asked, and comes back the same in each form", async () => {
  const thought = `<think>\nI should note it.\n</think>\n${CALL}`;
  const prompts: string[] = [];
  for (const display of ["summarized", "omitted"] as const) {
    for (const stream of [false, true]) {
      await using served = await serve({ replies: [{ when: "kept", text: "Noted." }, { text: thought }] });
      const params = { messages: USER, tools: [ADD_NOTE], thinking: { ...ADAPTIVE, display } };
      const first = await ask(served, params, stream);
      assert.deepEqual(first.content.map(({ type }) => type), ["thinking", "tool_use"]);
      const [block, call] = first.content;
      assert.ok(block?.type === "thinking" && call?.type === "tool_use");
      assert.equal(block.thinking.trim(), display === "omitted" ? "" : "I should note it.");
      assert.ok(block.signature.length > 40 && !atob(block.signature).includes("note"));
      assert.ok((first.usage.output_tokens_details?.thinking_tokens ?? 0) > 0);
      const results: Anthropic.MessageParam = {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: call.id, content: "kept" }],
      };
      await ask(
        served,
        { ...params, messages: [...USER, { role: "assistant", content: first.content }, results] },
        stream,
      );
      const asked = await served.server.asked();
      prompts.push(String(asked.at(-1).prompt).replaceAll(call.id, "ID"));
    }
  }
  assert.match(prompts[0] ?? "", /I should note it\./);
  assert.deepEqual(new Set(prompts).size, 1, prompts.join("\n\n---\n\n"));
});

Deno.test("thinking that was not asked for is not shown, and an answer of nothing else says so", async () => {
  await using served = await serve({
    replies: [{ text: "<think>\nHm.\n</think>\nSo." }, { text: "<think>\nHm.\n</think>" }],
  });
  for (const stream of [false, true]) {
    const { content } = await ask(served, { messages: USER }, stream);
    assert.deepEqual(content.map((block) => block.type === "text" && block.text.trim()), ["So."]);
    const empty = await ask(served, { messages: USER }, stream);
    assert.deepEqual([empty.content, empty.stop_reason], [[], "end_turn"]);
    if (!stream) assert.deepEqual(Reflect.get(empty, "rapid_mlx"), { empty: "thinking_only" });
  }
});

Deno.test("a budget ends the thinking at exactly that token, shown and sealed", async () => {
  const chunks = ["<think>", " one", " two", " three", " four", " five", "</think>", "It", " is", " so."];
  await using served = await serve({ replies: [{ chunks }] });
  for (const display of ["summarized", "omitted"] as const) {
    for (const stream of [false, true]) {
      const thinking = { type: "enabled", budget_tokens: 3, display } as const;
      const { content, usage } = await ask(served, { messages: USER, thinking }, stream);
      const [block, text] = content;
      assert.ok(block?.type === "thinking" && text?.type === "text");
      assert.equal(block.thinking.trim(), display === "omitted" ? "" : "one two three");
      assert.equal(text.text.trim(), "It is so.");
      assert.equal(usage.output_tokens_details?.thinking_tokens, 3);
    }
  }
});

Deno.test("a call that is cut never leaves as one", async () => {
  await using served = await serve({ replies: [{ text: CALL }] });
  for (const stream of [false, true]) {
    const body = { model: "scripted", max_tokens: 8, messages: USER, tools: [ADD_NOTE] };
    const cut = stream
      ? await served.client.messages.stream(body).finalMessage()
      : await served.client.messages.create(body);
    assert.deepEqual([cut.stop_reason, cut.content.map(({ type }) => type)], ["max_tokens", ["text"]]);
  }
});

Deno.test("two calls of one answer are two blocks, unless the client wants one", async () => {
  await using served = await serve({ replies: [{ text: `Both.\n${CALL}\n${CALL}` }] });
  for (const stream of [false, true]) {
    const both = await ask(served, { messages: USER, tools: [ADD_NOTE] }, stream);
    assert.deepEqual(both.content.map(({ type }) => type), ["text", "tool_use", "tool_use"]);
    const tool_choice = { type: "auto", disable_parallel_tool_use: true } as const;
    const one = await ask(served, { messages: USER, tools: [ADD_NOTE], tool_choice }, stream);
    assert.deepEqual(one.content.map(({ type }) => type), ["text", "tool_use"]);
  }
});

Deno.test("countTokens counts what is prefilled: system, tools, thinking and results included", async () => {
  await using served = await serve({ replies: [{ text: "Noted." }] });
  const call: Anthropic.ToolUseBlockParam = { type: "tool_use", id: "toolu_1", name: "add_note", input: { text: "x" } };
  const result: Anthropic.ToolResultBlockParam = { type: "tool_result", tool_use_id: "toolu_1", content: "kept" };
  const rows: Params[] = [
    { messages: USER },
    { messages: USER, system: [{ type: "text", text: "Be terse.", cache_control: { type: "ephemeral" } }] },
    { messages: USER, tools: [ADD_NOTE], thinking: ADAPTIVE },
    {
      messages: [...USER, { role: "assistant", content: [call] }, { role: "user", content: [result] }],
      tools: [ADD_NOTE],
    },
  ];
  const counts = [];
  for (const params of rows) {
    const { input_tokens } = await served.client.messages.countTokens({ model: "scripted", ...params });
    const { usage } = await ask(served, params, false);
    assert.equal(usage.input_tokens + (usage.cache_read_input_tokens ?? 0), input_tokens);
    counts.push(input_tokens);
  }
  assert.equal(new Set(counts).size, rows.length);
});

Deno.test("structured output is bound by its schema, and parse gives the value", async () => {
  await using served = await serve({ replies: [{ text: '{"title": "Figs"}' }] });
  const schema = {
    type: "object",
    properties: { title: { type: "string" } },
    required: ["title"],
    additionalProperties: false,
  };
  const output_config = { effort: "low", format: { type: "json_schema", schema } } as const;
  const { content } = await ask(served, { messages: USER, output_config }, false);
  assert.deepEqual(content.map((block) => block.type === "text" && JSON.parse(block.text)), [{ title: "Figs" }]);
  const [asked] = await served.server.asked();
  assert.equal(asked.constraint, "json_schema");
});

Deno.test("the package's error classes see the wire's errors: refused, unknown, busy, broken midway", async () => {
  await using served = await serve({
    context_tokens: 200,
    replies: [{ when: "busy", status: 429, retry_after: 3 }, {
      when: "break",
      text: "It is so",
      error_after_tokens: 2,
    }],
  });
  const { messages } = served.client;
  const body = (content: string): Anthropic.MessageCreateParamsNonStreaming => (
    { model: "scripted", max_tokens: 10, messages: [{ role: "user", content }] }
  );
  await assert.rejects(messages.create(body("long ".repeat(400))), (error: unknown) => {
    assert.ok(error instanceof Anthropic.BadRequestError);
    assert.match(error.message, /prompt is too long: \d+ tokens > 199 maximum/);
    assert.match(error.requestID ?? "", /^req-/);
    return true;
  });
  await assert.rejects(messages.create({ ...body("x"), model: "nothing" }), Anthropic.NotFoundError);
  await assert.rejects(messages.create(body("busy")), (error: unknown) => {
    assert.ok(error instanceof Anthropic.RateLimitError);
    assert.deepEqual([error.type, error.headers?.get("retry-after")], ["rate_limit_error", "3"]);
    return true;
  });
  await assert.rejects(messages.stream(body("break")).finalMessage(), Anthropic.APIError);
  await assert.rejects(messages.create(body("break")), Anthropic.InternalServerError);
});
