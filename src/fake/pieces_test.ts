import assert from "node:assert/strict";
import { cutSimply, cutText, SpecialSpellings, toPieces } from "./pieces.ts";

const special = new SpecialSpellings(["<think>", "[TOOL_CALLS]"]);
const spell = (pieces: readonly { bytes: Uint8Array; special: boolean }[]): [string, boolean][] =>
  pieces.map((piece) => [new TextDecoder().decode(piece.bytes), piece.special]);

Deno.test("A text is cut into words, and every spelled-out special is one token", async () => {
  const cut = (text: string): Promise<Uint8Array[]> => Promise.resolve(cutSimply(text));
  assert.deepEqual(spell(await cutText("<think>so then[TOOL_CALLS]🙂<|im_end|>", special, cut)), [
    ["<think>", true],
    ["so", false],
    [" then", false],
    ["[TOOL_CALLS]", true],
    ["🙂", false],
    ["<|im_end|>", true],
  ]);
});

Deno.test("A chunk is special only if it is a special token as a whole", () => {
  assert.deepEqual(spell(toPieces(["<think>", "<think> x", "<|a|>", "<｜b｜>", "<|a"], special)), [
    ["<think>", true],
    ["<think> x", false],
    ["<|a|>", true],
    ["<｜b｜>", true],
    ["<|a", false],
  ]);
});

Deno.test("Simple tokens joined are the text", () => {
  const text = "one  two\n\tthree—four 日本語 🙂 a_very_long_identifier";
  assert.equal(cutSimply(text).map((bytes) => new TextDecoder().decode(bytes)).join(""), text);
});
