import assert from "node:assert/strict";
import { PieceVocabulary } from "../../tests/support/vocabulary.ts";
import { toolBiasOf } from "./tool_bias.ts";

Deno.test("texts of a profile are found as tokens of the vocabulary, control tokens among them", () => {
  const vocabulary = new PieceVocabulary({ special: ["<tool_call>"] });
  const [call, word] = ["<tool_call>", "word"].map((piece) => vocabulary.events([piece]))
    .map((events) => events.flatMap((event) => event.type === "token" ? [event.token] : [])[0]);
  assert.ok(call !== undefined && word !== undefined);
  const toolBias = { "<tool_call>": 2, "word": -1, "<not_there>": 5 };
  assert.deepEqual([...toolBiasOf({ toolBias, text: { vocabulary } })], [[call, 2], [word, -1]].sort());
  assert.equal(toolBiasOf({ text: { vocabulary: new PieceVocabulary() } }).size, 0);
});
