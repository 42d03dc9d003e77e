import assert from "node:assert/strict";
import { type GenerationEvent, NO_USAGE, type OutputEvent } from "../flow.ts";
import { emptyAccount } from "../output/account.ts";
import { LiveCalls } from "./live_calls.ts";
import { CallMissing } from "./whole_calls.ts";

const TOKEN: GenerationEvent = { type: "token", token: 0, index: 0 };
const text = (shown: string): OutputEvent => ({ type: "text", text: shown, tokens: [] });
const start: OutputEvent = { type: "toolCallStart", index: 0, id: "c", name: "f" };
const json: OutputEvent = { type: "toolCallArguments", index: 0, json: "{" };
const end: OutputEvent = { type: "toolCallEnd", index: 0 };
const broken: OutputEvent = { type: "toolCallBroken", index: 0 };
const finish = (reason: "stop" | "length" | "tool_calls"): OutputEvent => (
  { type: "finish", reason, usage: NO_USAGE, reasoningTokens: 0 }
);

/** What comes out at each event. */
function pass(events: OutputEvent[], required?: string): OutputEvent[][] {
  const left = [...events];
  const decoder = { account: emptyAccount(), stopped: false, push: (): OutputEvent[] => left.splice(0, 1) };
  const calls = new LiveCalls(decoder, required);
  return events.map(() => calls.push(TOKEN));
}

Deno.test("Pieces of a call leave as they come", () => {
  const events = [text("a"), start, json, json, end, finish("tool_calls")];
  assert.deepEqual(pass(events), events.map((event) => [event]));
});

Deno.test("A call that was cut has its part out, and the answer says length", () => {
  const events = [start, json, broken, text("<tool_call>{"), finish("length")];
  assert.deepEqual(pass(events), events.map((event) => [event]));
});

Deno.test("Where a call is required, text waits for the beginning of the first one", () => {
  assert.deepEqual(pass([text("a"), start, end, finish("tool_calls")], "required"), [
    [],
    [text("a"), start],
    [end],
    [finish("tool_calls")],
  ]);
  assert.throws(() => pass([text("a"), finish("stop")], "required"), CallMissing);
  assert.throws(() => pass([start, broken, finish("stop")], "required"), CallMissing);
});
