import assert from "node:assert/strict";
import { ContextExceeded, findRoom } from "./context.ts";

Deno.test("findRoom gives all that is left, or what was asked for, or a clamp", () => {
  assert.deepEqual(findRoom(10, undefined, 100, "messages"), { maxTokens: 90, clamped: false });
  assert.deepEqual(findRoom(10, 90, 100, "messages"), { maxTokens: 90, clamped: false });
  assert.deepEqual(findRoom(10, 91, 100, "messages"), { maxTokens: 90, clamped: true });
  assert.deepEqual(findRoom(99, undefined, 100, "messages"), { maxTokens: 1, clamped: false });
});

Deno.test("findRoom refuses a prompt that leaves no token, with both numbers", () => {
  for (const promptTokens of [100, 101]) {
    assert.throws(() => findRoom(promptTokens, 1, 100, "messages"), (error: unknown) => {
      assert.ok(error instanceof ContextExceeded);
      assert.match(error.message, new RegExp(`maximum context length is 100 tokens.*${promptTokens} tokens`));
      return true;
    });
  }
});

Deno.test("a prompt that is too long says so in Anthropic's words too, and whether it was counted to its end", () => {
  // The answer needs one token, so a prompt of 100 is over what a context of 100 takes.
  assert.equal(
    new ContextExceeded(100, 100, "messages").anthropicMessage,
    "prompt is too long: 100 tokens > 99 maximum",
  );
  assert.equal(
    new ContextExceeded(250, 100, "messages", true).anthropicMessage,
    "prompt is too long: 250 tokens > 99 maximum (counting ended there)",
  );
});
