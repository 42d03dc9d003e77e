// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * `--tool-arguments live` with the `openai` package: its stream helper joins the pieces to the same answer, more than
 * one piece arrives, and a call that is cut says `length`.
 *
 * @module
 */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { type ScriptedServer, serveScript } from "../support/scripted_server.ts";

const TOOLS: OpenAI.ChatCompletionTool[] = [{
  type: "function",
  function: {
    name: "write_file",
    parameters: { type: "object", properties: { path: { type: "string" }, content: { type: "string" } } },
  },
}];
const BODY = { model: "scripted", messages: [{ role: "user" as const, content: "Write it." }], tools: TOOLS };
const WANTED = { path: "a.txt", content: "one two three four five six seven eight nine ten" };

/** The same call in formats of three shapes. */
const ANSWERS: Readonly<Record<string, string>> = {
  hermes: `Well. <tool_call>\n{"name": "write_file", "arguments": ${JSON.stringify(WANTED)}}\n</tool_call>`,
  qwen3_coder_xml: "<tool_call>\n<function=write_file>\n" +
    Object.entries(WANTED).map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`).join("") +
    "</function>\n</tool_call>",
  gemma4: '<|tool_call>call:write_file{content:<|"|>' + WANTED.content + '<|"|>,path:<|"|>a.txt<|"|>}<tool_call|>',
};

/** Deltas of arguments, and how the answer ends. */
async function iterate({ client }: ScriptedServer, more: object): Promise<{ pieces: string[]; finish: unknown }> {
  const seen: { pieces: string[]; finish: unknown } = { pieces: [], finish: null };
  for await (const { choices: [choice] } of await client.chat.completions.create({ ...BODY, ...more, stream: true })) {
    for (const call of choice?.delta.tool_calls ?? []) {
      if (call.function?.arguments) seen.pieces.push(call.function.arguments);
    }
    seen.finish = choice?.finish_reason ?? seen.finish;
  }
  return seen;
}

for (const [tools, text] of Object.entries(ANSWERS)) {
  Deno.test(`Arguments in ${tools} arrive as they are written, and the stream helper joins them to the whole answer`, async () => {
    await using served = await serveScript({ tools, replies: [{ text }], repeat: true }, { toolArguments: "live" });
    const { pieces, finish } = await iterate(served, {});
    assert.ok(pieces.length >= 8, `${pieces.length} pieces`);
    assert.deepEqual([JSON.parse(pieces.join("")), finish], [WANTED, "tool_calls"]);
    const helped = await served.client.chat.completions.stream(BODY).finalChatCompletion();
    const whole = await served.client.chat.completions.create(BODY);
    for (const { choices: [choice] } of [helped, whole]) {
      const [call] = choice?.message.tool_calls ?? [];
      assert.ok(call?.type === "function");
      assert.deepEqual([JSON.parse(call.function.arguments), choice?.finish_reason], [WANTED, "tool_calls"]);
    }
    assert.equal(helped.choices[0]?.message.content ?? "", whole.choices[0]?.message.content ?? "");
  });
}

Deno.test("A call that is cut has its part out and says length; whole calls are not sent so", async () => {
  const script = { tools: "hermes", replies: [{ text: ANSWERS["hermes"] }], repeat: true };
  await using live = await serveScript(script, { toolArguments: "live" });
  await using whole = await serveScript(script);
  const cut = { max_tokens: 30 };
  const { pieces, finish } = await iterate(live, cut);
  assert.equal(finish, "length");
  assert.ok(JSON.stringify(WANTED).replaceAll(" ", "").startsWith(pieces.join("").replaceAll(" ", "")));
  assert.ok(pieces.length > 0);
  assert.deepEqual(await iterate(whole, cut), { pieces: [], finish: "length" });
  // Not streamed nothing is out before the end is known.
  const { choices: [choice] } = await live.client.chat.completions.create({ ...BODY, ...cut });
  assert.deepEqual([choice?.message.tool_calls, choice?.finish_reason], [undefined, "length"]);
});
