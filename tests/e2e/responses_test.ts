// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * The Responses wire on the real model, by its own package: it says what chat completions say, goes on from what it
 * kept, and writes freeform calls and bound texts as they have to be.
 *
 * @module
 */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { serveProcess } from "./served_process.ts";

const QUESTIONS = ["What is the capital of France?", "请用中文说“你好，世界”。", "Repeat: 👋🏽 👩‍👩‍👧‍👦"];
const SYSTEM = "You are terse.";

Deno.test({
  name: "a response says on the real model what a chat says, streamed, whole and gone on from",
  ignore: Deno.env.get("RMX_TEST_MODEL") === undefined,
  fn: async () => {
    await using served = await serveProcess();
    const client = new OpenAI({ baseURL: `${served.url}/v1`, apiKey: "unused", maxRetries: 0 });
    const drawing = { model: "default", temperature: 0 };
    for (const content of QUESTIONS) {
      const messages: OpenAI.ChatCompletionMessageParam[] = [
        { role: "system", content: SYSTEM },
        { role: "user", content },
      ];
      const chat = await client.chat.completions.create({ ...drawing, messages, max_completion_tokens: 16 });
      const said = chat.choices[0]?.message.content ?? "";
      const body = { ...drawing, instructions: SYSTEM, input: content, max_output_tokens: 16 };
      const whole = await client.responses.create(body);
      const streamed = await client.responses.stream({ ...body, stream: true }).finalResponse();
      for (const { output_text, usage, status } of [whole, streamed]) {
        assert.equal(output_text, said);
        assert.equal(status, chat.choices[0]?.finish_reason === "length" ? "incomplete" : "completed");
        assert.equal(usage?.input_tokens, chat.usage?.prompt_tokens);
        assert.equal(usage?.output_tokens, chat.usage?.completion_tokens);
      }
      const next = { ...body, input: "And then?" };
      const kept = await client.responses.create({ ...next, previous_response_id: whole.id });
      const again: OpenAI.Responses.ResponseInput = [
        { role: "user", content },
        ...whole.output as OpenAI.Responses.ResponseInput,
        { role: "user", content: "And then?" },
      ];
      const sent = await client.responses.create({ ...next, input: again, store: false });
      assert.deepEqual([kept.output_text, kept.usage?.input_tokens], [sent.output_text, sent.usage?.input_tokens]);
    }
    const long = client.responses.create({ model: "gpt-5", input: "long ".repeat(9000) });
    await assert.rejects(long, /maximum context length is \d+ tokens.*\d+ tokens/);
  },
});

Deno.test({
  name: "a freeform call and a bound text of the real model have their form, at any temperature",
  ignore: Deno.env.get("RMX_TEST_MODEL") === undefined,
  fn: async () => {
    await using served = await serveProcess();
    const client = new OpenAI({ baseURL: `${served.url}/v1`, apiKey: "unused", maxRetries: 0 });
    const definition = 'start: "+" /[a-z ]{1,12}/ LF "-" /[a-z ]{1,12}/\n%import common.LF';
    const format: OpenAI.CustomToolInputFormat = { type: "grammar", syntax: "lark", definition };
    for (let at = 0; at < 4; at++) {
      const response = await client.responses.create({
        model: "default",
        input: "Change a word.",
        temperature: 1,
        max_output_tokens: 200,
        tools: [{ type: "custom", name: "change", format }],
        tool_choice: "required",
        parallel_tool_calls: false,
      });
      const [call] = response.output;
      assert.ok(call?.type === "custom_tool_call", JSON.stringify(response.output));
      assert.match(call.input, /^\+[a-z ]{1,12}\n-[a-z ]{1,12}$/);
    }
    const schema = {
      type: "object",
      properties: { city: { type: "string", maxLength: 12 }, size: { type: "integer", minimum: 1, maximum: 9 } },
      required: ["city", "size"],
      additionalProperties: false,
    };
    const text = { format: { type: "json_schema", name: "city", schema, strict: true } } as const;
    const bound = await client.responses.parse({ model: "default", input: "A city.", temperature: 1, text });
    assert.equal(bound.status, "completed");
    const { city, size } = bound.output_parsed as unknown as { city: string; size: number };
    assert.ok([...city].length <= 12 && size >= 1 && size <= 9, JSON.stringify(bound.output_parsed));
  },
});
