/** The buffer of one generation: slow readers, ends, and leaving. */
import assert from "node:assert/strict";
import { type GenerationEvent, NO_USAGE } from "../flow.ts";
import { Generation } from "./generation.ts";

const usage = { ...NO_USAGE, promptTokens: 1, completionTokens: 1 };
const token: GenerationEvent = { type: "token", token: 5, index: 0 };
const finish: GenerationEvent = { type: "finish", reason: "stop", usage };

Deno.test("Generation buffers for a slow reader, and only the newest progress", async () => {
  const generation = new Generation(() => assert.fail("nobody left"));
  for (let doneTokens = 1; doneTokens <= 100; doneTokens++) generation.push({ type: "prefill", doneTokens });
  generation.push(token);
  generation.push(finish);
  assert.deepEqual(await Array.fromAsync(generation), [{ type: "prefill", doneTokens: 100 }, token, finish]);
});

Deno.test("Generation drops what comes after its finish", async () => {
  const generation = new Generation(() => assert.fail("nobody left"));
  generation.push(finish);
  generation.push(token);
  generation.fail(new Error("late"));
  assert.deepEqual(await Array.fromAsync(generation), [finish]);
});

Deno.test("Generation tells its owner once when the reader leaves, even with a next() pending", async () => {
  let left = 0;
  const generation = new Generation(() => left++);
  const pending = generation.next();
  await generation.return();
  await generation.return();
  assert.deepEqual(await pending, { done: true, value: undefined });
  assert.equal(left, 1);
});

Deno.test("Generation throws its error once, after what was buffered", async () => {
  const generation = new Generation(() => assert.fail("nobody left"));
  generation.push(token);
  generation.fail(new RangeError("broken"));
  assert.deepEqual(await generation.next(), { done: false, value: token });
  await assert.rejects(generation.next(), { name: "RangeError" });
  assert.deepEqual(await generation.next(), { done: true, value: undefined });
});

Deno.test("Generation refuses a second reader while one waits", async () => {
  const generation = new Generation(() => {});
  const pending = generation.next();
  await assert.rejects(generation.next(), { name: "TypeError" });
  generation.push(finish);
  assert.deepEqual(await pending, { done: false, value: finish });
});
