import assert from "node:assert/strict";
import { toFreeformArguments, toFreeformText } from "./freeform.ts";

Deno.test("the text of a freeform call is its input, or the only text, or the arguments as they were written", () => {
  const rows: [json: string, text: string][] = [
    [toFreeformArguments('a "b"\n'), 'a "b"\n'],
    ['{"patch": "p"}', "p"],
    ['{"more": "m", "input": "i"}', "i"],
    ['{"a": "x", "b": "y"}', '{"a": "x", "b": "y"}'],
    ['{"input": 12345678901234567890}', '{"input": 12345678901234567890}'],
    ['{"input": ["x"]}', '{"input": ["x"]}'],
    ["{}", "{}"],
    ['{"__proto__": "p"}', "p"],
  ];
  for (const [json, text] of rows) assert.equal(toFreeformText(json), text, json);
});

Deno.test("a half of a character is none that a client could send back", () => {
  assert.equal(toFreeformText('{"input": "a\\ud800b"}'), "a\ufffdb");
  assert.equal(toFreeformText('{"input": "\\ud83d\\ude00"}'), "😀");
});
