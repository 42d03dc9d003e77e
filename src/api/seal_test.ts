import assert from "node:assert/strict";
import { Seal } from "./seal.ts";

const TEXTS = ["", "a", "Let me see… 日本 👋🏽\n\u0000", "x".repeat(100_000)];

Deno.test("a signature fits its text and no other", () => {
  const seal = new Seal();
  for (const text of TEXTS) {
    const token = seal.sign(text);
    assert.equal(token, seal.sign(text));
    assert.deepEqual(seal.open(token, text), { state: "signature" });
    assert.deepEqual(seal.open(token, `${text} `), { state: "altered" });
  }
});

Deno.test("a sealed text comes back whole, is never sealed the same twice, and can't be read", () => {
  const seal = new Seal();
  for (const text of TEXTS) {
    const token = seal.seal(text);
    assert.notEqual(token, seal.seal(text));
    assert.deepEqual(seal.open(token, ""), { state: "sealed", text });
    if (text.length > 8) assert.ok(!atob(token).includes(text.slice(0, 8)));
  }
});

Deno.test("a token with any byte changed, or cut at any place, is altered or foreign", () => {
  const seal = new Seal();
  for (const token of [seal.sign("thought"), seal.seal("thought")]) {
    const bytes = Uint8Array.fromBase64(token);
    for (let at = 0; at < bytes.length; at++) {
      const changed = bytes.slice();
      changed[at]! ^= 1;
      for (const damaged of [changed, bytes.slice(0, at)]) {
        const { state } = seal.open(damaged.toBase64(), "thought");
        assert.ok(state === "altered" || state === "foreign", `byte ${at}: ${state}`);
      }
    }
  }
});

Deno.test("tokens of other keys and other texts are foreign", () => {
  const seal = new Seal();
  const other = new Seal();
  const tokens = [other.sign("a"), other.seal("a"), "", "ErUBCkYIBxgCIkA=", "not base64 at all", "\u0000"];
  for (const token of tokens) assert.deepEqual(seal.open(token, "a"), { state: "foreign" });
  const key = new Uint8Array(32).fill(7);
  assert.deepEqual(new Seal(key).open(new Seal(key).seal("b"), ""), { state: "sealed", text: "b" });
});
