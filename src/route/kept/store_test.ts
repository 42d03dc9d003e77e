import assert from "node:assert/strict";
import type { Message } from "../../flow.ts";
import { ConversationKey, KeptTurns, toCallKey } from "./store.ts";
import type { KeptTurn } from "./turn.ts";

const turn = (content: string, drawn = new Int32Array(10)): KeptTurn => ({
  content,
  reasoning: "",
  calls: [],
  prompt: { headLength: 0, headDigest: "", tail: new Int32Array() },
  drawn,
});

Deno.test("A turn is found by any of its calls, under the key and the model that it was answered for", () => {
  const turns = new KeptTurns();
  const kept = turn("a");
  turns.of("alice", 1).put([toCallKey("one"), toCallKey("two")], kept);
  assert.equal(turns.of("alice", 1).get(toCallKey("two")), kept);
  assert.equal(turns.of("bob", 1).get(toCallKey("one")), undefined);
  assert.equal(turns.of("alice", 2).get(toCallKey("one")), undefined);
  assert.equal(turns.of("", 1).get(toCallKey("one")), undefined);
});

Deno.test("The turn that was used least lately goes first, with all its keys", () => {
  const turns = new KeptTurns({ turnsMax: 2 });
  const own = turns.of("", 1);
  own.put(["a", "a2"], turn("a"));
  own.put(["b"], turn("b"));
  assert.equal(own.get("a2")?.content, "a");
  own.put(["c"], turn("c"));
  assert.deepEqual(["a", "a2", "b", "c"].map((key) => own.get(key)?.content), ["a", "a", undefined, "c"]);
  assert.equal(turns.size.turns, 2);
});

Deno.test("Bytes are bounded: old turns make place, and one that is too large is not kept", () => {
  const turns = new KeptTurns({ bytesMax: 10_000 });
  const own = turns.of("", 1);
  own.put(["a"], turn("a", new Int32Array(500)));
  own.put(["b"], turn("b", new Int32Array(500)));
  assert.equal(own.get("a"), undefined);
  own.put(["c"], turn("c", new Int32Array(5000)));
  assert.equal(own.get("c"), undefined);
  assert.equal(own.get("b")?.content, "b");
  assert(turns.size.bytes > 0 && turns.size.bytes <= 10_000);
  own.put(["b"], turn("again"));
  assert.deepEqual([own.get("b")?.content, turns.size.turns], ["again", 1]);
});

Deno.test("A turn without calls is known by all that came before it", () => {
  const say = (role: Message["role"], text: string): Message => ({ role, content: [{ type: "text", text }] });
  const keyOf = (...messages: Message[]): string => {
    const key = new ConversationKey();
    for (const message of messages) key.add(message);
    return key.toString();
  };
  const known = keyOf(say("user", "Hi"), say("assistant", "Hello."));
  assert.equal(keyOf(say("user", "Hi"), { ...say("assistant", "Hello.\n"), reasoning: "So." }), known);
  assert.notEqual(keyOf(say("user", "Hi "), say("assistant", "Hello.")), known);
  assert.notEqual(keyOf(say("system", "S"), say("user", "Hi"), say("assistant", "Hello.")), known);
  assert.notEqual(keyOf(say("user", "Hi"), say("user", "Hello.")), known);
  const key = new ConversationKey();
  key.add(say("user", "Hi"));
  assert.equal(key.with(say("assistant", "Hello.")), known);
  assert.notEqual(key.toString(), known);
});
