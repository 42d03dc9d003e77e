// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * The real clients on the real model: the `openai` packages of npm and PyPI chat and stream, their answers agree, and
 * their usage is what the reference tokenizer counts.
 *
 * @module
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import OpenAI from "openai";
import { ensurePythonPackages } from "../support/python_packages.ts";
import { serveProcess } from "./served_process.ts";

/** Set by `deno task test`: folder of the embedded model, converted. */
const MODEL_FOLDER = Deno.env.get("RMX_TEST_MODEL");
const MODEL_ID = "smollm2-135m-instruct";
const MAX_TOKENS = 24;

/** Twelve questions; emoji, CJK and code among them, in the question and in what is asked for. */
const QUESTIONS = [
  "What is the capital of France?",
  "Count from one to five.",
  "Repeat after me: 👋🏽 👩‍👩‍👧‍👦 🇩🇪",
  "请用中文说“你好，世界”。",
  "日本の首都はどこですか？",
  'Write a Python function that prints "hello".',
  "```js\nconst x = [1, 2];\n```\nWhat does this do?",
  "Zürich, naïve, Ωμέγα, Ж: repeat these words.",
  "List three colours, one on each line.",
  'Answer in JSON: {"name": "…", "age": …}',
  "Say OK.",
  "Tell me a very short story about a robot. ".repeat(20),
];

interface Prompt {
  messages: { role: "user" | "system"; content: string }[];
  parameters: { max_tokens: number; temperature: number; seed: number };
}

/** Every other one is sampled: with a seed it repeats all the same. */
const PROMPTS: Prompt[] = QUESTIONS.map((content, index) => ({
  messages: [
    ...(index % 3 === 0 ? [{ role: "system" as const, content: "You are terse." }] : []),
    { role: "user" as const, content },
  ],
  parameters: { max_tokens: MAX_TOKENS, temperature: index % 2 === 0 ? 0 : 0.9, seed: 1000 + index },
}));

/** What the JavaScript client got for a prompt. */
interface Answer {
  text: string;
  finish: string;
  usage: number[];
  /** Bytes of each visible token. */
  tokens: number[][];
  repairs: number;
}

async function chat(client: OpenAI, prompt: Prompt): Promise<Answer> {
  const body = { model: MODEL_ID, messages: prompt.messages, ...prompt.parameters };
  const whole = await client.chat.completions.create({ ...body, logprobs: true });
  const stream = await client.chat.completions.create({
    ...body,
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const choices = chunks.flatMap((chunk) => chunk.choices);
  const text = whole.choices[0]?.message.content ?? "";
  const { usage } = whole;
  assert.ok(usage);
  assert.equal(choices.map(({ delta }) => delta.content ?? "").join(""), text);
  assert.deepEqual(choices.map(({ finish_reason }) => finish_reason).filter(Boolean), [
    whole.choices[0]?.finish_reason,
  ]);
  assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
  const streamed = chunks.flatMap((chunk) => chunk.usage ? [chunk.usage] : []);
  const counts = [usage.prompt_tokens, usage.completion_tokens];
  assert.deepEqual(streamed.map((one) => [one.prompt_tokens, one.completion_tokens]), [counts]);
  assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
  return {
    text,
    finish: whole.choices[0]?.finish_reason ?? "none",
    usage: counts,
    tokens: whole.choices[0]?.logprobs?.content?.map(({ bytes }) => bytes ?? []) ?? [],
    repairs: (usage as unknown as { rapid_mlx: { repairs: number } }).rapid_mlx.repairs,
  };
}

/** The prompt's tokens are those of the reference; the answer's are those that were drawn, its end token included. */
function checkUsage(answers: Answer[], counted: Record<string, unknown>[]): void {
  assert.equal(counted.length, answers.length);
  for (const [index, { usage, tokens, repairs, finish, text }] of answers.entries()) {
    const label = `${QUESTIONS[index]?.slice(0, 40)} → ${text}`;
    assert.equal(usage[0], counted[index]?.prompt_tokens, label);
    assert.equal(usage[1], tokens.length + repairs + (finish === "stop" ? 1 : 0), label);
    assert.notEqual(counted[index]?.drawn, "wrong", label);
  }
  assert.ok(counted.filter(({ drawn }) => drawn === "equal").length >= 8, JSON.stringify(counted));
}

Deno.test({
  name: "the openai packages of npm and PyPI chat and stream on the real model, with equal answers and exact usage",
  ignore: MODEL_FOLDER === undefined,
  fn: async () => {
    await using served = await serveProcess();
    const baseURL = `${served.url}/v1`;
    const client = new OpenAI({ baseURL, apiKey: "unused", maxRetries: 0, timeout: 300_000 });
    const answers = await Promise.all(PROMPTS.map((prompt) => chat(client, prompt)));
    assert.ok(answers.every(({ usage }) => (usage[1] ?? 0) > 0));

    const folder = fileURLToPath(new URL("python/", import.meta.url));
    const python = await ensurePythonPackages(`${folder}requirements.txt`);
    const counted = await python.run(`${folder}count_tokens.py`, {
      directory: MODEL_FOLDER,
      answers: PROMPTS.map(({ messages }, index) => ({ messages, ...answers[index] })),
    });
    checkUsage(answers, counted);

    const job = { base_url: baseURL, model: MODEL_ID, prompts: PROMPTS };
    const results = await python.run(`${folder}openai_client.py`, job);
    assert.deepEqual(results.pop(), { error: "model_not_found", models: [MODEL_ID] });
    assert.deepEqual(
      results,
      answers.map(({ text, finish, usage }) => ({
        whole: text,
        whole_finish: finish,
        joined: text,
        helper: text,
        finishes: [finish],
        ids: 1,
        role: "assistant",
        usage,
        stream_usage: [usage],
      })),
    );
    assert.equal(await served.stop(), 0);
  },
});
