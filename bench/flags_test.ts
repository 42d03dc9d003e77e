import assert from "node:assert/strict";
import { readFlags } from "./flags.ts";

Deno.test("flags are read with their defaults; an unknown one and a number that is none are refused by name", () => {
  const read = (...args: string[]) => readFlags({ rounds: 5, tokens: 48 }, ["venv"], args);
  assert.deepEqual({ ...read("--rounds", "9") }, { rounds: 9, tokens: 48 });
  assert.equal(read("--venv=somewhere").venv, "somewhere");
  assert.throws(() => read("--rounds", "many"), /--rounds is "many"/);
  assert.throws(() => read("--tokens", "0"), /--tokens/);
  assert.throws(() => read("--turns", "1"), /--turns/);
});
