import assert from "node:assert/strict";
import type { Conversation, Message } from "../../flow.ts";
import { restoreTurns } from "./restore.ts";
import { KeptTurns, toCallKey } from "./store.ts";
import type { KeptTurn } from "./turn.ts";

const CALLS = [
  { id: "call_1", name: "look", arguments: '{"b": 1, "a": 2}' },
  { id: "call_2", name: "look", arguments: "{ }" },
];

const TURN: KeptTurn = {
  content: "I look.\n",
  reasoning: "Where is it?",
  calls: CALLS,
  prompt: { headLength: 0, headDigest: "", tail: new Int32Array() },
};

const user: Message = { role: "user", content: [{ type: "text", text: "Find it." }] };

function open(): { turns: KeptTurns; restore: (...messages: Message[]) => ReturnType<typeof restoreTurns> } {
  const turns = new KeptTurns();
  const own = turns.of("", 1);
  own.put(CALLS.map(({ id }) => toCallKey(id)), TURN);
  return { turns, restore: (...messages) => restoreTurns(toConversation(messages), [], own) };
}

function toConversation(messages: Message[], addGenerationPrompt = true): Conversation {
  return { messages, tools: [], templateArguments: {}, addGenerationPrompt };
}

const returned: Message = {
  role: "assistant",
  content: [{ type: "text", text: "I look." }],
  toolCalls: [
    { ...CALLS[0]!, arguments: '{"a":2,"b":1}' },
    { ...CALLS[1]!, arguments: "{}" },
  ],
};

Deno.test("A turn that comes back rewritten and without its reasoning is as it was answered", () => {
  const { restore } = open();
  const { conversation, turns } = restore(user, returned);
  assert.deepEqual(turns, [TURN]);
  assert.deepEqual(conversation.messages, [user, {
    role: "assistant",
    content: [{ type: "text", text: TURN.content }],
    reasoning: TURN.reasoning,
    toolCalls: CALLS,
  }]);
});

Deno.test("A turn whose text or reasoning was changed stays, and its calls are still those that were written", () => {
  const { restore } = open();
  for (const changed of [{ ...returned, content: [] }, { ...returned, reasoning: "Another thought." }]) {
    const { conversation, turns } = restore(user, changed);
    assert.deepEqual(turns, []);
    assert.deepEqual(conversation.messages[1], { ...changed, toolCalls: CALLS });
  }
});

Deno.test("A turn that comes back one call at a time has its calls as they were written", () => {
  const { restore } = open();
  const [first, second] = returned.toolCalls!;
  const parts = [[first!], [second!]].map((toolCalls): Message => ({ role: "assistant", content: [], toolCalls }));
  const { conversation, turns } = restore(user, ...parts);
  assert.deepEqual(turns, []);
  assert.deepEqual(conversation.messages.flatMap(({ toolCalls }) => toolCalls ?? []), CALLS);
});

Deno.test("A call with another name, other arguments or an id that was never given stays as it is", () => {
  const { restore } = open();
  const [first] = returned.toolCalls!;
  for (const change of [{ name: "peek" }, { arguments: '{"a":3,"b":1}' }, { id: "call_3" }]) {
    const message: Message = { ...returned, toolCalls: [{ ...first!, ...change }] };
    assert.deepEqual(restore(user, message).conversation.messages[1], message);
  }
});

Deno.test("A text answer is restored in its place only, and not where it is to be gone on with", () => {
  const { turns } = open();
  const own = turns.of("", 1);
  const answer: KeptTurn = { ...TURN, content: "Done.", calls: [] };
  own.put([restoreTurns(toConversation([user]), [], own).answerKey("Done.")], answer);
  const said: Message = { role: "assistant", content: [{ type: "text", text: "Done." }] };
  assert.deepEqual(restoreTurns(toConversation([user, said, user]), [], own).turns, [answer]);
  assert.deepEqual(restoreTurns(toConversation([user, user, said]), [], own).turns, []);
  assert.deepEqual(restoreTurns(toConversation([user, said], false), [], own).turns, []);
});
