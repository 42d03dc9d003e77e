/**
 * Every rule of docs/design/0015 on the templates of real models: what they refuse or drop is repaired, what they take
 * is left alone, and no text of the conversation is missing from the prompt.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Conversation, Message, Tool } from "../../../src/flow.ts";
import { repairConversation } from "../../../src/prompt/role_repair.ts";
import { ChatTemplate } from "../../../src/prompt/template.ts";
import { requireTemplates } from "../../support/template_sdist.ts";

const NOTE: Tool = { name: "add_note", description: "Keeps a note", parameters: { type: "object", properties: {} } };
const turn = (role: Message["role"], text: string): Message => ({
  role,
  content: text === "" ? [] : [{ type: "text", text }],
});
const call = (...ids: string[]): Message => ({
  role: "assistant",
  content: [],
  toolCalls: ids.map((id) => ({ id, name: "add_note", arguments: `{"text": "for ${id}"}` })),
});
const result = (id: string): Message => ({ ...turn("tool", `kept ${id}`), toolCallId: id });

/** Conversations as agents send them. */
const CONVERSATIONS: Record<string, Message[]> = {
  "two systems": [turn("system", "Be terse."), turn("system", "Be kind."), turn("user", "Hi")],
  "a system in the middle": [
    turn("system", "Be terse."),
    turn("user", "Hi"),
    turn("assistant", "Hello."),
    turn("system", "It is late."),
    turn("user", "Bye"),
  ],
  "an assistant first": [turn("assistant", "Welcome."), turn("user", "Thanks")],
  "an empty assistant": [turn("user", "One"), turn("assistant", ""), turn("user", "Two")],
  "user text between results": [
    turn("user", "Keep two"),
    call("call_first_of_two", "call_second_of_two"),
    result("call_first_of_two"),
    turn("user", "Hurry"),
    result("call_second_of_two"),
  ],
  "a call that was interrupted": [turn("user", "Keep it"), call("toolu_01ABCDEFG"), turn("user", "Stop")],
  "a user after results": [turn("user", "Keep it"), call("call_x"), result("call_x"), turn("user", "And now?")],
  // As Claude Code begins: its environment behind the question, then calls.
  "a system behind the question": [
    turn("system", "Be terse."),
    turn("user", "Keep it"),
    turn("system", "Today is Tuesday."),
  ],
  "a system behind the question, then a call": [
    turn("system", "Be terse."),
    turn("user", "Keep it"),
    turn("system", "Today is Tuesday."),
    { ...call("toolu_01"), reasoning: "I keep it." },
    result("toolu_01"),
  ],
  "well formed": [
    turn("system", "Be terse."),
    turn("user", "Keep it"),
    call("abcdef123"),
    result("abcdef123"),
    turn("assistant", "Done."),
    turn("user", "Thanks"),
  ],
};

const WANTED: Record<string, Record<string, string[]>> = {
  "Qwen-Qwen3-0.6B": {
    "two systems": [],
    "a system in the middle": [],
    "an assistant first": [],
    "an empty assistant": ["empty_assistant_turn_dropped"],
    "user text between results": ["results_moved_to_their_call"],
    "a call that was interrupted": [],
    "a user after results": [],
    "a system behind the question": [],
    "a system behind the question, then a call": [],
    "well formed": [],
  },
  "meta-llama-Llama-3.3-70B-Instruct": {
    "two systems": [],
    "a system in the middle": [],
    "user text between results": ["results_moved_to_their_call", "calls_parted"],
    "well formed": [],
  },
  "mistralai-Mistral-Nemo-Instruct-2407": {
    "two systems": ["systems_merged"],
    "a system in the middle": ["system_shown_as_user_text", "turns_merged"],
    "an assistant first": ["opening_user_turn_added"],
    "an empty assistant": ["empty_assistant_turn_dropped", "turns_merged"],
    "user text between results": ["results_moved_to_their_call", "assistant_turn_added", "call_ids_shortened"],
    "a call that was interrupted": ["assistant_turn_added", "call_ids_shortened"],
    "a user after results": ["assistant_turn_added", "call_ids_shortened"],
    "a system behind the question": ["system_shown_as_user_text", "turns_merged"],
    "a system behind the question, then a call": ["system_shown_as_user_text", "turns_merged", "call_ids_shortened"],
    "well formed": [],
  },
  "Mistral-Small-3.2-24B-Instruct-2506": {
    "two systems": ["systems_merged"],
    "a user after results": ["assistant_turn_added", "call_ids_shortened"],
    "well formed": [],
  },
  "google-gemma-2-2b-it": {
    "two systems": ["tools_written_as_text", "systems_merged", "system_shown_as_user_text", "turns_merged"],
    "well formed": [
      "tools_written_as_text",
      "calls_written_as_text",
      "results_written_as_text",
      "systems_merged",
      "system_shown_as_user_text",
      "turns_merged",
    ],
  },
  "meetkai-functionary-medium-v3.2": { "well formed": [] },
  "LFM2-8B-A1B": { "well formed": ["calls_written_as_text"] },
  "ibm-granite-granite-3.3-2B-Instruct": { "well formed": ["calls_written_as_text"] },
};

Deno.test("Every rule is applied where a template needs it, and nowhere else", async (t) => {
  const templates = await requireTemplates();
  for (const [name, wanted] of Object.entries(WANTED)) {
    const template = open(templates.get(name) ?? "");
    for (const [key, repairs] of Object.entries(wanted)) {
      await t.step(`${name}: ${key}`, () => assert.deepEqual(render(template, key).repairs, repairs));
    }
  }
});

Deno.test("No template drops a text of a repaired conversation, and none refuses one", async (t) => {
  // They want variables that no client sends (functions, tools that are never null).
  const apart = ["fireworks-ai-llama-3-firefunction-v2", /-tool_use$/];
  for (const [name, source] of await requireTemplates()) {
    if (apart.some((one) => typeof one === "string" ? one === name : one.test(name))) continue;
    await t.step(name, () => {
      const template = open(source);
      for (const [key, messages] of Object.entries(CONVERSATIONS)) {
        const { text } = render(template, key);
        for (const { content } of messages) {
          for (const part of content) assert.ok(text.includes(part.text), `${key}: ${part.text} is not in ${text}`);
        }
      }
    });
  }
});

Deno.test("Ids that Mistral refuses become nine letters and digits, the same in every turn", async () => {
  const template = open((await requireTemplates()).get("mistralai-Mistral-Nemo-Instruct-2407") ?? "");
  const ids = (text: string): string[] => [...text.matchAll(/"(?:id|call_id)": "([^"]*)"/g)].map(([, id]) => id ?? "");
  const [first, second] = ids(render(template, "a user after results").text);
  assert.match(first ?? "", /^[a-z0-9]{9}$/);
  assert.equal(second, first);
  assert.equal(ids(render(template, "a call that was interrupted").text).length, 1);
  assert.deepEqual(ids(render(template, "well formed").text), ["abcdef123", "abcdef123"]);
});

function open(source: string): ChatTemplate {
  const namedTokens = { "bos_token": "<s>", "eos_token": "</s>" };
  return new ChatTemplate({ templates: new Map([["default", source]]), namedTokens, addedTokens: [] });
}

function render(template: ChatTemplate, key: string): { text: string; repairs: string[] } {
  const given: Conversation = {
    messages: CONVERSATIONS[key] ?? [],
    tools: [NOTE],
    templateArguments: {},
    addGenerationPrompt: true,
    readsHermesCalls: true,
  };
  const before = structuredClone(given);
  const traits = template.traits();
  const { conversation, repairs } = repairConversation(given, traits);
  assert.deepEqual(given, before);
  const text = template.render(conversation, traits.argumentsAsText).map((piece) => piece.text).join("");
  return { text, repairs: repairs.map(({ name }) => name) };
}
