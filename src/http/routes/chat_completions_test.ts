// deno-lint-ignore-file camelcase -- the wire's own names
import assert from "node:assert/strict";
import type { ChatChunk, ChatCompletion } from "../../api/chat_answer.ts";
import { CONTROL_TOKEN, END_TOKEN, toByteTokens } from "../../../tests/support/byte_text_model.ts";
import { MODEL_ID, openTestApp, readEvents, says } from "../../../tests/support/test_app.ts";

const USER = [{ role: "user", content: "Hi" }];
const PROMPT_TOKENS = toByteTokens("user: Hi\nassistant:").length;

/** Text and finish reasons of a choice, as a client would join them. */
function join(events: unknown[], index = 0): { text: string; finishes: unknown[] } {
  const choices = events.filter((event) => event !== "[DONE]")
    .flatMap((event) => (event as ChatChunk).choices).filter((choice) => choice.index === index);
  return {
    text: choices.map(({ delta }) => delta.content ?? "").join(""),
    finishes: choices.map((choice) => choice.finish_reason).filter((finish) => finish !== null),
  };
}

Deno.test("a chat answers whole, with exact usage and timings", async () => {
  await using server = await openTestApp();
  const response = await server.post("/v1/chat/completions", { model: MODEL_ID, messages: USER });
  assert.equal(response.status, 200);
  assert.match(response.headers.get("x-request-id") ?? "", /^req-[0-9a-f]{32}$/);
  assert.match(response.headers.get("server-timing") ?? "", /^prepare;dur=[\d.]+, queue;dur=.*total;dur=/);
  assert.equal(response.headers.get("x-rapid-mlx-ignored"), null);
  const body: ChatCompletion = await response.json();
  assert.match(body.id, /^chatcmpl-[0-9a-f]{32}$/);
  assert.deepEqual({ ...body, id: "" }, {
    id: "",
    object: "chat.completion",
    created: 1_700_000_000,
    model: MODEL_ID,
    choices: [{
      index: 0,
      message: { role: "assistant", content: "Hello there.", refusal: null },
      logprobs: null,
      finish_reason: "stop",
    }],
    usage: {
      prompt_tokens: PROMPT_TOKENS,
      completion_tokens: 13,
      total_tokens: PROMPT_TOKENS + 13,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
      rapid_mlx: {
        cached_tokens: 0,
        drafted: 0,
        accepted: 0,
        repairs: 0,
        queue_ms: body.usage.rapid_mlx.queue_ms,
        prefill_ms: body.usage.rapid_mlx.prefill_ms,
        decode_ms: 12, // the fake core's steps take 1 ms: 13 tokens, 12 steps after the first
        first_token_ms: 0,
      },
    },
  });
});

Deno.test("a chat streams: role first, text, one finish, usage only if asked, [DONE] last, one id", async () => {
  await using server = await openTestApp({ reply: says("Grüße, 世界 👋🏽!") });
  for (const includeUsage of [true, false]) {
    const response = await server.post("/v1/chat/completions", {
      messages: USER,
      stream: true,
      ...(includeUsage && { stream_options: { include_usage: true } }),
    });
    assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
    assert.equal(response.headers.get("cache-control"), "no-cache, no-transform");
    const events = await readEvents(response);
    assert.equal(events.at(-1), "[DONE]");
    const chunks = events.slice(0, -1) as ChatChunk[];
    assert.deepEqual(chunks[0]?.choices, [{
      index: 0,
      delta: { role: "assistant", content: "" },
      finish_reason: null,
    }]);
    assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
    assert.ok(chunks.every(({ object, created, model }) => (
      object === "chat.completion.chunk" && created === 1_700_000_000 && model === MODEL_ID
    )));
    assert.deepEqual(join(events), { text: "Grüße, 世界 👋🏽!", finishes: ["stop"] });
    const withUsage = chunks.filter(({ usage }) => usage !== undefined && usage !== null);
    if (includeUsage) {
      assert.equal(withUsage.length, 1);
      assert.deepEqual(chunks.at(-1)?.choices, []);
      assert.equal(chunks.at(-1)?.usage?.completion_tokens, toByteTokens("Grüße, 世界 👋🏽!").length + 1);
      assert.ok(chunks.slice(0, -1).every(({ usage }) => usage === null));
    } else assert.ok(chunks.every((chunk) => !("usage" in chunk)));
  }
});

Deno.test("the pieces of a stream join to the whole answer, whatever the text", async () => {
  for (const text of ["", "a", "ünï", "日本語", "👩‍👩‍👧‍👦", 'code:\n```\n\tx = "1"\n```\n', "\u2028\u0000\r\n"]) {
    await using server = await openTestApp({ reply: says(text) });
    const whole: ChatCompletion = await (await server.post("/v1/chat/completions", { messages: USER })).json();
    const streamed = join(
      await readEvents(await server.post("/v1/chat/completions", { messages: USER, stream: true })),
    );
    assert.equal(whole.choices[0]?.message.content, text);
    assert.deepEqual(streamed, { text, finishes: ["stop"] });
  }
});

Deno.test("n choices are interleaved by index, each with its seed, and share one usage", async () => {
  const seeds: bigint[] = [];
  await using server = await openTestApp({
    reply: (request) => {
      seeds.push(request.seed);
      return says(`choice ${seeds.length}`);
    },
  });
  const body = { messages: USER, n: 3, seed: 7, stream: true, stream_options: { include_usage: true } };
  const events = await readEvents(await server.post("/v1/chat/completions", body));
  assert.deepEqual([0, 1, 2].map((index) => join(events, index).text), ["choice 1", "choice 2", "choice 3"]);
  assert.deepEqual([0, 1, 2].map((index) => join(events, index).finishes), [["stop"], ["stop"], ["stop"]]);
  const order = (events.slice(0, -1) as ChatChunk[]).flatMap(({ choices }) => choices.map(({ index }) => index));
  assert.notDeepEqual(order, order.toSorted(), "the choices came one after the other");
  const { usage } = events.at(-2) as ChatChunk;
  assert.equal(usage?.prompt_tokens, PROMPT_TOKENS);
  assert.equal(usage?.completion_tokens, 3 * 9);
  assert.equal(seeds[0], 7n);
  assert.equal(new Set(seeds).size, 3);

  const again = seeds.splice(0);
  await (await server.post("/v1/chat/completions", { ...body, stream: false })).text();
  assert.deepEqual(seeds.splice(0), again);
  await (await server.post("/v1/chat/completions", { messages: USER, n: 3 })).text();
  assert.equal(new Set(seeds).size, 3);
  assert.ok(seeds.every((seed) => seed >= 0n && seed < 2n ** 63n));
  assert.match(server.lines.at(-1) ?? "", new RegExp(`seeds=${seeds.join(",")}`));
});

Deno.test("a seed may be given in full as digits", async () => {
  const seeds: bigint[] = [];
  await using server = await openTestApp({
    reply: (request) => {
      seeds.push(request.seed);
      return says("x");
    },
  });
  await (await server.post("/v1/chat/completions", { messages: USER, seed: "9223372036854775807" })).text();
  assert.deepEqual(seeds, [2n ** 63n - 1n]);
});

Deno.test("sampling and limits reach the core as the request, the model and the server say", async () => {
  const seen: unknown[] = [];
  await using server = await openTestApp({
    reply: (request) => {
      seen.push(request);
      return says("x");
    },
  });
  assert.equal(server.model.status.state, "ready");
  if (server.model.status.state === "ready") server.model.status.loaded.sampling = { temperature: 0.3, topK: 40 };
  await (await server.post("/v1/chat/completions", { messages: USER })).text();
  await (await server.post("/v1/chat/completions", {
    messages: USER,
    temperature: 0,
    top_p: 0.5,
    top_k: -1,
    min_p: 0.1,
    repetition_penalty: 1.1,
    presence_penalty: -1,
    frequency_penalty: 2,
    logit_bias: { "65": -100 },
    max_tokens: 50,
    max_completion_tokens: 20,
    ignore_eos: true,
    logprobs: true,
    top_logprobs: 4,
  })).text();
  const pick = (request: unknown, ...names: string[]): unknown[] => (
    names.map((name) => (request as Record<string, unknown>)[name])
  );
  const fields = ["temperature", "topP", "topK", "minP", "repetitionPenalty", "presencePenalty", "frequencyPenalty"];
  assert.deepEqual(pick(seen[0], ...fields, "maxTokens"), [0.3, 0.9, 40, 0, 1, 0, 0, 4096 - PROMPT_TOKENS]);
  assert.deepEqual(pick(seen[1], ...fields, "maxTokens"), [0, 0.5, 0, 0.1, 1.1, -1, 2, 20]);
  assert.deepEqual(pick(seen[1], "ignoreEnd", "logprobsTop"), [true, 4]);
  assert.deepEqual([...(pick(seen[1], "logitBias")[0] as Map<number, number>)], [[65, -100]]);
});

Deno.test("a top_p of 0 or below what float32 holds keeps the most probable token and is no error", async () => {
  const seen: number[] = [];
  await using server = await openTestApp({
    reply: (request) => {
      seen.push(Math.fround(request.topP));
      return says("x");
    },
  });
  const ready = server.model.status;
  for (const asked of [0, 1e-300]) {
    assert.equal((await server.post("/v1/chat/completions", { messages: USER, top_p: asked })).status, 200);
  }
  assert.ok(ready.state === "ready");
  ready.loaded.sampling = { topP: 0, repetitionPenalty: 0 }; // a checkpoint's own defaults
  assert.equal((await server.post("/v1/chat/completions", { messages: USER })).status, 200);
  assert.equal(seen.length, 3);
  assert.ok(seen.every((share) => share > 0 && share < 1e-30));
});

Deno.test("logprobs list visible tokens with bytes and alternatives, in both forms of answer", async () => {
  await using server = await openTestApp({ reply: says("é!", { logprobs: [-0.1, -0.2, -Infinity] }) });
  const body = { messages: USER, logprobs: true, top_logprobs: 2 };
  const whole: ChatCompletion = await (await server.post("/v1/chat/completions", body)).json();
  const content = whole.choices[0]?.logprobs?.content ?? [];
  assert.deepEqual(content.map(({ bytes }) => bytes), [[0xc3], [0xa9], [0x21]]);
  assert.deepEqual(content.map(({ logprob }) => logprob), [-0.1, -0.2, -9999]);
  assert.ok(content.every(({ top_logprobs: top }) => top.length === 2));
  const events = await readEvents(await server.post("/v1/chat/completions", { ...body, stream: true }));
  const streamed = (events.slice(0, -1) as ChatChunk[]).flatMap(({ choices }) => choices[0]?.logprobs?.content ?? []);
  assert.deepEqual(streamed, content);
});

Deno.test("a stop string ends the text before it, cancels the generation and is a stop", async () => {
  await using server = await openTestApp({ reply: says("one two three four five six seven eight") });
  for (const stop of ["three", ["nine", "three"]]) {
    const whole: ChatCompletion = await (await server.post("/v1/chat/completions", { messages: USER, stop })).json();
    assert.equal(whole.choices[0]?.message.content, "one two ");
    assert.equal(whole.choices[0]?.finish_reason, "stop");
    assert.equal(whole.usage.completion_tokens, "one two three".length);
    const events = await readEvents(await server.post("/v1/chat/completions", { messages: USER, stop, stream: true }));
    assert.deepEqual(join(events), { text: "one two ", finishes: ["stop"] });
  }
  assert.equal(server.engine.stats().cancelled, 4);
});

Deno.test("max_tokens ends an answer with length; more than the context leaves is clamped and listed", async () => {
  await using server = await openTestApp({ contextTokens: PROMPT_TOKENS + 5, reply: says("Hello there.") });
  const short = await server.post("/v1/chat/completions", { messages: USER, max_tokens: 3 });
  assert.equal(short.headers.get("x-rapid-mlx-ignored"), null);
  const shortBody: ChatCompletion = await short.json();
  assert.deepEqual([shortBody.choices[0]?.message.content, shortBody.choices[0]?.finish_reason], ["Hel", "length"]);
  for (const field of ["max_tokens", "max_completion_tokens"]) {
    const clamped = await server.post("/v1/chat/completions", { messages: USER, [field]: 6 });
    assert.equal(clamped.headers.get("x-rapid-mlx-ignored"), field);
    const body: ChatCompletion = await clamped.json();
    assert.deepEqual([body.choices[0]?.message.content, body.choices[0]?.finish_reason], ["Hello", "length"]);
  }
  const exact = await server.post("/v1/chat/completions", { messages: USER, max_tokens: 5 });
  assert.equal(exact.headers.get("x-rapid-mlx-ignored"), null);
  await exact.text();
});

Deno.test("a prompt over the context is refused with both numbers in OpenAI's wording", async () => {
  await using server = await openTestApp({ contextTokens: PROMPT_TOKENS });
  const response = await server.post("/v1/chat/completions", { messages: USER, stream: true });
  assert.equal(response.status, 400);
  const { error } = await response.json();
  assert.equal(error.code, "context_length_exceeded");
  assert.equal(error.param, "messages");
  assert.match(error.message, new RegExp(`maximum context length is ${PROMPT_TOKENS} tokens.*${PROMPT_TOKENS} tokens`));
});

Deno.test("template variables reach the template, and those that it does not read are listed", async () => {
  const prompts: string[] = [];
  await using server = await openTestApp({
    reply: (request) => {
      prompts.push(String.fromCharCode(...request.prompt));
      return says("x");
    },
  });
  const read = await server.post("/v1/chat/completions", { messages: USER, enable_thinking: true });
  assert.equal(read.headers.get("x-rapid-mlx-ignored"), null);
  const unread = await server.post("/v1/chat/completions", {
    messages: USER,
    reasoning_effort: "low",
    chat_template_kwargs: { enable_thinking: true, preserve: 1, "b[ad\r\n": 2 },
  });
  assert.equal(
    unread.headers.get("x-rapid-mlx-ignored"),
    "chat_template_kwargs.preserve, chat_template_kwargs.<field>, reasoning_effort",
  );
  assert.equal(server.model.status.state, "ready");
  if (server.model.status.state === "ready") server.model.status.loaded.templateArguments = { enable_thinking: true };
  await (await server.post("/v1/chat/completions", { messages: USER })).text();
  await (await server.post("/v1/chat/completions", { messages: USER, enable_thinking: false })).text();
  const thinking = "user: Hi\nthink\nassistant:";
  assert.deepEqual(prompts, [thinking, thinking, thinking, "user: Hi\nassistant:"]);
});

Deno.test("continue_final_message goes on where the last assistant message ends", async () => {
  const prompts: string[] = [];
  await using server = await openTestApp({
    reply: (request) => {
      prompts.push(String.fromCharCode(...request.prompt));
      return says(" more");
    },
  });
  const messages = [...USER, { role: "assistant", content: "Once" }];
  const response = await server.post("/v1/chat/completions", { messages, continue_final_message: true });
  const body: ChatCompletion = await response.json();
  assert.deepEqual(prompts, ["user: Hi\nassistant: Once"]);
  assert.equal(body.choices[0]?.message.content, " more");
  const refused = await server.post("/v1/chat/completions", { messages: USER, continue_final_message: true });
  assert.equal(refused.status, 400);
  assert.equal((await refused.json()).error.param, "continue_final_message");
});

Deno.test("messages of every role and form reach the template", async () => {
  const prompts: string[] = [];
  await using server = await openTestApp({
    reply: (request) => {
      prompts.push(new TextDecoder().decode(Uint8Array.from(request.prompt)));
      return says("x");
    },
  });
  const response = await server.post("/v1/chat/completions", {
    messages: [
      { role: "developer", content: [{ type: "text", text: "Be", cache_control: { type: "ephemeral" } }] },
      { role: "system", content: "brief." },
      { role: "user", content: [{ type: "text", text: "a" }, { type: "text", text: "b" }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "1", content: "done" },
      { role: "assistant", content: "ok", reasoning_content: "hm", refusal: "no" },
      { role: "user", content: "ü", name: "Ann" },
    ],
  });
  assert.equal(response.status, 200);
  assert.equal(
    response.headers.get("x-rapid-mlx-ignored"),
    "messages[].content[].cache_control, messages[].refusal",
  );
  await response.text();
  assert.deepEqual(prompts, [
    "system: Be\nsystem: brief.\nuser: a\nb\nassistant: \ntool: done\nassistant: ok\nuser: ü\nassistant:",
  ]);
});

Deno.test("a hidden special token shows as a repair in the usage", async () => {
  await using server = await openTestApp({ reply: { tokens: [72, CONTROL_TOKEN, 105, END_TOKEN] } });
  const body: ChatCompletion = await (await server.post("/v1/chat/completions", { messages: USER })).json();
  assert.equal(body.choices[0]?.message.content, "Hi");
  assert.equal(body.usage.rapid_mlx.repairs, 1);
  assert.equal(body.usage.completion_tokens, 4);
});

Deno.test("cached tokens are told in both places", async () => {
  await using server = await openTestApp({ reply: says("x", { cachedTokens: 4 }) });
  const body: ChatCompletion = await (await server.post("/v1/chat/completions", { messages: USER })).json();
  assert.equal(body.usage.prompt_tokens_details.cached_tokens, 4);
  assert.equal(body.usage.rapid_mlx.cached_tokens, 4);
});

Deno.test("prompts are logged at trace only", async () => {
  for (const logLevel of ["trace", "debug"] as const) {
    await using server = await openTestApp({ logLevel });
    const messages = [{ role: "user", content: "the-secret-of-the-user" }];
    await (await server.post("/v1/chat/completions", { messages })).text();
    assert.equal(server.lines.some((line) => line.includes("the-secret-of-the-user")), logLevel === "trace");
  }
});

Deno.test("a prompt that the template refuses is a 400 with its sentence", async () => {
  await using server = await openTestApp();
  const response = await server.post("/v1/chat/completions", { messages: [{ ...USER[0], name: "nobody" }] });
  assert.equal(response.status, 400);
  const { error } = await response.json();
  assert.deepEqual([error.code, error.param], ["template_error", "messages"]);
  assert.match(error.message, /nobody spoke/);
});

Deno.test("no effort switches thinking off where the template knows the switch only, and is not listed then", async () => {
  await using server = await openTestApp({ logLevel: "trace" });
  const messages = [{ role: "user", content: "Hi" }];
  for (const [effort, ignored] of [["none", null], ["high", "reasoning_effort"]]) {
    const response = await server.post("/v1/chat/completions", { messages, reasoning_effort: effort });
    assert.equal(response.headers.get("x-rapid-mlx-ignored"), ignored);
    await response.body?.cancel();
  }
});
