import assert from "node:assert/strict";
import { NO_USAGE, type OutputEvent } from "../flow.ts";
import { mergeAnswers } from "./answer.ts";

const text = (piece: string): OutputEvent => ({ type: "text", text: piece, tokens: [] });
const finish: OutputEvent = { type: "finish", reason: "stop", usage: NO_USAGE, reasoningTokens: 0 };

/** An answer whose events are released by hand. */
class Script {
  readonly #gates: PromiseWithResolvers<OutputEvent>[] = [];
  asked = 0;

  async *events(): AsyncGenerator<OutputEvent, void> {
    for (;;) {
      const event = await this.#gate(this.asked++).promise;
      yield event;
      if (event.type === "finish") return;
    }
  }

  release(index: number, event: OutputEvent): void {
    this.#gate(index).resolve(event);
  }

  fail(index: number, error: Error): void {
    this.#gate(index).reject(error);
  }

  #gate(index: number): PromiseWithResolvers<OutputEvent> {
    return this.#gates[index] ??= Promise.withResolvers();
  }
}

Deno.test("merged answers come as they happen, each in its own order", async () => {
  const scripts = [new Script(), new Script()] as const;
  const merged = mergeAnswers(scripts.map((script) => script.events()));
  scripts[1].release(0, text("b0"));
  assert.deepEqual((await merged.next()).value, { index: 1, event: text("b0") });
  scripts[1].release(1, text("b1"));
  assert.deepEqual((await merged.next()).value, { index: 1, event: text("b1") });
  scripts[0].release(0, text("a0"));
  assert.deepEqual((await merged.next()).value, { index: 0, event: text("a0") });
  scripts[0].release(1, finish);
  assert.equal((await merged.next()).value.index, 0);
  scripts[1].release(2, finish);
  assert.equal((await merged.next()).value.index, 1);
  assert.equal((await merged.next()).done, true);
});

Deno.test("a merged answer is asked for its next event only when its last was taken", async () => {
  const script = new Script();
  for (let i = 0; i < 5; i++) script.release(i, text(String(i)));
  const merged = mergeAnswers([script.events()]);
  await merged.next();
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.ok(script.asked <= 2, `${script.asked} events were asked for`);
});

Deno.test("an answer that fails fails the merge", async () => {
  const scripts = [new Script(), new Script()] as const;
  const merged = mergeAnswers(scripts.map((script) => script.events()));
  const next = merged.next();
  scripts[0].fail(0, new Error("lost"));
  await assert.rejects(next, /lost/);
});

Deno.test("no answers merge to nothing", async () => {
  const none: AsyncIterator<OutputEvent>[] = [];
  assert.equal((await mergeAnswers(none).next()).done, true);
});
