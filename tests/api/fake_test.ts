/**
 * `serve --fake` over a socket: which reply is played, how it ends, and what `/debug/fake` tells.
 *
 * @module
 */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { serveScript } from "../support/scripted_server.ts";

/** A request of one user message. */
function says(content: string): OpenAI.ChatCompletionCreateParamsNonStreaming {
  return { model: "scripted", messages: [{ role: "user", content }] };
}

Deno.test("a request plays the first unused reply that fits its last message", async () => {
  const replies = [{ when: "red", text: "R" }, { text: "1" }, { text: "2" }];
  await using served = await serveScript({ replies });
  const ask = async (content: string): Promise<unknown> =>
    (await served.client.chat.completions.create(says(content))).choices[0]?.message.content;
  assert.equal(await ask("blue"), "1");
  assert.equal(await ask("a red one"), "R");
  assert.equal(await ask("a red one"), "2");
  await assert.rejects(ask("more"), (error: unknown) => {
    assert.ok(error instanceof OpenAI.InternalServerError);
    assert.deepEqual([error.status, error.code], [500, "fake_script_exhausted"]);
    return true;
  });
});

Deno.test("a reply for the empty text plays to any message", async () => {
  await using served = await serveScript({ replies: [{ when: "", text: "any" }] });
  assert.equal((await served.client.chat.completions.create(says("blue"))).choices[0]?.message.content, "any");
});

Deno.test("a script that repeats starts over", async () => {
  await using served = await serveScript({ replies: [{ text: "1" }, { text: "2" }], repeat: true });
  const answers: unknown[] = [];
  for (let i = 0; i < 5; i++) {
    answers.push((await served.client.chat.completions.create(says("x"))).choices[0]?.message.content);
  }
  assert.deepEqual(answers, ["1", "2", "1", "2", "1"]);
});

Deno.test("chunks are the tokens, usage counts them, and a special one is not shown", async () => {
  const chunks = ["He", "llo", "<|im_end|>"];
  await using served = await serveScript({ replies: [{ chunks }, { chunks, finish: "length" }] });
  const whole = await served.client.chat.completions.create(says("x"));
  assert.equal(whole.choices[0]?.message.content, "Hello");
  assert.equal(whole.choices[0]?.finish_reason, "stop");
  assert.equal(whole.usage?.completion_tokens, 3);
  const shown: string[] = [];
  let finish: string | null | undefined;
  for await (const chunk of await served.client.chat.completions.create({ ...says("x"), stream: true })) {
    if (chunk.choices[0]?.delta.content) shown.push(chunk.choices[0].delta.content);
    finish = chunk.choices[0]?.finish_reason ?? finish;
  }
  assert.deepEqual(shown, ["He", "llo"]);
  assert.equal(finish, "length");
});

Deno.test("chunks may cut a marker anywhere, of a protocol of special tokens too", async () => {
  const text = "<|channel|>analysis<|message|>So: figs.<|end|><|start|>assistant<|channel|>final<|message|>Figs <|x";
  await using served = await serveScript({
    tools: "harmony",
    replies: [{ text }, { chunks: [...text] }, { chunks: text.match(/[^]{1,9}/g) }],
  });
  for (let reply = 0; reply < 3; reply++) {
    const [choice] = (await served.client.chat.completions.create(says("x"))).choices;
    const { content, reasoning_content } = choice?.message as { content: string; reasoning_content?: string };
    assert.deepEqual([content, reasoning_content], ["Figs <|x", "So: figs."], `${reply}`);
  }
});

Deno.test("a reply can refuse, fail after some tokens, or cut the connection", async () => {
  const chunks = ["a", "b", "c"];
  await using served = await serveScript({
    replies: [
      { when: "busy", status: 429, retry_after: 2 },
      { when: "odd", status: 529 },
      { when: "fail", chunks, error_after_tokens: 2 },
      { when: "end", chunks, finish: "error" },
      { when: "cut", chunks, cut_after_tokens: 2 },
    ],
    repeat: true,
  });
  const status = (wanted: number, retryAfter: string | null) => (error: unknown): boolean => {
    assert.ok(error instanceof OpenAI.APIError);
    assert.deepEqual([error.status, error.headers?.get("retry-after") ?? null], [wanted, retryAfter]);
    return true;
  };
  await assert.rejects(served.client.chat.completions.create(says("busy")), status(429, "2"));
  await assert.rejects(served.client.chat.completions.create(says("odd")), status(529, null));
  await assert.rejects(served.client.chat.completions.create(says("fail")), status(500, null));
  for (const [content, shown, cut] of [["fail", "ab", false], ["end", "abc", false], ["cut", "ab", true]] as const) {
    let text = "";
    await assert.rejects(async () => {
      const stream = await served.client.chat.completions.create({ ...says(content), stream: true });
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    }, (error: unknown) => error instanceof OpenAI.APIError !== cut);
    assert.equal(text, shown, content);
  }
  await assert.rejects(served.client.chat.completions.create(says("cut")), (error: unknown) => {
    return !(error instanceof OpenAI.InternalServerError);
  });
});

Deno.test("/debug/fake tells what was asked, with every default filled in", async () => {
  await using served = await serveScript({ replies: [{ text: "ok" }], repeat: true });
  await served.client.chat.completions.create({
    ...says("What?"),
    seed: 7,
    stop: ["END"],
    max_tokens: 9,
    reasoning_effort: "low",
  });
  await served.client.completions.create({ model: "scripted", prompt: "Once", temperature: 0 });
  const [chat, completion] = await served.asked();
  assert.equal(chat.route, "/v1/chat/completions");
  assert.match(chat.prompt, /What\?/);
  assert.ok(chat.prompt_tokens > 0);
  assert.deepEqual(chat.sampling, {
    temperature: 0.7,
    top_p: 0.9,
    top_k: 0,
    min_p: 0,
    seed: 7,
    max_tokens: 9,
    penalties: { repetition_penalty: 1, presence_penalty: 0, frequency_penalty: 0 },
    logit_bias: {},
  });
  assert.deepEqual(chat.stop, ["END"]);
  assert.deepEqual(chat.thinking, { enabled: null, budget: null, effort: "low" });
  assert.deepEqual([completion.route, completion.prompt, completion.tools], ["/v1/completions", "Once", []]);
});

Deno.test("a script refuses what the grammar worker would: too many ways to read, a rule that begins with itself", async () => {
  await using served = await serveScript({ replies: [{ text: "a" }], repeat: true });
  const words = Array.from({ length: 5000 }, (_, at) => `a${at} b`).join("|");
  const fields = [
    { guided_regex: "((a{1,1000}){1,1000}){1,1000}" },
    { guided_regex: `(${words})` },
    { guided_grammar: 'root ::= root "a" | "b"' },
  ];
  for (const field of fields) {
    await assert.rejects(served.client.chat.completions.create({ ...says("x"), ...field }), {
      status: 400,
      code: "invalid_grammar",
      param: Object.keys(field)[0],
    });
  }
});

Deno.test("a call that comes back rewritten is in the prompt as it was played, one with other arguments is not", async () => {
  const call = '<tool_call>\n{"name": "look", "arguments": {"path": "f", "all": 1}}\n</tool_call>';
  const script = { tools: "hermes", replies: [{ text: call }, { text: "Done." }, { text: "Done." }] };
  await using served = await serveScript(script);
  const tools = [{ type: "function" as const, function: { name: "look", parameters: { type: "object" } } }];
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Look." }];
  const first = await served.client.chat.completions.create({ model: "scripted", messages, tools });
  const [made] = first.choices[0]?.message.tool_calls ?? [];
  assert.ok(made?.type === "function");
  for (const [json, rendered] of [['{"all":1,"path":"f"}', '{"path": "f", "all": 1}'], ['{"all":2}', '{"all": 2}']]) {
    const returned = { ...made, function: { name: "look", arguments: json! } };
    const turns: typeof messages = [
      ...messages,
      { role: "assistant", content: null, tool_calls: [returned] },
      { role: "tool", tool_call_id: made.id, content: "seen" },
    ];
    await served.client.chat.completions.create({ model: "scripted", messages: turns, tools });
    const prompt: string = (await served.asked()).at(-1).prompt;
    assert.ok(prompt.includes(`"arguments": ${rendered}`), prompt);
  }
});
