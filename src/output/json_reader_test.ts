import assert from "node:assert/strict";
import { splits } from "../../tests/support/splits.ts";
import { JsonReader } from "./json_reader.ts";

/** Input, what is written, how it ends, what was repaired. */
const CASES: [input: string, output: string, state: "done" | "broken", repairs: string[]][] = [
  [
    '{"a": 1, "b": [true, null, -1.5e3, "x"], "c": {}}',
    '{"a": 1, "b": [true, null, -1.5e3, "x"], "c": {}}',
    "done",
    [],
  ],
  ['{ "a" :\n1 }', '{ "a" :\n1 }', "done", []],
  ['"é🙂\\n\\u00e9\\ud83d\\ude42\\"\\\\/"', '"é🙂\\n\\u00e9\\ud83d\\ude42\\"\\\\/"', "done", []],
  ["[]", "[]", "done", []],
  ['{"a": "line\nline\ttab"}', '{"a": "line\\nline\\ttab"}', "done", ["control_character_escaped"]],
  ['{"re": "\\d+\\."}', '{"re": "\\\\d+\\\\."}', "done", ["invalid_escape_kept"]],
  ['{"u": "\\u12"}', '{"u": "\\\\u12"}', "done", ["invalid_escape_kept"]],
  ['{"a": True, "b": None}', '{"a": true, "b": null}', "done", ["python_literal"]],
  ["{'a': 'say \"hi\"', 'b': 'it\\'s'}", '{"a": "say \\"hi\\"", "b": "it\'s"}', "done", ["single_quotes"]],
  ['{a: 1, _b-2: "x"}', '{"a": 1, "_b-2": "x"}', "done", ["bare_key"]],
  ['{"a": [1, 2,], }', '{"a": [1, 2] }', "done", ["trailing_comma_dropped"]],
  ['{"a": {"b": [1', '{"a": {"b": [1]}}', "done", ["missing_bracket_added"]],
  ['{"a": "x"', '{"a": "x"}', "done", ["missing_bracket_added"]],
  ["12", "12", "done", []],
  ['{"a": "x', '{"a": "x', "broken", []],
  ['{"a": ', '{"a": ', "broken", []],
  ['{"a"', '{"a"', "broken", []],
  ['{"a": 1,', '{"a": 1', "broken", []],
  ['{"a": 1]', '{"a": 1', "broken", []],
  ['{"a" 1}', '{"a" ', "broken", []],
  ['{"a": 01}', '{"a": ', "broken", []],
  ['{"a": nope}', '{"a": ', "broken", []],
  ['{"a": 1 "b": 2}', '{"a": 1 ', "broken", []],
  ["{'a': 'it's'}", '{"a": "it"', "broken", ["single_quotes"]],
  ["{,}", "{", "broken", []],
  ["[".repeat(200), "[".repeat(128), "broken", []],
];

for (const [input, output, state, repairs] of CASES) {
  Deno.test(`JsonReader reads ${JSON.stringify(input.slice(0, 60))} alike for every split`, () => {
    for (const pieces of splits(input, 40)) {
      const reader = new JsonReader();
      let written = "";
      for (const piece of pieces) written += reader.push(piece).json;
      written += reader.finish();
      assert.equal(written, output);
      assert.equal(reader.state, state);
      assert.deepEqual(reader.repairs, repairs);
      if (state === "done") JSON.parse(written);
    }
  });
}

Deno.test("JsonReader leaves what comes after the value unread", () => {
  const reader = new JsonReader();
  assert.deepEqual(reader.push('x{"a": 1}</tool_call>', 1), { json: '{"a": 1}', next: 9 });
  assert.equal(reader.state, "done");
});
