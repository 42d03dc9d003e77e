import assert from "node:assert/strict";
import { emptyAccount } from "../output/account.ts";
import { type GenerationEvent, NO_USAGE, type OutputEvent } from "../flow.ts";
import { CallMissing, WholeCalls } from "./whole_calls.ts";

const TOKEN: GenerationEvent = { type: "token", token: 0, index: 0 };
const text = (shown: string): OutputEvent => ({ type: "text", text: shown, tokens: [] });
const start = (index: number): OutputEvent => ({ type: "toolCallStart", index, id: `c${index}`, name: "f" });
const json = (index: number): OutputEvent => ({ type: "toolCallArguments", index, json: "{}" });
const end = (index: number): OutputEvent => ({ type: "toolCallEnd", index });
const broken = (index: number): OutputEvent => ({ type: "toolCallBroken", index });
const finish = (reason: "stop" | "length" | "tool_calls"): OutputEvent => (
  { type: "finish", reason, usage: NO_USAGE, reasoningTokens: 0 }
);

/** What comes out at each event. */
function pass(events: OutputEvent[], required?: string): OutputEvent[][] {
  const left = [...events];
  const decoder = { account: emptyAccount(), stopped: false, push: (): OutputEvent[] => left.splice(0, 1) };
  const calls = new WholeCalls(decoder, required);
  return events.map(() => calls.push(TOKEN));
}

Deno.test("A call leaves when it has ended, in its order", () => {
  assert.deepEqual(pass([text("a"), start(0), json(0), end(0), text("b"), finish("tool_calls")]), [
    [text("a")],
    [],
    [],
    [start(0), json(0), end(0)],
    [text("b")],
    [finish("tool_calls")],
  ]);
});

Deno.test("A call that broke is not sent, and those after it move up", () => {
  const events = [start(0), json(0), broken(0), text("{"), start(1), end(1), finish("tool_calls")];
  const moved = { ...start(1), index: 0 };
  assert.deepEqual(pass(events).flat(), [text("{"), moved, end(0), finish("tool_calls")]);
});

Deno.test("An answer that a stop string ended after a whole call says tool_calls, one that was cut says length", () => {
  assert.deepEqual(pass([start(0), end(0), finish("stop")]).flat().at(-1), finish("tool_calls"));
  assert.deepEqual(pass([start(0), end(0), finish("length")]).flat().at(-1), finish("length"));
});

Deno.test("Where a call is required, text waits for the first one", () => {
  const events = [text("a"), start(0), end(0), text("b"), finish("tool_calls")];
  assert.deepEqual(pass(events, "required"), [[], [], [text("a"), start(0), end(0)], [text("b")], [
    finish("tool_calls"),
  ]]);
  assert.deepEqual(pass([text("a"), finish("length")], "required"), [[], [text("a"), finish("length")]]);
});

Deno.test("Where a call is required, an answer that ends without one is an error", () => {
  assert.throws(() => pass([text("a"), finish("stop")], "f"), (error: unknown) => {
    assert.ok(error instanceof CallMissing);
    assert.match(error.message, /a call of f/);
    return true;
  });
});
