import assert from "node:assert/strict";
import { loadProfiles } from "../profiles/store.ts";
import { callsTools, findDialect, markersOf, reasons, UnknownParser } from "./parser_names.ts";

Deno.test("Names and second names lead to the same parser, absent ones to none", () => {
  assert.deepEqual(findDialect(), { tools: "none", reasoning: "none" });
  assert.deepEqual(findDialect("hermes", "qwen3"), { tools: "hermes", reasoning: "qwen3" });
  assert.deepEqual(findDialect("qwen", "qwen3"), findDialect("nous", "qwen3"));
  for (const name of ["harmony", "gpt-oss", "gpt_oss"]) assert.equal(findDialect(name, name).tools, "harmony");
  assert.equal(findDialect(undefined, "harmony").tools, "harmony");
});

Deno.test("A name that no parser has is an error that lists those there are", () => {
  assert.throws(() => findDialect("hermez"), (error: unknown) => {
    assert.ok(error instanceof UnknownParser && error.kind === "tools");
    assert.match(error.message, /expected one of .*hermes.*; found "hermez"/);
    return true;
  });
  assert.throws(() => findDialect("hermes", "qwen33"), (error: unknown) => {
    return error instanceof UnknownParser && error.kind === "reasoning";
  });
  assert.throws(() => findDialect("hermes", "harmony"), UnknownParser);
});

Deno.test("Every line of the profiles names parsers that there are", async () => {
  for (const { tools, reasoning } of (await loadProfiles()).lines.values()) findDialect(tools.parser, reasoning.parser);
});

Deno.test("A dialect says what it can and which special tokens it reads", () => {
  const [plain, harmony] = [findDialect(), findDialect("harmony")];
  assert.deepEqual([callsTools(plain), reasons(plain), markersOf(plain)], [false, false, []]);
  assert.deepEqual([callsTools(harmony), reasons(harmony)], [true, true]);
  assert.ok(markersOf(harmony).includes("<|channel|>"));
  assert.ok(markersOf(findDialect("none", "qwen3")).includes("</think>"));
});
