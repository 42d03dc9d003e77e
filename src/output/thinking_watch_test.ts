/** The watch tells what the decoder would, in every format of reasoning; a format's closing ends the reasoning. */
import assert from "node:assert/strict";
import { PieceVocabulary } from "../../tests/support/vocabulary.ts";
import { NO_USAGE, type Vocabulary } from "../flow.ts";
import { createDecoder, type Dialect } from "./decoder.ts";
import { findDialect, markersOf } from "./parser_names.ts";
import { REASONING_PARSERS } from "./reasoning/mod.ts";
import { closingOf, ThinkingWatch } from "./thinking_watch.ts";

/** How a block begins, where it is not `<think>`. */
const OPENERS: Readonly<Record<string, string>> = {
  "gemma4": "<|channel>thought\n",
  "harmony": "<|channel|>analysis<|message|>",
  "hy_v3": "<think:opensource>",
  "k2_horizon": "<ifm|think>",
  "magistral": "[THINK]",
  "muse": "to=self<|message|>",
  "north": "<|START_THINKING|>",
  "seed_oss": "<seed:think>",
  "thought": "<thought>",
  "ui_tars": "Thought: ",
};
/** Nothing is reasoning there. */
const WITHOUT = ["none", "functionary"];

/** Text as tokens: markers whole, all else letter by letter. */
function cut(vocabulary: PieceVocabulary, dialect: Dialect, text: string): number[] {
  const markers = markersOf(dialect).toSorted((a, b) => b.length - a.length)
    .map((marker) => marker.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"));
  return (text.match(new RegExp([...markers, "[^]"].join("|"), "gu")) ?? []).map((piece) => vocabulary.id(piece));
}

function decode(dialect: Dialect, vocabulary: Vocabulary, tokens: readonly number[]): [string, string] {
  const decoder = createDecoder({ vocabulary, endTokens: [], stop: [], dialect });
  const events = [
    ...tokens.flatMap((token, index) => decoder.push({ type: "token", token, index })),
    ...decoder.push({ type: "finish", reason: "stop", usage: NO_USAGE }),
  ];
  const join = (type: "text" | "reasoning"): string =>
    events.map((event) => event.type === type ? event.text : "").join("");
  return [join("reasoning"), join("text")];
}

for (const name of [...REASONING_PARSERS.filter((one) => !WITHOUT.includes(one)), "harmony"]) {
  Deno.test(`${name}: thinking is seen from its opening to its closing, and what follows that is the answer`, () => {
    const dialect = name === "harmony" ? findDialect("harmony") : findDialect("none", name);
    const vocabulary = new PieceVocabulary({ special: markersOf(dialect).filter((marker) => /^<.*>$/.test(marker)) });
    const closing = closingOf(dialect, vocabulary);
    assert.notEqual(closing, "");
    const watch = new ThinkingWatch({ vocabulary, endTokens: [], dialect });
    const push = (text: string): number[] => {
      const tokens = cut(vocabulary, dialect, text);
      for (const token of tokens) watch.push(token);
      return tokens;
    };
    assert.equal(watch.thinking, false);
    const opened = push(OPENERS[name] ?? "<think>");
    const thoughts = push("so it is");
    assert.deepEqual([watch.thinking, watch.answered], [true, false]);
    const closed = push(closing);
    assert.equal(watch.thinking, false);
    const answer = push("Yes.");
    assert.deepEqual([watch.thinking, watch.answered], [false, true]);
    const [reasoning, text] = decode(dialect, vocabulary, [...opened, ...thoughts, ...closed, ...answer]);
    assert.match(reasoning.trim(), /^(Thought: )?so it is$/);
    assert.match(text.trim(), /^(Action: )?Yes\.$/);
  });
}

Deno.test("A block that the prompt opened is thinking from the first token; a quoted closing tag does not end it", () => {
  const dialect = findDialect("none", "qwen3");
  const vocabulary = new PieceVocabulary({ special: ["<think>", "</think>"] });
  const watch = new ThinkingWatch({ vocabulary, endTokens: [], dialect, prompt: "<|im_start|>assistant\n<think>\n" });
  assert.equal(watch.thinking, true);
  for (const piece of ['The tag "', "</think>", '" ends it.']) watch.push(vocabulary.id(piece));
  assert.equal(watch.thinking, true);
  watch.push(vocabulary.id("</think>"));
  assert.equal(watch.thinking, false);
  watch.push(vocabulary.id("\n\n"));
  assert.equal(watch.answered, false);
});

Deno.test("Where nothing is reasoning nothing can be closed", () => {
  for (const name of WITHOUT) assert.equal(closingOf(findDialect("none", name), new PieceVocabulary()), "");
});
