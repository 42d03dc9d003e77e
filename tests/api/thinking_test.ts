// deno-lint-ignore-file camelcase -- the wire's own names
/** Thinking control on a scripted server: what the fields do to the answer, and what the server says that it did. */
import assert from "node:assert/strict";
import { serveScript } from "../support/scripted_server.ts";

const MESSAGES = [{ role: "user", content: "Think." }];
const THOUGHTS = ["<think>", " one", " two", " three", " four", " five", "</think>", "It", " is", " so."];

interface Answer {
  message: { content: string | null; reasoning_content?: string; tool_calls?: unknown[] };
  finish: string;
  reasoningTokens: number | undefined;
  completionTokens: number;
  ignored: string | null;
  thinking: { enabled: boolean | null; budget: number | null; effort: string | null };
}

/** Asks once, streamed or not; both must say the same. */
async function ask(script: Record<string, unknown>, fields: Record<string, unknown>): Promise<Answer> {
  const [whole, streamed] = [await askOnce(script, fields, false), await askOnce(script, fields, true)];
  assert.deepEqual(streamed, whole);
  return whole;
}

async function askOnce(
  script: Record<string, unknown>,
  fields: Record<string, unknown>,
  stream: boolean,
): Promise<Answer> {
  await using served = await serveScript({ reasoning: "qwen3", ...script });
  const options = stream ? { stream, stream_options: { include_usage: true } } : {};
  const response = await fetch(`${served.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: MESSAGES, ...options, ...fields }),
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const [asked] = await served.asked();
  const { choice, usage } = stream ? joinChunks(text) : readWhole(text);
  return {
    message: choice.message,
    finish: choice.finish_reason,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens,
    completionTokens: usage.completion_tokens,
    ignored: response.headers.get("x-rapid-mlx-ignored"),
    thinking: asked.thinking,
  };
}

// deno-lint-ignore no-explicit-any -- a test reads what it expects
type Read = { choice: any; usage: any };

function readWhole(text: string): Read {
  const { choices, usage } = JSON.parse(text);
  const { content, reasoning_content: reasoning, tool_calls: calls } = choices[0].message;
  return { choice: toChoice(content ?? "", reasoning ?? "", calls, choices[0].finish_reason), usage };
}

function joinChunks(text: string): Read {
  const chunks = text.split("\n\n").filter((frame) => frame.startsWith("data: {")).map((f) => JSON.parse(f.slice(6)));
  let [content, reasoning, finish, calls] = ["", "", "", 0];
  for (const { choices } of chunks) {
    content += choices[0]?.delta.content ?? "";
    reasoning += choices[0]?.delta.reasoning_content ?? "";
    calls += (choices[0]?.delta.tool_calls ?? []).filter((call: { id?: string }) => call.id !== undefined).length;
    finish = choices[0]?.finish_reason ?? finish;
  }
  const usage = chunks.findLast((chunk) => chunk.usage)?.usage;
  return { choice: toChoice(content, reasoning, calls > 0 ? Array(calls) : undefined, finish), usage };
}

function toChoice(content: string, reasoning: string, calls: unknown[] | undefined, finish: string): unknown {
  const message = { content, reasoning_content: reasoning, ...(calls && { tool_calls: calls.length }) };
  return { message, finish_reason: finish };
}

const BUDGETS: [name: string, fields: Record<string, unknown>][] = [
  ["reasoning_max_tokens", { reasoning_max_tokens: 3 }],
  ["thinking_budget", { thinking_budget: 3 }],
  ["chat_template_kwargs.thinking_budget", { chat_template_kwargs: { thinking_budget: 3 } }],
  ["thinking.budget_tokens", { thinking: { type: "enabled", budget_tokens: 3 } }],
  ["reasoning.max_tokens", { reasoning: { max_tokens: 3 } }],
];

for (const [name, fields] of BUDGETS) {
  Deno.test(`${name} ends the thinking at exactly that token, and the answer follows`, async () => {
    const answer = await ask({ replies: [{ chunks: THOUGHTS }] }, fields);
    assert.deepEqual(answer.message, { content: "It is so.", reasoning_content: "one two three" });
    assert.deepEqual([answer.finish, answer.reasoningTokens, answer.thinking.budget], ["stop", 3, 3]);
    assert.equal(answer.ignored, null);
  });
}

Deno.test("A budget counts in a block that the template opened, and with tools beside", async () => {
  const call = '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>';
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }];
  const chunks = ["one", " two", " three", "</think>", "\n\n", call];
  const reply = { prompt_open: "<think>\n", chunks };
  const answer = await ask({ tools: "hermes", replies: [reply] }, { tools, reasoning_max_tokens: 2 });
  assert.deepEqual(answer.message, { content: "", reasoning_content: "one two", tool_calls: 1 });
  assert.deepEqual([answer.finish, answer.reasoningTokens], ["tool_calls", 2]);
});

Deno.test("A budget that is not reached changes nothing", async () => {
  const answer = await ask({ replies: [{ chunks: THOUGHTS }] }, { reasoning_max_tokens: 6 });
  const free = await ask({ replies: [{ chunks: THOUGHTS }] }, {});
  assert.deepEqual([answer.message, answer.completionTokens], [free.message, free.completionTokens]);
});

Deno.test("Thinking that would use up max_tokens leaves the answer its quarter", async () => {
  const chunks = ["<think>", ...Array(30).fill("hm "), "</think>", ...Array(9).fill(" so")];
  const answer = await ask({ replies: [{ chunks }] }, { max_tokens: 20 });
  // 1 opening, 11 thoughts, 3 closing (the tag and two line ends), 5 of the answer.
  assert.deepEqual([answer.reasoningTokens, answer.finish, answer.completionTokens], [11, "length", 20]);
  assert.equal(answer.message.content, "so so so so so");
});

Deno.test("A turn that would end with thinking is closed and goes on", async () => {
  const answer = await ask({ replies: [{ chunks: ["<think>", "Let", " me", " see"] }] }, {});
  assert.deepEqual(answer.message, { content: "", reasoning_content: "Let me see" });
  // The script has nothing more to say: the three tokens that close were played.
  assert.deepEqual([answer.finish, answer.completionTokens], ["stop", 7]);
});

Deno.test("Efforts are budgets where the template has no words for them, and none is no thinking", async () => {
  const replies = [{ chunks: THOUGHTS }];
  const thinking = async (fields: Record<string, unknown>): Promise<unknown> =>
    (await ask({ replies }, fields)).thinking;
  assert.deepEqual(await thinking({ reasoning_effort: "low" }), { enabled: null, budget: 512, effort: "low" });
  assert.deepEqual(await thinking({ reasoning: { effort: "medium" } }), {
    enabled: null,
    budget: 2048,
    effort: "medium",
  });
  assert.deepEqual(await thinking({ reasoning_effort: "high", reasoning_max_tokens: 7 }), {
    enabled: null,
    budget: 7,
    effort: "high",
  });
  assert.deepEqual(await thinking({ reasoning_effort: "none" }), { enabled: false, budget: null, effort: "none" });
  assert.deepEqual(await thinking({ thinking: { type: "disabled" } }), { enabled: false, budget: null, effort: null });
  assert.deepEqual(await thinking({ enable_thinking: true }), { enabled: true, budget: null, effort: null });
});

Deno.test("A budget that can't be kept is listed as ignored: no parser of reasoning, or thinking that is off", async () => {
  const replies = [{ chunks: ["x"] }];
  const plain = await ask({ reasoning: "none", replies }, { reasoning_max_tokens: 5 });
  assert.deepEqual([plain.ignored, plain.thinking.budget], ["reasoning_max_tokens", null]);
  const off = await ask({ replies }, { enable_thinking: false, thinking: { budget_tokens: 5, display: "omitted" } });
  assert.deepEqual([off.ignored, off.thinking.budget], ["thinking.display, thinking.budget_tokens", null]);
});

Deno.test("A budget of nothing that makes sense is refused by its name", async () => {
  await using served = await serveScript({ reasoning: "qwen3", replies: [{ chunks: ["x"] }] });
  for (
    const [param, fields] of Object.entries({
      reasoning_max_tokens: { reasoning_max_tokens: 0 },
      "thinking.budget_tokens": { thinking: { type: "enabled", budget_tokens: -1 } },
      thinking_budget: { thinking_budget: 1.5 },
    })
  ) {
    const response = await fetch(`${served.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: MESSAGES, ...fields }),
    });
    const { error } = await response.json();
    assert.deepEqual([response.status, error.param], [400, param]);
  }
});

Deno.test("An answer that ends by itself without content says why, whole and streamed", async () => {
  const cases: [text: string, finish: string, empty: string | undefined][] = [
    ["<think>Let me see", "stop", "thinking_only"],
    ["<think>Let me see</think>", "stop", "thinking_only"],
    ["", "stop", "nothing_said"],
    ["<think>Let me see</think>So.", "stop", undefined],
    ["<think>Let me see", "length", undefined],
  ];
  for (const [text, finish, empty] of cases) {
    await using served = await serveScript({ reasoning: "qwen3", replies: [{ text, finish }], repeat: true });
    const body = { model: "scripted", messages: [{ role: "user" as const, content: "x" }] };
    const whole = await served.client.chat.completions.create(body);
    let last: unknown;
    for await (const chunk of await served.client.chat.completions.create({ ...body, stream: true })) {
      last = chunk.choices[0] ?? last;
    }
    for (const choice of [whole.choices[0], last] as { finish_reason: string; rapid_mlx?: { empty: string } }[]) {
      assert.deepEqual([choice.finish_reason, choice.rapid_mlx?.empty], [finish, empty], text);
    }
  }
});
