/**
 * The real `openai` package against a served app: it must not notice that it does not talk with OpenAI.
 *
 * @module
 */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { type RunningServer, startServer } from "../../src/http/server.ts";
import { toByteTokens } from "../support/byte_text_model.ts";
import { MODEL_HF_ID, MODEL_ID, openTestApp, says, type TestApp, type TestAppOptions } from "../support/test_app.ts";

/** The prompts of the streamed = whole test: emoji, CJK, code, and what breaks naive decoders. */
const TEXTS = [
  "Hello there.",
  "👋🏽 family: 👩‍👩‍👧‍👦, flag: 🇩🇪",
  "日本語の文章と、中文句子。한국어도.",
  '```ts\nconst x = "a\\n";\n\tif (x) { /* … */ }\n```\n',
  "Zürich, naïve, Ωμέγα, Ж",
  "",
  " leading and trailing ",
  "line\r\nline\u2028line\u0085",
  '{"json": ["a", null, 1e-9]}',
  "data: [DONE]\n\ndata: {}",
  "<|im_end|> as text",
  "\u0000\u0001\u007f",
];

/** One of the package's error classes. */
type ErrorClass = abstract new (...parts: never[]) => Error;

interface Served extends AsyncDisposable {
  client: OpenAI;
  server: TestApp;
  running: RunningServer;
}

async function serve(options: TestAppOptions = {}): Promise<Served> {
  const server = await openTestApp(options);
  const running = await startServer({ ...server, config: { ...server.config, port: 0 } });
  const client = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: "unused", maxRetries: 0 });
  return {
    client,
    server,
    running,
    async [Symbol.asyncDispose](): Promise<void> {
      await running.stop();
      await server[Symbol.asyncDispose]();
    },
  };
}

const USER: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Hi" }];
const PROMPT_TOKENS = toByteTokens("user: Hi\nassistant:").length;

Deno.test("a chat answers with content, finish and exact usage", async () => {
  await using served = await serve();
  const completion = await served.client.chat.completions.create({ model: MODEL_ID, messages: USER });
  assert.equal(completion.choices[0]?.message.content, "Hello there.");
  assert.equal(completion.choices[0]?.finish_reason, "stop");
  assert.deepEqual([completion.usage?.prompt_tokens, completion.usage?.completion_tokens], [PROMPT_TOKENS, 13]);
  assert.match(completion._request_id ?? "", /^req-/);
});

Deno.test("the joined stream is the whole answer, with one id, one finish and the same usage", async () => {
  for (const text of TEXTS) {
    await using served = await serve({ reply: says(text) });
    const { completions } = served.client.chat;
    const whole = await completions.create({ model: MODEL_ID, messages: USER });
    assert.equal(whole.choices[0]?.message.content, text);
    const stream = await completions.create({
      model: MODEL_ID,
      messages: USER,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    const choices = chunks.flatMap((chunk) => chunk.choices);
    assert.equal(choices.map(({ delta }) => delta.content ?? "").join(""), text);
    assert.deepEqual(choices.map((choice) => choice.finish_reason).filter((reason) => reason !== null), ["stop"]);
    assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
    assert.equal(choices[0]?.delta.role, "assistant");
    const usages = chunks.map(({ usage }) => usage).filter((usage) => usage);
    assert.equal(usages.length, 1);
    assert.equal(usages[0]?.completion_tokens, whole.usage?.completion_tokens);
    assert.equal(usages[0]?.prompt_tokens, whole.usage?.prompt_tokens);
  }
});

Deno.test("the package's own stream helper reaches its final message", async () => {
  await using served = await serve({ reply: says("Grüße 世界") });
  const runner = served.client.chat.completions.stream({ model: MODEL_ID, messages: USER });
  let deltas = "";
  runner.on("content", (delta) => deltas += delta);
  const final = await runner.finalChatCompletion();
  assert.equal(final.choices[0]?.message.content, "Grüße 世界");
  assert.equal(deltas, "Grüße 世界");
});

Deno.test("n choices, logprobs, stop and seed work through the package", async () => {
  const seeds: bigint[] = [];
  await using served = await serve({
    reply: (request) => {
      seeds.push(request.seed);
      return says("one two three");
    },
  });
  const completion = await served.client.chat.completions.create({
    model: MODEL_HF_ID,
    messages: USER,
    n: 2,
    seed: 5,
    stop: ["three"],
    logprobs: true,
    top_logprobs: 2,
  });
  assert.deepEqual(completion.choices.map(({ index, message }) => [index, message.content]), [
    [0, "one two "],
    [1, "one two "],
  ]);
  assert.equal(completion.choices[0]?.logprobs?.content?.map(({ token }) => token).join(""), "one two ");
  assert.equal(completion.choices[0]?.logprobs?.content?.[0]?.top_logprobs.length, 2);
  assert.equal(seeds[0], 5n);
});

Deno.test("completions work through the package, streamed and whole", async () => {
  await using served = await serve({ reply: says(" world") });
  const body = { model: MODEL_ID, prompt: ["Hello", "Bye"], echo: true };
  const whole = await served.client.completions.create(body);
  assert.deepEqual(whole.choices.map(({ text }) => text), ["Hello world", "Bye world"]);
  const texts = ["", ""];
  for await (const chunk of await served.client.completions.create({ ...body, stream: true })) {
    for (const { index, text } of chunk.choices) texts[index] += text;
  }
  assert.deepEqual(texts, ["Hello world", "Bye world"]);
});

Deno.test("models are listed and found, ids with a slash too", async () => {
  await using served = await serve();
  const ids: string[] = [];
  for await (const model of served.client.models.list()) ids.push(model.id);
  assert.deepEqual(ids, [MODEL_ID]);
  assert.equal((await served.client.models.retrieve(MODEL_HF_ID)).id, MODEL_ID);
});

Deno.test("refusals become the package's own error classes, with code, param and headers", async () => {
  await using served = await serve({ contextTokens: 100, flags: { apiKey: "right" } });
  const right = served.client.withOptions({ apiKey: "right" });
  const create = (client: OpenAI, body: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>): Promise<unknown> => (
    client.chat.completions.create({ model: MODEL_ID, messages: USER, ...body })
  );
  const rejects = async (action: Promise<unknown>, type: ErrorClass, code: string): Promise<void> => {
    await assert.rejects(action, (error: unknown) => {
      assert.ok(error instanceof type && error instanceof OpenAI.APIError, String(error));
      assert.equal(error.code, code);
      assert.match(error.requestID ?? "", /^req-/);
      return true;
    });
  };
  await rejects(create(served.client, {}), OpenAI.AuthenticationError, "invalid_api_key");
  await rejects(create(right, { temperature: 9 }), OpenAI.BadRequestError, "invalid_request");
  await rejects(create(right, { model: "gpt-5" }), OpenAI.NotFoundError, "model_not_found");
  await rejects(
    create(right, { messages: [{ role: "user", content: "x".repeat(100) }] }),
    OpenAI.BadRequestError,
    "context_length_exceeded",
  );
  await rejects(
    create(right, { response_format: { type: "json_schema", json_schema: { name: "x", schema: { not: {} } } } }),
    OpenAI.BadRequestError,
    "invalid_response_format_schema",
  );
  await rejects(right.embeddings.create({ model: MODEL_ID, input: "x" }), OpenAI.NotFoundError, "not_available_yet");
  served.server.model.status = { state: "loading", perMille: 0 };
  await rejects(create(right, {}), OpenAI.InternalServerError, "model_loading");
});

Deno.test("a busy server is retried after the time that it names", async () => {
  const gate = Promise.withResolvers<void>();
  await using served = await serve({ config: { maxRequests: 1, maxQueue: 0 }, pace: () => gate.promise });
  const first = served.client.chat.completions.create({ model: MODEL_ID, messages: USER });
  while (served.server.engine.stats().submitted === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  await assert.rejects(
    served.client.chat.completions.create({ model: MODEL_ID, messages: USER }),
    (error: unknown) => error instanceof OpenAI.RateLimitError && error.headers.get("retry-after") === "1",
  );
  const patient = served.client.withOptions({ maxRetries: 5 });
  const second = patient.chat.completions.create({ model: MODEL_ID, messages: USER });
  const refused = (): number => served.server.activity.responses.get("chat.completions 429") ?? 0;
  while (refused() < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  gate.resolve();
  assert.equal((await first).choices[0]?.message.content, "Hello there.");
  assert.equal((await second).choices[0]?.message.content, "Hello there.");
});

Deno.test("an answer that breaks midway is an error of the stream, not its end", async () => {
  const failure = { afterTokens: 3, code: "internal" as const, message: "lost" };
  await using served = await serve({ reply: says("Hello", { failure }) });
  let text = "";
  await assert.rejects(async () => {
    const stream = await served.client.chat.completions.create({ model: MODEL_ID, messages: USER, stream: true });
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
  }, OpenAI.APIError);
  assert.equal(text, "Hel");
});

Deno.test("leaving the loop, or aborting, ends the generation", async () => {
  await using served = await serve({ reply: says("x".repeat(4000)) });
  const { client, server } = served;
  const stream = await client.chat.completions.create({ model: MODEL_ID, messages: USER, stream: true });
  for await (const chunk of stream) {
    if (chunk.choices[0]?.delta.content === "x") break;
  }
  const leaving = new AbortController();
  const whole = client.chat.completions.create({ model: MODEL_ID, messages: USER }, { signal: leaving.signal });
  while (server.engine.stats().submitted < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  leaving.abort();
  await assert.rejects(whole, OpenAI.APIUserAbortError);
  while (server.engine.stats().cancelled < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  while (server.activity.counts.left < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.equal(server.engine.stats().running, 0);
});
