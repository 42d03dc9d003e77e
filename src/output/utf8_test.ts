import assert from "node:assert/strict";
import { splits } from "../../tests/support/splits.ts";
import { PieceVocabulary } from "../../tests/support/vocabulary.ts";
import { Run } from "./run.ts";
import { Utf8Stage } from "./utf8.ts";

const TEXTS: [string, Uint8Array][] = [
  ["ASCII", utf8("plain text")],
  ["two to four bytes", utf8("é€🙂語")],
  ["joined emoji", utf8("👩‍👩‍👧 ok")],
  ["a byte order mark", utf8("\uFEFFx\uFEFF")],
  ["the replacement character itself", utf8("a\uFFFDb")],
  ["a lone continuation byte", Uint8Array.of(0x61, 0x80, 0x62)],
  ["an overlong form", Uint8Array.of(0xc0, 0xaf, 0x41)],
  ["a surrogate in UTF-8", Uint8Array.of(0xed, 0xa0, 0x80, 0x41)],
  ["a character cut by another", Uint8Array.of(0xe2, 0x82, 0x41, 0xf0, 0x9f, 0x99)],
  ["an end inside a character", Uint8Array.of(0x41, 0xf0, 0x9f)],
];

for (const [name, bytes] of TEXTS) {
  Deno.test(`Utf8Stage gives the same text for every split of ${name}`, () => {
    const whole = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    for (const pieces of splits(bytes)) {
      const runs = decode(pieces);
      assert.equal(runs.map((run) => run.text).join(""), whole);
      for (const run of runs) assert.ok(run.text.isWellFormed(), "a run ends inside a surrogate pair");
      const bytesBack = runs.flatMap((run) => run.tokens.flatMap((token) => [...token.bytes]));
      assert.deepEqual(Uint8Array.from(bytesBack), bytes);
      for (const run of runs) checkPlaces(run);
    }
  });
}

Deno.test("Utf8Stage drops one leading space where the reference decoder does, with its byte", () => {
  const vocabulary = new PieceVocabulary({ stripsLeadingSpace: true });
  const [run] = decode([utf8("  Hello")], vocabulary);
  assert.equal(run?.text, " Hello");
  assert.deepEqual(run?.tokens[0]?.bytes, utf8(" Hello"));
  assert.equal(decode([utf8("Hello"), utf8(" you")], vocabulary).map((r) => r.text).join(""), "Hello you");
});

Deno.test("Utf8Stage keeps the leading space of an answer that goes on a text", () => {
  const vocabulary = new PieceVocabulary({ stripsLeadingSpace: true });
  const stage = new Utf8Stage({ vocabulary, endTokens: [], continuesText: true, ...REST });
  assert.equal(stage.push({ type: "token", token: vocabulary.id(" Paris"), index: 0 })[0]?.text, " Paris");
});

Deno.test("Utf8Stage gives special tokens as control runs and end tokens not at all", () => {
  const vocabulary = new PieceVocabulary({ special: ["<|im_end|>", "<|tool|>"] });
  const end = vocabulary.id("<|im_end|>");
  const stage = new Utf8Stage({ vocabulary, endTokens: [end], continuesText: false, ...REST });
  assert.deepEqual(stage.push({ type: "token", token: end, index: 0 }), []);
  const [control] = stage.push({ type: "token", token: vocabulary.id("<|tool|>"), index: 1 });
  assert.equal(control?.text, "<|tool|>");
  assert.equal(control?.control, true);
});

Deno.test("Utf8Stage joins a character across a special token that nobody reads", () => {
  const vocabulary = new PieceVocabulary({ special: ["<|x|>"] });
  const pieces = [Uint8Array.of(0xe2, 0x82), utf8("<|x|>"), Uint8Array.of(0xac)];
  assert.deepEqual(decode(pieces, vocabulary).filter((run) => !run.control).map((run) => run.text), ["€"]);
});

const REST = { readsSpecial: () => false, wholeTokens: true };

function decode(pieces: Uint8Array[], vocabulary = new PieceVocabulary()): Run[] {
  const stage = new Utf8Stage({ vocabulary, endTokens: [], continuesText: false, ...REST });
  const runs = pieces.flatMap((piece, index) => stage.push({ type: "token", token: vocabulary.id(piece), index }));
  return [...runs, ...stage.finish()];
}

function checkPlaces(run: Run): void {
  let last = 0;
  for (const token of run.tokens) {
    assert.ok(token.start >= 0 && token.start <= token.end && token.end <= run.length, "a token lies outside its run");
    assert.ok(token.start >= last, "tokens are out of order");
    last = token.start;
  }
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
