// deno-lint-ignore-file camelcase -- the wire's own names
import assert from "node:assert/strict";
import { PromptTooLong, TextCallDropped } from "../../prompt/errors.ts";
import type { TextModel } from "../../prompt/text_model.ts";
import type { Completion } from "../../api/completions_answer.ts";
import { toByteTokens } from "../../../tests/support/byte_text_model.ts";
import { MODEL_ID, openTestApp, readEvents, says } from "../../../tests/support/test_app.ts";

const PATH = "/v1/completions";

async function complete(server: Awaited<ReturnType<typeof openTestApp>>, body: object): Promise<Completion> {
  return await (await server.post(PATH, body)).json();
}

Deno.test("a completion answers whole, without a template, with 16 tokens unless asked", async () => {
  const prompts: string[] = [];
  const limits: number[] = [];
  await using server = await openTestApp({
    reply: (request) => {
      prompts.push(String.fromCharCode(...request.prompt));
      limits.push(request.maxTokens);
      return says(" there");
    },
  });
  const body = await complete(server, { model: MODEL_ID, prompt: "Hi" });
  assert.match(body.id, /^cmpl-[0-9a-f]{32}$/);
  assert.deepEqual([body.object, body.model], ["text_completion", MODEL_ID]);
  assert.deepEqual(body.choices, [{ index: 0, text: " there", logprobs: null, finish_reason: "stop" }]);
  assert.deepEqual([body.usage?.prompt_tokens, body.usage?.completion_tokens], [2, 7]);
  await complete(server, { prompt: "Hi", max_tokens: 40 });
  assert.deepEqual([prompts, limits], [["Hi", "Hi"], [16, 40]]);
});

Deno.test("a completion streams the same text in chunks of its own shape", async () => {
  await using server = await openTestApp({ reply: says("schöne Welt") });
  const body = { prompt: "Hallo", max_tokens: 50, stream: true, stream_options: { include_usage: true } };
  const events = await readEvents(await server.post(PATH, body));
  assert.equal(events.pop(), "[DONE]");
  const chunks = events as Completion[];
  assert.equal(chunks.at(-1)?.usage?.completion_tokens, 13);
  assert.deepEqual(chunks.at(-1)?.choices, []);
  assert.equal(chunks.flatMap(({ choices }) => choices).map(({ text }) => text).join(""), "schöne Welt");
  assert.deepEqual(chunks.flatMap(({ choices }) => choices).map((one) => one.finish_reason).filter(Boolean), ["stop"]);
  assert.ok(chunks.every(({ object }) => object === "text_completion"));
  assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
});

Deno.test("several prompts with several choices are numbered prompt by prompt, and each prompt is counted once", async () => {
  const forms: unknown[] = [["a", "bc"], [[97], [98, 99]]];
  for (const prompt of forms) {
    await using server = await openTestApp({
      reply: (request) => says(`<${String.fromCharCode(...request.prompt)}>`),
    });
    const body = await complete(server, { prompt, n: 2, echo: true });
    assert.deepEqual(body.choices.map(({ index, text }) => [index, text]), [
      [0, "a<a>"],
      [1, "a<a>"],
      [2, "bc<bc>"],
      [3, "bc<bc>"],
    ]);
    assert.deepEqual([body.usage?.prompt_tokens, body.usage?.completion_tokens], [3, 4 + 4 + 5 + 5]);
  }
});

Deno.test("a list of token ids is one prompt", async () => {
  await using server = await openTestApp();
  const body = await complete(server, { prompt: toByteTokens("Hi"), echo: true });
  assert.equal(body.choices[0]?.text, "HiHello there.");
  assert.equal(body.choices.length, 1);
});

Deno.test("legacy logprobs give tokens, offsets and alternatives, joined over a stream as in the whole", async () => {
  await using server = await openTestApp({ reply: says("aé", { logprobs: [-1, -2, -3, -4] }) });
  const body = { prompt: "Hi", logprobs: 2 };
  const whole = (await complete(server, body)).choices[0]?.logprobs;
  assert.deepEqual(whole?.tokens, ["a", "bytes:\\xc3", "bytes:\\xa9"]);
  assert.deepEqual(whole?.token_logprobs, [-1, -2, -3]);
  assert.deepEqual(whole?.text_offset, [0, 1, 1]);
  assert.deepEqual(whole?.top_logprobs?.[0], { a: -1, b: -2 });
  const events = (await readEvents(await server.post(PATH, { ...body, stream: true }))).slice(0, -1) as Completion[];
  const pieces = events.flatMap(({ choices }) => choices[0]?.logprobs ?? []);
  assert.deepEqual(pieces.flatMap(({ tokens }) => tokens), whole?.tokens);
  assert.deepEqual(pieces.flatMap(({ text_offset: offsets }) => offsets), whole?.text_offset);
  const none = (await complete(server, { prompt: "Hi", logprobs: 0 })).choices[0]?.logprobs;
  assert.deepEqual([none?.top_logprobs, none?.tokens.length], [null, 3]);
});

Deno.test("what a completion can't do is refused by name", async () => {
  await using server = await openTestApp({ contextTokens: 20 });
  const cases: [object, string, string][] = [
    [{}, "invalid_request", "prompt"],
    [{ prompt: "" }, "invalid_request", "prompt"],
    [{ prompt: [] }, "invalid_request", "prompt"],
    [{ prompt: ["a", 1] }, "invalid_request", "prompt[1]"],
    [{ prompt: [1, 9999] }, "invalid_request", "prompt"],
    [{ prompt: [-1] }, "invalid_request", "prompt[0]"],
    [{ prompt: Array(65).fill("a") }, "invalid_request", "prompt"],
    [{ prompt: Array(10).fill("a"), n: 16 }, "invalid_request", "n"],
    [{ prompt: "a", suffix: "b" }, "unsupported_field", "suffix"],
    [{ prompt: "a", best_of: 3 }, "unsupported_field", "best_of"],
    [{ prompt: "a", echo: true, logprobs: 1 }, "unsupported_combination", "echo"],
    [{ prompt: "a", logprobs: true }, "invalid_request", "logprobs"],
    [{ prompt: "x".repeat(20) }, "context_length_exceeded", "prompt"],
  ];
  for (const [body, code, param] of cases) {
    const response = await server.post(PATH, body);
    const { error } = await response.json();
    assert.deepEqual([response.status, error.code, error.param], [400, code, param], error.message);
  }
  for (const body of [{ prompt: "a", best_of: 1 }, { prompt: "a", n: 2, best_of: 2 }, { prompt: "a", suffix: "" }]) {
    const response = await server.post(PATH, body);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("x-rapid-mlx-ignored"), null);
    await response.text();
  }
  const clamped = await server.post(PATH, { prompt: "a", max_tokens: 4096, user: "u" });
  assert.equal(clamped.headers.get("x-rapid-mlx-ignored"), "user, max_tokens");
  await clamped.text();
});

Deno.test("a prompt that leaves one token or two is answered with so many, listed; one that leaves none is refused", async () => {
  const CONTEXT = 8192;
  const limits: number[] = [];
  await using server = await openTestApp({
    contextTokens: CONTEXT,
    reply: (request) => {
      limits.push(request.maxTokens);
      return { tokens: toByteTokens("abc") };
    },
  });
  for (
    const [path, body, ignored] of [
      [PATH, (size: number) => ({ prompt: "x".repeat(size), max_tokens: 3 }), "max_tokens"],
      [
        "/v1/chat/completions",
        (size: number) => ({
          messages: [{ role: "user", content: "x".repeat(size - "user: \nassistant:".length) }],
          max_completion_tokens: 3,
        }),
        "max_completion_tokens",
      ],
    ] as const
  ) {
    for (const left of [3, 2, 1]) {
      const response = await server.post(path, body(CONTEXT - left));
      assert.equal(response.headers.get("x-rapid-mlx-ignored"), left < 3 ? ignored : null);
      const { usage, choices } = await response.json();
      assert.deepEqual([usage.prompt_tokens, usage.completion_tokens], [CONTEXT - left, left], path);
      assert.equal(choices[0].finish_reason, "length");
    }
    for (const size of [CONTEXT, CONTEXT + 1]) {
      const response = await server.post(path, body(size));
      const { error } = await response.json();
      assert.deepEqual([response.status, error.code], [400, "context_length_exceeded"]);
      assert.match(error.message, new RegExp(`length is ${CONTEXT} tokens\\. However, your prompt has ${size} tokens`));
    }
  }
  assert.deepEqual(limits, [3, 2, 1, 3, 2, 1]);
});

Deno.test("a prompt that is given up before its end is told with both numbers; a client that left is no fault", async () => {
  await using server = await openTestApp({ contextTokens: 100 });
  const { loaded } = server.model.status as { loaded: { text: TextModel } };
  const seen: unknown[] = [];
  let failure: Error = new PromptTooLong(5000);
  const fail = (_: unknown, ...rest: unknown[]): Promise<never> => {
    seen.push((rest.at(-1) as { tokensMax: number }).tokensMax);
    return Promise.reject(failure);
  };
  Object.assign(loaded.text, { render: fail, encode: fail });
  const messages = [{ role: "user", content: "Hi" }];
  for (
    const [path, body, param] of [[PATH, { prompt: "Hi" }, "prompt"], [
      "/v1/chat/completions",
      { messages },
      "messages",
    ]]
  ) {
    failure = new PromptTooLong(5000);
    const { error } = await (await server.post(String(path), body)).json();
    assert.deepEqual([error.code, error.param], ["context_length_exceeded", param]);
    assert.match(error.message, /context length is 100 tokens\. However, your prompt has at least 5000 tokens/);
    failure = new TextCallDropped();
    assert.equal((await server.post(String(path), body)).status, 499);
  }
  assert.deepEqual(seen, [99, 99, 99, 99]);
  assert.ok(!server.lines.some((line) => line.includes(" error ")));
});
