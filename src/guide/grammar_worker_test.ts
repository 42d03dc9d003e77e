/** The grammar worker from the main isolate: answers side by side, grammars that were forgotten, and its end. */
import assert from "node:assert/strict";
import { ByteTextModel, END_TOKEN, toByteTokens } from "../../tests/support/byte_text_model.ts";
import type { Allowance } from "../flow.ts";
import { parseEbnf } from "../grammar/ebnf.ts";
import { GrammarError } from "../grammar/errors.ts";
import type { AnswerSource } from "../output/answer_source.ts";
import type { Grammar } from "../grammar/expr.ts";
import { GrammarGuide } from "./grammar_guide.ts";
import { GrammarWorker, type GuideVocabulary } from "./grammar_worker.ts";
import { MACHINES_MAX } from "./limits.ts";

const { vocabulary: table, endTokens } = new ByteTextModel();
const VOCABULARY: GuideVocabulary = { table: table.parts, size: table.size, endTokens };

function tokensOf(allowance: Allowance): number[] {
  if (allowance.type !== "mask") return assert.fail(allowance.type);
  return [...allowance.words].flatMap((word, at) =>
    Array.from({ length: 32 }, (_, bit) => bit).filter((bit) => (word >>> bit) & 1).map((bit) => at * 32 + bit)
  );
}

function guideOf(worker: GrammarWorker, grammar: Grammar, key: string): GrammarGuide {
  return new GrammarGuide({ worker, vocabulary: VOCABULARY, key, source: { grammar } });
}

Deno.test("answers are followed side by side, each from its own place", async () => {
  const worker = new GrammarWorker();
  const grammar = parseEbnf('root ::= "ab" | "ac"');
  await worker.prepare(VOCABULARY, "k", { grammar });
  const guides = [guideOf(worker, grammar, "k"), guideOf(worker, grammar, "k")] as const;
  const [a = 0, b = 0, c = 0] = toByteTokens("abc");
  assert.deepEqual(tokensOf(await guides[0].next(0, undefined)), [a]);
  assert.deepEqual(tokensOf(await guides[0].next(1, a)), [b, c]);
  assert.deepEqual(tokensOf(await guides[1].next(0, undefined)), [a]);
  assert.deepEqual(tokensOf(await guides[0].next(2, b)), [END_TOKEN]);
  await assert.rejects(async () => await guides[1].next(1, b), /token \d+ does not fit/);
  for (const guide of guides) guide.close();
  worker.close();
});

Deno.test("a grammar that the worker has forgotten is sent again; one that is wrong is refused", async () => {
  const worker = new GrammarWorker();
  const grammar = parseEbnf('root ::= "a"');
  await worker.prepare(VOCABULARY, "first", { grammar });
  for (let index = 0; index <= MACHINES_MAX; index++) await worker.prepare(VOCABULARY, `k${index}`, { grammar });
  const guide = guideOf(worker, grammar, "first");
  assert.deepEqual(tokensOf(await guide.next(0, undefined)), toByteTokens("a"));
  guide.close();
  const wrong = parseEbnf('root ::= root "a" | "b"');
  await assert.rejects(worker.prepare(VOCABULARY, "wrong", { grammar: wrong }), { name: "GrammarError" });
  worker.close();
});

Deno.test("a vocabulary that the worker could not take fails its answer by name, and is sent again by the next", async () => {
  const worker = new GrammarWorker();
  const grammar = parseEbnf('root ::= "a"');
  const vocabulary: GuideVocabulary = { ...VOCABULARY, table: {} as GuideVocabulary["table"] };
  await assert.rejects(worker.prepare(vocabulary, "k", { grammar }), { name: "GuideError" });
  vocabulary.table = table.parts;
  await worker.prepare(vocabulary, "k", { grammar });
  worker.close();
});

Deno.test("a worker that is closed fails its answers by name", async () => {
  const worker = new GrammarWorker();
  const guide = guideOf(worker, parseEbnf('root ::= "a"'), "k");
  const next = Promise.resolve(guide.next(0, undefined));
  worker.close();
  await assert.rejects(next, /grammar worker is closed/);
  await assert.rejects(
    worker.prepare(VOCABULARY, "k", { grammar: parseEbnf('root ::= "a"') }),
    /grammar worker is closed/,
  );
  guide.close();
});

/** More than a second of work: a wide schema, many times. */
function costlyTools(): AnswerSource {
  const properties = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [`p${at}`, { type: "string", maxLength: 50 }]),
  );
  const tools = Array.from(
    { length: 400 },
    (_, at) => ({ name: `t${at}`, parameters: { type: "object", properties } }),
  );
  return { dialect: { tools: "hermes", reasoning: "none" }, prompt: "", calls: { tools, callsMax: 1 } };
}

Deno.test("a call that takes too long is ended by name; answers beside it go on where they were", async () => {
  let nowMs = 0;
  let look = (): void => {};
  const worker = new GrammarWorker(150, {
    nowMs: () => nowMs,
    every(_ms, work): () => void {
      look = work;
      return () => {};
    },
  });
  const grammar = parseEbnf('root ::= "abc"');
  const guide = guideOf(worker, grammar, "k");
  const [a = 0, b = 0, c = 0] = toByteTokens("abc");
  await guide.next(0, undefined);
  assert.deepEqual(tokensOf(await guide.next(1, a)), [b]);
  const costly = worker.prepare(VOCABULARY, "costly", { answer: costlyTools() });
  const beside = worker.prepare(VOCABULARY, "beside", { grammar });
  // Both are on their way before the answer goes on: the worker is at the first.
  await new Promise((resolve) => setTimeout(resolve));
  const next = guide.next(2, b);
  const ended = assert.rejects(costly, (error: unknown) => {
    assert.ok(error instanceof GrammarError && /longer than 150 ms/.test(error.message), String(error));
    return true;
  });
  for (const ms of [149, 150]) {
    nowMs = ms;
    look();
  }
  await ended;
  assert.deepEqual(await beside, []);
  assert.deepEqual(tokensOf(await next), [c]);
  assert.deepEqual(tokensOf(await guide.next(3, c)), [END_TOKEN]);
  guide.close();
  worker.close();
});
