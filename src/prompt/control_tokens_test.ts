import assert from "node:assert/strict";
import { chooseMarks, controlTokens, holds, mark, toPieces, toTokenPattern } from "./control_tokens.ts";
import { TemplateError } from "./errors.ts";
import { parseJson } from "./jinja/json.ts";
import { toJson } from "./jinja/text.ts";
import type { Value } from "./jinja/values.ts";
import type { AddedTokenJson } from "./text_files.ts";

const MARKS = { begin: "\ufdd0", end: "\ufdd1" };

Deno.test("Control tokens are the special ones and those in the template's own text, but for white space", () => {
  const added = [token("<|end|>", true), token("<think>"), token("<unused>"), token("\n\n")];
  assert.deepEqual(controlTokens(added, "…<think>…\n\n"), ["<|end|>", "<think>"]);
});

Deno.test("Spellings are marked in texts, keys and values of calls, the longest first", () => {
  const pattern = toTokenPattern(["<a>", "<a><b>"]);
  const call = parseJson('{"<a>": ["x<a><b>y", 1.0]}');
  assert.ok(holds({ deep: [{ call }] }, pattern));
  assert.ok(!holds({ deep: ["<b>", 3, null, true] }, pattern));
  const marked = mark({ content: "1<a>2", call }, pattern, MARKS) as { content: string; call: Value };
  assert.equal(marked.content, "1\ufdd0<a>\ufdd12");
  assert.equal(toJson(marked.call), '{"\ufdd0<a>\ufdd1": ["x\ufdd0<a><b>\ufdd1y", 1.0]}');
});

Deno.test("Marks are characters that the conversation does not hold", () => {
  assert.deepEqual(chooseMarks({ content: "\ufdd0 \ufdd2" }), { begin: "\ufdd1", end: "\ufdd3" });
  const all = Array.from({ length: 32 }, (_, i) => String.fromCharCode(0xfdd0 + i)).join("");
  assert.throws(() => chooseMarks({ content: all }), TemplateError);
});

Deno.test("A prompt falls into pieces at marked tokens, and a lone mark parts its text", () => {
  const pieces = toPieces("<a>x\ufdd0<a>\ufdd1y<\ufdd0a>z", ["<a>"], MARKS);
  assert.deepEqual(pieces, [
    { text: "<a>x", plain: false },
    { text: "<a>", plain: true },
    { text: "y<", plain: false },
    { text: "a>z", plain: false },
  ]);
});

function token(content: string, special = false): AddedTokenJson {
  return { id: 0, content, special, single_word: false, lstrip: false, rstrip: false };
}
