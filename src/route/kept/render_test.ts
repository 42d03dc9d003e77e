// deno-lint-ignore-file camelcase -- names of tokenizer_config.json
import assert from "node:assert/strict";
import type { Conversation, Message } from "../../flow.ts";
import { openTextModel } from "../../prompt/text_model.ts";
import { CHATML, textFiles, writeTextCheckpoint } from "../../../tests/support/text_checkpoint.ts";
import { spell } from "./read_turn.ts";
import { renderKept } from "./render.ts";
import { KeptTurns } from "./store.ts";

const TOOLS = [{ name: "look", parameters: {} }];
const WRITTEN = '{ "b": 1,  "a": "wörld" }';
const RAW = `Hello!\n<tool_call>\n{"name":  "look", "arguments": ${WRITTEN}}\n</tool_call>`;

const say = (role: Message["role"], text: string): Message => ({ role, content: [{ type: "text", text }] });
const toConversation = (...messages: Message[]): Conversation => (
  { messages, tools: TOOLS, templateArguments: {}, addGenerationPrompt: true }
);

Deno.test("A turn has its tokens behind the prompt that it answered; anywhere else it is rendered", async () => {
  const template = CHATML.replace("message.role == 'tool'", "false");
  const config = { chat_template: template, bos_token: "<|im_start|>", eos_token: { content: "<|im_end|>" } };
  const directory = await writeTextCheckpoint({ ...textFiles(), "tokenizer_config.json": config });
  const text = await openTextModel(directory);
  try {
    const model = { text, dialect: { tools: "hermes", reasoning: "none" } } as const;
    const turns = new KeptTurns();
    const own = turns.of("alice", 1);
    const asked = await renderKept(model, toConversation(say("user", "hello")), TOOLS, own, {});
    const drawn = Int32Array.from(await text.encode(RAW, { addSpecial: false, parseSpecial: true }));
    const call = { id: "call_1", name: "look", arguments: WRITTEN };
    asked.keep({ content: "Hello!\n", reasoning: "", calls: [call], drawn });

    const returned = { ...say("assistant", "Hello!"), toolCalls: [{ ...call, arguments: '{"a":"wörld","b":1}' }] };
    const result = { ...say("tool", "seen"), toolCallId: call.id };
    const next = toConversation(say("user", "hello"), returned, result);
    const kept = await renderKept(model, next, TOOLS, own, {});
    const whole = [...asked.prompt.ids, ...drawn];
    assert.deepEqual([...kept.prompt.ids.slice(0, whole.length)], whole);
    assert.equal(kept.keptTurns, 1);
    assert.equal(kept.prompt.text, spell(text.vocabulary, kept.prompt.ids));
    assert(kept.prompt.text.includes(`${RAW}<|im_end|>`));

    const others = await renderKept(model, next, TOOLS, turns.of("bob", 1), {});
    assert.deepEqual([others.keptTurns, others.prompt.text.includes(RAW)], [0, false]);
    const elsewhere = toConversation(say("user", "hello there"), returned, result);
    const moved = await renderKept(model, elsewhere, TOOLS, own, {});
    assert.deepEqual([moved.keptTurns, moved.prompt.text.includes(RAW)], [0, false]);
    const changed = { ...returned, toolCalls: [{ ...call, arguments: '{"a":"world","b":1}' }] };
    const plain = await renderKept(model, toConversation(say("user", "hello"), changed, result), TOOLS, own, {});
    assert.deepEqual([plain.keptTurns, plain.prompt.text.includes('{"a":"world","b":1}')], [0, true]);
  } finally {
    await text.close();
    await Deno.remove(directory, { recursive: true });
  }
});
