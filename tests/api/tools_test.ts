// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Tools and reasoning on chat completions, through the real `openai` package on the scripted server.
 *
 * @module
 */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { ANSWER_PARSERS } from "../../src/output/decoder.ts";
import { type ScriptedServer, serveScript } from "../support/scripted_server.ts";
import { calledIn, DIALECTS } from "./tool_dialects.ts";

type Message = OpenAI.ChatCompletionMessage & { reasoning_content?: string };
type Body = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, "model">;

const TOOLS: OpenAI.ChatCompletionTool[] = [
  {
    type: "function",
    function: {
      name: "add_note",
      description: "Keeps a note.",
      parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    },
  },
  { type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } },
];
const USER: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Note: buy figs" }];
const CALL = '<tool_call>\n{"name": "add_note", "arguments": {"text": "buy figs"}}\n</tool_call>';
const LOOK = '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>';

/** What an answer comes to, however it was sent. */
interface Answer {
  message: Message;
  finish: string | null | undefined;
  usage: OpenAI.CompletionUsage | undefined;
}

/** Asks whole or streamed; a stream is joined by hand and checked for its shape. */
async function ask({ client }: ScriptedServer, body: Body, stream: boolean): Promise<Answer> {
  if (!stream) {
    const { choices: [choice], usage } = await client.chat.completions.create({ model: "scripted", ...body });
    assert.ok(choice);
    return { message: choice.message, finish: choice.finish_reason, usage };
  }
  const answer: Answer = { message: { role: "assistant", content: "", refusal: null }, finish: null, usage: undefined };
  let first = true;
  const options = { stream: true, stream_options: { include_usage: true } } as const;
  for await (const chunk of await client.chat.completions.create({ model: "scripted", ...body, ...options })) {
    if (chunk.usage) answer.usage = chunk.usage;
    const [choice] = chunk.choices;
    if (choice === undefined) continue;
    if (first) assert.equal(choice.delta.role, "assistant");
    first = false;
    join(answer.message, choice.delta);
    answer.finish = choice.finish_reason ?? answer.finish;
  }
  return answer;
}

/** Adds a delta: the first of a call has index, id, type and name, later ones have index and arguments. */
function join(message: Message, delta: OpenAI.ChatCompletionChunk.Choice.Delta & { reasoning_content?: string }): void {
  message.content += delta.content ?? "";
  if (delta.reasoning_content) message.reasoning_content = (message.reasoning_content ?? "") + delta.reasoning_content;
  if (delta.function_call) {
    message.function_call ??= { name: delta.function_call.name ?? "", arguments: "" };
    message.function_call.arguments += delta.function_call.arguments ?? "";
  }
  for (const part of delta.tool_calls ?? []) {
    const calls = message.tool_calls ??= [];
    const known = calls[part.index];
    if (known === undefined) {
      assert.equal(part.index, calls.length);
      assert.equal(part.type, "function");
      assert.ok(part.id && part.function?.name);
      const called = { name: part.function.name, arguments: part.function.arguments ?? "" };
      calls.push({ id: part.id, type: "function", function: called });
    } else {
      assert.deepEqual(Object.keys(part).sort(), ["function", "index"]);
      assert.ok(known.type === "function");
      known.function.arguments += part.function?.arguments ?? "";
    }
  }
}

/** An answer without what chance decides. */
function comparable({ message, finish, usage }: Answer): unknown {
  const calls = message.tool_calls?.map((call) => call.type === "function" ? call.function : call);
  return { ...message, tool_calls: calls, finish, tokens: usage?.completion_tokens };
}

/** Both ways of one request, which must come to the same. */
async function askBoth(script: Record<string, unknown>, body: Body): Promise<Answer> {
  await using served = await serveScript({ tools: "hermes", ...script, repeat: true });
  const whole = await ask(served, body, false);
  const streamed = await ask(served, body, true);
  assert.deepEqual(comparable(streamed), comparable(whole));
  return whole;
}

for (const dialect of ANSWER_PARSERS.filter((name) => name !== "none")) {
  for (const stream of [false, true]) {
    Deno.test(`A loop of two steps ends in ${dialect}, ${stream ? "streamed" : "whole"}`, async () => {
      const text = DIALECTS[dialect];
      assert.ok(text !== undefined, "tool_dialects.ts has no example of this format");
      const end = dialect === "harmony" ? "<|channel|>final<|message|>Noted." : "Noted.";
      await using served = await serveScript({ tools: dialect, replies: [{ text }, { when: "kept as 7", text: end }] });
      const wanted = calledIn(dialect);
      const tools = TOOLS.map((tool): OpenAI.ChatCompletionTool => (
        tool.type === "function" && tool.function.name === "add_note" && wanted.name !== "add_note"
          ? { type: "function", function: { name: wanted.name, parameters: { type: "object" } } }
          : tool
      ));
      const first = await ask(served, { messages: USER, tools }, stream);
      assert.equal(first.finish, "tool_calls");
      const [call, ...more] = first.message.tool_calls ?? [];
      assert.ok(call?.type === "function" && more.length === 0);
      assert.equal(call.function.name, wanted.name);
      assert.deepEqual(JSON.parse(call.function.arguments), wanted.arguments);
      const result = { role: "tool" as const, tool_call_id: call.id, content: "kept as 7" };
      const second = await ask(served, { messages: [...USER, first.message, result], tools }, stream);
      assert.deepEqual([second.finish, second.message.content], ["stop", "Noted."]);
      const [asked, again] = await served.asked();
      assert.deepEqual(asked.tools, [wanted.name, "look"]);
      assert.ok(again.prompt.includes(`[${call.id}] kept as 7`), "the result is not in the prompt under its id");
      assert.ok(again.prompt.includes(`<tool_call>\n{"name": "${wanted.name}"`), "the call is not in the prompt");
    });
  }
}

Deno.test("The package's own tool runner runs a tool and ends", async () => {
  await using served = await serveScript({ tools: "hermes", replies: [{ text: CALL }, { text: "Done." }] });
  const notes: unknown[] = [];
  const runner = served.client.chat.completions.runTools({
    model: "scripted",
    stream: true,
    messages: USER,
    tools: [{
      type: "function",
      function: {
        name: "add_note",
        description: "Keeps a note.",
        parse: JSON.parse,
        parameters: { type: "object", properties: { text: { type: "string" } } },
        function: (note: { text: string }): string => {
          notes.push(note.text);
          return "ok";
        },
      },
    }],
  });
  assert.equal(await runner.finalContent(), "Done.");
  assert.deepEqual(notes, ["buy figs"]);
});

Deno.test("Several calls come in order, and words around them stay content", async () => {
  const { message, finish } = await askBoth({ replies: [{ text: `First ${CALL}\n${LOOK}` }] }, {
    messages: USER,
    tools: TOOLS,
  });
  assert.equal(finish, "tool_calls");
  assert.deepEqual(message.tool_calls?.map((call) => call.type === "function" && call.function.name), [
    "add_note",
    "look",
  ]);
  assert.match(message.content ?? "", /^First/);
});

Deno.test("Without parallel calls there is one, and the rest is counted as repairs", async () => {
  const body: Body = { messages: USER, tools: TOOLS, parallel_tool_calls: false };
  const { message, finish, usage } = await askBoth({ replies: [{ text: `${CALL}\n${LOOK}` }] }, body);
  assert.equal(finish, "tool_calls");
  assert.equal(message.tool_calls?.length, 1);
  assert.ok(Reflect.get(Reflect.get(usage ?? {}, "rapid_mlx"), "repairs") >= 1);
});

Deno.test("A call that is cut never leaves as a call, and says length", async () => {
  for (let tokens = 1; tokens < 12; tokens++) {
    const body: Body = { messages: USER, tools: TOOLS, max_tokens: tokens };
    const { message, finish } = await askBoth({ replies: [{ text: CALL }] }, body);
    assert.deepEqual([message.tool_calls, finish], [undefined, "length"]);
  }
});

Deno.test("A tool that is not declared, or that may not be called, is text", async () => {
  const undeclared: Body = { messages: USER, tools: TOOLS.slice(1) };
  const none: Body = { messages: USER, tools: TOOLS, tool_choice: "none" };
  for (const body of [undeclared, none, { messages: USER }]) {
    const { message, finish } = await askBoth({ replies: [{ text: CALL }] }, body);
    assert.deepEqual([message.tool_calls, finish], [undefined, "stop"]);
    assert.match(message.content ?? "", /add_note/);
  }
});

Deno.test("With none the prompt has no tools, with a name it has that one", async () => {
  await using served = await serveScript({ tools: "hermes", replies: [{ text: CALL }], repeat: true });
  await ask(served, { messages: USER, tools: TOOLS, tool_choice: "none" }, false);
  const named = { type: "function", function: { name: "add_note" } } as const;
  const answer = await ask(served, { messages: USER, tools: TOOLS, tool_choice: named }, true);
  assert.equal(answer.finish, "tool_calls");
  const [none, one] = await served.asked();
  assert.deepEqual([none.tools, one.tools], [[], ["add_note"]]);
  assert.ok(!none.prompt.includes("Keeps a note."));
  assert.ok(one.prompt.includes("Keeps a note.") && !one.prompt.includes('"look"'));
});

Deno.test("A required call that the model does not make is a 422, and an error in a stream that has shown nothing", async () => {
  await using served = await serveScript({ tools: "hermes", replies: [{ text: "I would rather not." }], repeat: true });
  const choices = ["required", { type: "function", function: { name: "look" } }] as const;
  for (const choice of choices) {
    const body: Body = { messages: USER, tools: TOOLS, tool_choice: choice };
    await assert.rejects(ask(served, body, false), (error: unknown) => {
      assert.ok(error instanceof OpenAI.UnprocessableEntityError);
      assert.equal(error.code, "tool_choice_required_unfulfilled");
      return true;
    });
    let shown = "";
    await assert.rejects(async () => {
      const stream = await served.client.chat.completions.create({ model: "scripted", ...body, stream: true });
      for await (const chunk of stream) shown += chunk.choices[0]?.delta.content ?? "";
    }, (error: unknown) => error instanceof OpenAI.APIError && error.code === "tool_choice_required_unfulfilled");
    assert.equal(shown, "");
  }
});

Deno.test("The old word for a call that has to be made is one that has to be made", async () => {
  const body = { messages: USER, tools: TOOLS, tool_choice: "function" } as unknown as Body;
  const made = await askBoth({ replies: [{ text: CALL }] }, body);
  assert.equal(made.finish, "tool_calls");
  await using served = await serveScript({ tools: "hermes", replies: [{ text: "I would rather not." }], repeat: true });
  await assert.rejects(ask(served, body, false), { status: 422, code: "tool_choice_required_unfulfilled" });
  const { tools: _tools, ...bare } = body;
  await assert.rejects(ask(served, bare, false), { status: 400, code: "tool_choice_required_without_tools" });
});

Deno.test("A required call that is made comes with the words before it; one that is cut says length", async () => {
  const body: Body = { messages: USER, tools: TOOLS, tool_choice: "required" };
  const made = await askBoth({ replies: [{ text: `Well: ${CALL}` }] }, body);
  assert.equal(made.finish, "tool_calls");
  assert.match(made.message.content ?? "", /^Well:/);
  const cut = await askBoth({ replies: [{ text: "Well, I think" }] }, { ...body, max_tokens: 3 });
  assert.deepEqual([cut.finish, cut.message.tool_calls], ["length", undefined]);
  assert.match(cut.message.content ?? "", /^Well/);
});

const WRONG: [name: string, body: Record<string, unknown>, code: string, param: string][] = [
  [
    "a choice of an unknown tool",
    {
      tools: TOOLS,
      tool_choice: { type: "function", function: { name: "gone" } },
    },
    "tool_choice_unknown_function",
    "tool_choice",
  ],
  [
    "a choice without a name",
    {
      tools: TOOLS,
      tool_choice: { type: "function", function: {} },
    },
    "tool_choice_missing_name",
    "tool_choice.function.name",
  ],
  ["a choice that is no word", { tools: TOOLS, tool_choice: "any" }, "invalid_request", "tool_choice"],
  ["a choice in capitals", { tools: TOOLS, tool_choice: "FUNCTION" }, "invalid_request", "tool_choice"],
  [
    "a required call without tools",
    {
      tool_choice: "required",
    },
    "tool_choice_required_without_tools",
    "tool_choice",
  ],
  ["a tool without a function", { tools: [{ type: "function" }] }, "invalid_request", "tools[0].function"],
  [
    "a name that no format can write",
    {
      tools: [{ type: "function", function: { name: "a b" } }],
    },
    "invalid_request",
    "tools[0].function.name",
  ],
  [
    "a choice that names nothing",
    { tools: TOOLS, tool_choice: { type: "function" } },
    "tool_choice_missing_name",
    "tool_choice.function.name",
  ],
  ["a tool declared twice", { tools: [...TOOLS, TOOLS[0]] }, "invalid_request", "tools[2].function.name"],
  ["a custom tool", { tools: [{ type: "custom", custom: { name: "x" } }] }, "unsupported_field", "tools[0].type"],
  [
    "old and new fields together",
    {
      tools: TOOLS,
      functions: [{ name: "f" }],
    },
    "unsupported_combination",
    "functions",
  ],
  [
    "a result without a call",
    {
      messages: [{ role: "tool", content: "x" }],
    },
    "invalid_request",
    "messages[0].tool_call_id",
  ],
];

Deno.test("What is wrong with tools is told with its code and path", async () => {
  await using served = await serveScript({ tools: "hermes", replies: [{ text: "x" }], repeat: true });
  for (const [name, body, code, param] of WRONG) {
    await assert.rejects(ask(served, { messages: USER, ...body } as Body, false), (error: unknown) => {
      assert.ok(error instanceof OpenAI.BadRequestError, name);
      assert.deepEqual([error.code, error.param], [code, param], name);
      return true;
    });
  }
});

Deno.test("A model whose profile names no parser refuses tools by name", async () => {
  await using served = await serveScript({ replies: [{ text: "x" }] });
  await assert.rejects(ask(served, { messages: USER, tools: TOOLS }, false), (error: unknown) => {
    return error instanceof OpenAI.BadRequestError && error.code === "unsupported_field" && error.param === "tools";
  });
});

Deno.test("Legacy functions are answered as a function call, and their results are taken", async () => {
  const functions = [{ name: "add_note", parameters: { type: "object", properties: { text: { type: "string" } } } }];
  const { message, finish } = await askBoth({ replies: [{ text: CALL }] }, { messages: USER, functions });
  assert.equal(finish, "function_call");
  assert.equal(message.function_call?.name, "add_note");
  assert.deepEqual(JSON.parse(message.function_call?.arguments ?? ""), { text: "buy figs" });
  assert.equal(message.tool_calls, undefined);
  await using served = await serveScript({ tools: "hermes", replies: [{ when: "kept", text: "Noted." }] });
  const result: OpenAI.ChatCompletionMessageParam = { role: "function", name: "add_note", content: "kept" };
  const next = await ask(served, { messages: [...USER, { ...message, content: null }, result], functions }, false);
  assert.equal(next.message.content, "Noted.");
});

Deno.test("Histories of other servers are taken: foreign ids, null content, parts, objects as arguments, no ids", async () => {
  await using served = await serveScript({ tools: "hermes", replies: [{ text: "ok" }], repeat: true });
  const call = (id: string | undefined, given: unknown): unknown => ({
    ...(id !== undefined && { id }),
    type: "function",
    function: { name: "add_note", arguments: given },
  });
  const messages: unknown[] = [
    { role: "system", content: "Be" },
    { role: "user", content: [{ type: "text", text: "one" }, { type: "text", text: "two" }] },
    { role: "assistant", content: null, tool_calls: [call("functions.add_note:0", '{"text":"a"}')] },
    { role: "tool", tool_call_id: "functions.add_note:0", content: [{ type: "text", text: "kept a" }] },
    { role: "assistant", tool_calls: [call("toolu_01X", { text: "b" }), call(undefined, "")] },
    { role: "tool", tool_call_id: "toolu_01X", content: "kept b", name: "add_note" },
    { role: "tool", content: null },
    { role: "developer", content: "Brief." },
    { role: "user", content: "Go" },
  ];
  const answer = await ask(served, { messages, tools: TOOLS } as Body, false);
  assert.equal(answer.message.content, "ok");
  const [{ prompt }] = await served.asked();
  for (const part of ["one\ntwo", "[functions.add_note:0] kept a", "[toolu_01X] kept b", '{"text": "b"}']) {
    assert.ok(prompt.includes(part), `${part} is not in the prompt`);
  }
});

Deno.test("Reasoning is told apart and counted, in tags and where the template opened it", async () => {
  const replies = [{ chunks: ["<think>", "Let", " me", " see", "</think>", "It", " is", " 4."] }];
  const { message, usage, finish } = await askBoth({ reasoning: "qwen3", replies }, { messages: USER });
  assert.deepEqual([message.reasoning_content, message.content, finish], ["Let me see", "It is 4.", "stop"]);
  const counted = usage?.completion_tokens_details?.reasoning_tokens ?? 0;
  assert.ok(counted >= 3 && counted <= 5, `${counted} tokens were counted as reasoning`);
  const open = [{ prompt_open: "<think>\n", text: `I should note it.</think>${CALL}` }];
  const opened = await askBoth({ reasoning: "qwen3", replies: open }, { messages: USER, tools: TOOLS });
  assert.deepEqual([opened.message.reasoning_content, opened.finish], ["I should note it.", "tool_calls"]);
});

Deno.test("How a request asks for thinking reaches the template", async () => {
  await using served = await serveScript({ reasoning: "qwen3", replies: [{ text: "x" }], repeat: true });
  const extra: Record<string, unknown>[] = [
    { enable_thinking: false },
    { chat_template_kwargs: { enable_thinking: true } },
    { reasoning_effort: "high" },
    { reasoning_effort: "none" },
    {},
  ];
  for (const fields of extra) await ask(served, { messages: USER, ...fields } as Body, false);
  assert.deepEqual((await served.asked()).map(({ thinking }) => [thinking.enabled, thinking.effort]), [
    [false, null],
    [true, null],
    [null, "high"],
    [false, "none"],
    [null, null],
  ]);
});

Deno.test("Sixty tools with 64 KiB of schemas are taken as they are, and tools that another server runs are left out", async () => {
  await using served = await serveScript({ profile: "qwen3", replies: [{ text: CALL }], context_tokens: 500_000 });
  const properties = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      path: { type: "string", description: "x".repeat(1000) },
      line: { type: "integer", maximum: 2 ** 53 },
    },
    additionalProperties: false,
  };
  const many = Array.from({ length: 60 }, (_, i) => (
    { type: "function", function: { name: `tool_${i}`, description: null, parameters: properties, strict: null } }
  ));
  const response = await fetch(`${served.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: USER, tools: [...many, { type: "web_search" }, ...TOOLS], tool_choice: null }),
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("x-rapid-mlx-ignored"), "tools[].type");
  assert.equal((await response.json()).choices[0].message.tool_calls[0].function.name, "add_note");
  const [{ prompt, tools }] = await served.asked();
  assert.equal(tools.length, 62);
  assert.ok(prompt.length > 65_536 && prompt.includes('"additionalProperties": false'));
});
