import assert from "node:assert/strict";
import { parseScript, ScriptError } from "./script.ts";

const WRONG: [name: string, script: unknown, message: RegExp][] = [
  ["no reply", { model: "m", replies: [] }, /s\.json: replies: expected at least one reply/],
  ["a misspelt key", { model: "m", replies: [{ txt: "x" }] }, /s\.json: replies\[0\]: .*txt/],
  ["text and chunks", { model: "m", replies: [{ text: "x", chunks: ["x"] }] }, /replies\[0\]\.chunks: .*not both/],
  ["nothing to say", { model: "m", replies: [{}] }, /replies\[0\]\.text: expected `text`, `chunks` or `status`/],
  ["a wait without a refusal", { model: "m", replies: [{ text: "x", retry_after: 1 }] }, /replies\[0\]\.retry_after/],
  ["a profile and a parser", { model: "m", profile: "p", tools: "t", replies: [{ text: "x" }] }, /profile: .*not both/],
  ["half a character", { model: "m", replies: [{ text: "\ud83d" }] }, /replies\[0\]\.text: .*surrogates/],
];

for (const [name, script, message] of WRONG) {
  Deno.test(`A script with ${name} is an error with its path`, () => {
    assert.throws(() => parseScript(JSON.stringify(script), "s.json"), (error: unknown) => {
      assert.ok(error instanceof ScriptError);
      assert.match(error.message, message);
      return true;
    });
  });
}

Deno.test("A script that is no JSON is an error with its name", () => {
  assert.throws(() => parseScript("{", "s.json"), /s\.json is no JSON/);
});

Deno.test("A reply for the empty text is one for any, and a misspelt key beside it is still an error", () => {
  const reply = { when: "", text: "x" };
  assert.equal(parseScript(JSON.stringify({ model: "m", replies: [reply] }), "s.json").replies[0]?.when, "");
  const wrong = JSON.stringify({ model: "m", replies: [{ ...reply, wen: "" }] });
  assert.throws(() => parseScript(wrong, "s.json"), /replies\[0\]: .*wen/);
});
