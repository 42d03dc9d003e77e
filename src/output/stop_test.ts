import assert from "node:assert/strict";
import type { OutputEvent } from "../flow.ts";
import { splits } from "../../tests/support/splits.ts";
import { PieceVocabulary } from "../../tests/support/vocabulary.ts";
import { createDecoder } from "./decoder.ts";

/** Text, stop strings, what is shown, which string stopped it. */
const CASES: [text: string, stop: string[], shown: string, stopString: string | undefined][] = [
  ["Hello world", [], "Hello world", undefined],
  ["Hello\nworld", ["\n"], "Hello", "\n"],
  ["one###two", ["###"], "one", "###"],
  ["one##two", ["###"], "one##two", undefined],
  ["ends with ##", ["###"], "ends with ##", undefined],
  ["####", ["###"], "", "###"],
  ["aaab", ["aab"], "a", "aab"],
  ["ababac", ["abac"], "ab", "abac"],
  ["abcd", ["abcd", "bc"], "a", "bc"],
  ["abcd", ["d", "bcd", "cd"], "a", "bcd"],
  ["x END y", ["END", "X"], "x ", "END"],
  ["un été 🙂 fini", ["🙂"], "un été ", "🙂"],
  ["日本語です", ["語で"], "日本", "語で"],
  ["🙂🙃🙂", ["🙃"], "🙂", "🙃"],
];

for (const [text, stop, expected, stopString] of CASES) {
  const name = `${JSON.stringify(text)} stopped by ${JSON.stringify(stop)}`;
  Deno.test(`A decoder shows the same for every split of ${name}`, () => {
    for (const pieces of splits(new TextEncoder().encode(text))) {
      for (const logprobsTop of [undefined, 0]) {
        const { events, stopped } = decode(pieces, stop, logprobsTop);
        assert.equal(textOf(events), expected);
        assert.equal(stopped, stopString !== undefined);
        const finish = events.at(-1);
        assert.ok(finish?.type === "finish");
        assert.equal(finish.stopString, stopString);
        assert.equal(finish.reason, "stop");
        checkNothingHidden(events, text, stop, expected);
        if (logprobsTop !== undefined) checkTokens(events, expected);
      }
    }
  });
}

Deno.test("A stop string that spells a special token stops at that token", () => {
  const vocabulary = new PieceVocabulary({ special: ["<|eot|>"] });
  const decoder = createDecoder({ vocabulary, endTokens: [], stop: ["<|eot|>"] });
  const events = vocabulary.events(["Hi", "<|eot|>", " there"]).flatMap((event) => decoder.push(event));
  assert.equal(textOf(events), "Hi");
  assert.ok(decoder.stopped);
});

Deno.test("A special token that nobody reads is hidden and named", () => {
  const vocabulary = new PieceVocabulary({ special: ["<|odd|>"] });
  const decoder = createDecoder({ vocabulary, endTokens: [], stop: [] });
  const events = vocabulary.events(["Hi", "<|odd|>", " there"]).flatMap((event) => decoder.push(event));
  assert.equal(textOf(events), "Hi there");
  assert.deepEqual(events[1], { type: "repair", name: "special_token_hidden", detail: "<|odd|>" });
});

Deno.test("Usage counts tokens up to the one that completed a stop string", () => {
  const vocabulary = new PieceVocabulary();
  const decoder = createDecoder({ vocabulary, endTokens: [], stop: ["STOP"] });
  const pieces = ["a", "ST", "OP", "late", "later"];
  const finish = vocabulary.events(pieces, "cancelled").flatMap((event) => decoder.push(event)).at(-1);
  assert.ok(finish?.type === "finish");
  assert.equal(finish.usage.completionTokens, 3);
  assert.equal(finish.reason, "stop");
});

Deno.test("Each token is reported once, with its alternatives, in the piece where it became visible", () => {
  const vocabulary = new PieceVocabulary();
  const decoder = createDecoder({ vocabulary, endTokens: [], stop: ["\n\n"], logprobsTop: 1 });
  const other = vocabulary.id("other");
  const token = (piece: string, index: number): OutputEvent[] =>
    decoder.push({
      type: "token",
      token: vocabulary.id(piece),
      index,
      logprob: -0.5,
      top: [{ token: other, logprob: -0.1 }, { token: 0, logprob: -3 }],
    });
  assert.deepEqual(token("line\n", 0), []);
  const [text] = token("next", 1);
  assert.ok(text?.type === "text");
  assert.equal(text.text, "line\nnext");
  assert.deepEqual(text.tokens.map((visible) => new TextDecoder().decode(visible.bytes)), ["line\n", "next"]);
  assert.deepEqual(text.tokens[0]?.top, [{ token: other, logprob: -0.1, bytes: new TextEncoder().encode("other") }]);
});

function decode(
  pieces: Uint8Array[],
  stop: string[],
  logprobsTop: number | undefined,
): { events: OutputEvent[]; stopped: boolean } {
  const vocabulary = new PieceVocabulary();
  const decoder = createDecoder({
    vocabulary,
    endTokens: [],
    stop,
    ...(logprobsTop === undefined ? {} : { logprobsTop }),
  });
  const events = vocabulary.events(pieces).flatMap((event) => decoder.push(event));
  return { events, stopped: decoder.stopped };
}

function textOf(events: OutputEvent[]): string {
  return events.map((event) => event.type === "text" ? event.text : "").join("");
}

/** At no time was more shown than the text before the stop string, and every piece is whole and not empty. */
function checkNothingHidden(events: OutputEvent[], text: string, stop: string[], expected: string): void {
  let shown = "";
  for (const event of events) {
    if (event.type !== "text") continue;
    assert.ok(event.text.length > 0 && event.text.isWellFormed());
    shown += event.text;
    assert.ok(expected.startsWith(shown), `${JSON.stringify(shown)} was shown of ${JSON.stringify(text)} (${stop})`);
  }
}

/** The bytes of the reported tokens are the shown text. */
function checkTokens(events: OutputEvent[], expected: string): void {
  const bytes = events.flatMap((event) => event.type === "text" ? event.tokens.flatMap((t) => [...t.bytes]) : []);
  assert.equal(new TextDecoder().decode(Uint8Array.from(bytes)), expected);
}
