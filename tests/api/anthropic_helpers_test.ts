// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * The helpers of the `@anthropic-ai/sdk` package: the stream that gathers a message, and the runner of tools, whose
 * threads this server does not keep.
 *
 * @module
 */
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema.js";
import { type ScriptedServer, serveScript } from "../support/scripted_server.ts";

const CALL = '<tool_call>\n{"name": "add_note", "arguments": {"text": "buy figs"}}\n</tool_call>';
const PARAMETERS = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
const BODY = {
  model: "scripted",
  max_tokens: 1000,
  messages: [{ role: "user" as const, content: "Note: buy figs" }],
};
const REPLIES = [{ when: "kept as 7", text: "Noted." }, { text: `<think>\nI note it.\n</think>\nWell.\n${CALL}` }];

async function serve(): Promise<{ server: ScriptedServer; client: Anthropic } & AsyncDisposable> {
  const server = await serveScript({ tools: "hermes", reasoning: "qwen3", replies: REPLIES, repeat: true });
  const client = new Anthropic({ baseURL: server.url, apiKey: "unused", maxRetries: 0, logLevel: "off" });
  return { server, client, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

Deno.test("the stream's own events gather to its final message: text, thinking, signature, arguments, blocks", async () => {
  await using served = await serve();
  const tools = [{ name: "add_note", input_schema: PARAMETERS as unknown as Anthropic.Tool.InputSchema }];
  const stream = served.client.messages.stream({ ...BODY, tools, thinking: { type: "adaptive" } });
  const seen = { text: "", thinking: "", json: "", signature: "", blocks: [] as string[], events: 0 };
  stream.on("text", (delta, snapshot) => {
    seen.text += delta;
    assert.equal(snapshot, seen.text);
  });
  stream.on("thinking", (delta) => void (seen.thinking += delta));
  stream.on("signature", (signature) => void (seen.signature = signature));
  stream.on("inputJson", (delta) => void (seen.json += delta));
  stream.on("contentBlock", ({ type }) => void seen.blocks.push(type));
  stream.on("streamEvent", () => void seen.events++);
  const message = await stream.finalMessage();
  assert.deepEqual(seen.blocks, ["thinking", "text", "tool_use"]);
  const [thinking, text, call] = message.content;
  assert.ok(thinking?.type === "thinking" && text?.type === "text" && call?.type === "tool_use");
  assert.deepEqual([seen.thinking, seen.signature, seen.text], [thinking.thinking, thinking.signature, text.text]);
  assert.deepEqual([JSON.parse(seen.json), call.input], [{ text: "buy figs" }, { text: "buy figs" }]);
  assert.equal(await stream.finalText(), text.text);
  assert.ok(message.usage.input_tokens > 0 && message.usage.output_tokens > 0 && seen.events > 8);
});

Deno.test("the runner of tools ends, streamed and whole, though it would rather have its thread kept", async () => {
  for (const stream of [false, true]) {
    await using served = await serve();
    const notes: string[] = [];
    const addNote = betaTool({
      name: "add_note",
      description: "Keeps a note.",
      inputSchema: PARAMETERS,
      run: ({ text }: { text: string }): string => {
        notes.push(text);
        return "kept as 7";
      },
    });
    const runner = served.client.beta.messages.toolRunner({ ...BODY, tools: [addNote], stream });
    const { content, stop_reason } = await runner.runUntilDone();
    assert.deepEqual([notes, stop_reason], [["buy figs"], "end_turn"]);
    assert.deepEqual(content.map((block) => block.type === "text" && block.text), ["Noted."]);
    const { prompt } = (await served.server.asked()).at(-1);
    for (const part of ["Note: buy figs", "Well.", "kept as 7"]) assert.ok(prompt.includes(part), prompt);
  }
});

Deno.test("a thread that goes on is told as one that is not here, in the words that the package goes by", async () => {
  await using served = await serve();
  const body = { ...BODY, thread: { type: "continue", previous_message_id: "msg_x" } };
  for (const path of ["messages", "messages/count_tokens"]) {
    const response = await fetch(`${served.server.url}/v1/${path}`, { method: "POST", body: JSON.stringify(body) });
    const { error } = await response.json();
    assert.deepEqual([response.status, error.type, error.details], [404, "not_found_error", {
      error_code: "thread_not_found",
    }]);
  }
  const thread = served.client.beta.messages.thread({ ...BODY });
  for (const words of ["One.", "Two."]) await thread.send({ role: "user", content: words });
  assert.match((await served.server.asked()).at(-1).prompt, /buy figs.*One\..*Two\./s);
});
