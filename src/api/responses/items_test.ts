import assert from "node:assert/strict";
import { RequestError } from "../errors.ts";
import { IgnoredFields } from "../fields.ts";
import { Seal } from "../seal.ts";
import { ITEMS_MAX, toItems, toTurns } from "./items.ts";
import { toResponsesTools } from "./tools.ts";

function read(items: readonly object[]): ReturnType<typeof toTurns> {
  const ignored = new IgnoredFields();
  return toTurns(toItems(items), { tools: toResponsesTools([], ignored), seal: new Seal(), ignored });
}

Deno.test("a turn in as many pieces as a request may have is read in one go", () => {
  const piece = { role: "assistant", content: "x".repeat(700) };
  const [turn, ...others] = read(Array.from({ length: ITEMS_MAX }, () => piece));
  assert.equal(turn?.content[0]?.text.length, 700 * ITEMS_MAX);
  assert.deepEqual([turn?.content.length, others], [1, []]);
});

Deno.test("an item whose type is no text is no message", () => {
  assert.throws(
    () => read([{ role: "user", content: "Hi" }, { type: 5, role: "user", content: "Hi" }]),
    (error: unknown) => error instanceof RequestError && error.options.param === "input[1].type",
  );
  assert.equal(read([{ type: null, role: "user", content: "Hi" }]).length, 1);
});
