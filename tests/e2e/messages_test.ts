// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * The Messages wire on the real model, by its own package: it says what chat completions say, and counts what is
 * prefilled.
 *
 * @module
 */
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { serveProcess } from "./served_process.ts";

const QUESTIONS = ["What is the capital of France?", "请用中文说“你好，世界”。", "Repeat: 👋🏽 👩‍👩‍👧‍👦"];
const SYSTEM = "You are terse.";

Deno.test({
  name: "a message says on the real model what a chat says, streamed and whole, and its tokens are counted before",
  ignore: Deno.env.get("RMX_TEST_MODEL") === undefined,
  fn: async () => {
    await using served = await serveProcess();
    const client = new Anthropic({ baseURL: served.url, apiKey: "unused", maxRetries: 0 });
    for (const content of QUESTIONS) {
      const messages = [{ role: "user" as const, content }];
      const chat = await fetch(`${served.url}/v1/chat/completions`, {
        method: "POST",
        body: JSON.stringify({
          messages: [{ role: "system", content: SYSTEM }, ...messages],
          temperature: 0,
          max_tokens: 16,
        }),
      });
      const { choices: [choice], usage } = await chat.json();
      // The package's types have no temperature any more.
      const body = { model: "claude-sonnet-5", system: SYSTEM, messages, max_tokens: 16, temperature: 0 };
      const whole = await client.messages.create(body);
      const streamed = await client.messages.stream(body).finalMessage();
      const [block] = whole.content;
      assert.ok(block?.type === "text");
      assert.equal(block.text, choice.message.content);
      assert.deepEqual(streamed.content, whole.content);
      assert.equal(whole.stop_reason, choice.finish_reason === "length" ? "max_tokens" : "end_turn");
      const { input_tokens } = await client.messages.countTokens({ model: "default", system: SYSTEM, messages });
      for (const { input_tokens: fresh, cache_read_input_tokens: cached } of [whole.usage, streamed.usage]) {
        assert.equal(fresh + (cached ?? 0), input_tokens);
      }
      assert.equal(usage.prompt_tokens, input_tokens);
    }
    const long = client.messages.create({
      model: "default",
      max_tokens: 16,
      messages: [{ role: "user", content: "long ".repeat(9000) }],
    });
    await assert.rejects(long, /prompt is too long: \d+ tokens > \d+ maximum/);
  },
});
