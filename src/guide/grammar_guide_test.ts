/** Guides that know places: the masks are those of the matcher, and the worker is asked where it must be. */
import assert from "node:assert/strict";
import { ByteTextModel, toByteTokens } from "../../tests/support/byte_text_model.ts";
import { randomFrom } from "../../tests/golden/tokens/texts.ts";
import type { Allowance } from "../flow.ts";
import { parseEbnf } from "../grammar/ebnf.ts";
import type { Grammar } from "../grammar/expr.ts";
import { anyObject, compileSchema } from "../grammar/schema/compile.ts";
import { GrammarGuide } from "./grammar_guide.ts";
import { GrammarStore } from "./grammar_store.ts";
import { GrammarWorker, GuideError, type GuideVocabulary } from "./grammar_worker.ts";
import { KnownPlaces } from "./known_places.ts";
import { KNOWN_BYTES_MAX, TOKENS_AHEAD_MAX } from "./limits.ts";
import { SharedPlace } from "./shared_place.ts";
import { toTokenSet } from "./token_set.ts";

const { vocabulary: table, endTokens } = new ByteTextModel();
const VOCABULARY: GuideVocabulary = { table: table.parts, size: table.size, endTokens };
const TOKENS = toTokenSet(table.parts, table.size, endTokens);

/** A worker that counts what it is asked, and can lose its answers. */
class Counted {
  readonly real = new GrammarWorker();
  asked = 0;
  #lost = false;

  start(...given: Parameters<GrammarWorker["start"]>): ReturnType<GrammarWorker["start"]> {
    this.#lost = false;
    return this.real.start(...given);
  }

  async advance(...given: Parameters<GrammarWorker["advance"]>): Promise<void> {
    this.asked++;
    if (this.#lost) throw new GuideError("lost for this test", "lost");
    await this.real.advance(...given);
  }

  finish(matcher: number): void {
    this.real.finish(matcher);
  }

  /** The next step finds its answer gone. */
  lose(): void {
    this.#lost = true;
  }
}

function maskOf(allowance: Allowance): Uint32Array {
  return allowance.type === "mask" ? allowance.words : assert.fail(allowance.type);
}

/** Draws an answer from the guide's masks and compares each with the matcher's. @returns Tokens drawn. */
async function follow(guide: GrammarGuide, grammar: Grammar, seed: number, count: number): Promise<number> {
  const store = new GrammarStore(TOKENS);
  const matcher = store.start(store.prepare("", grammar));
  const random = randomFrom(seed);
  const wanted = new Uint32Array(TOKENS.wordCount);
  let token: number | undefined;
  for (let at = 0; at < count; at++) {
    const mask = maskOf(await guide.next(at, token));
    matcher.writeMask(wanted);
    assert.deepEqual(mask, wanted, `token ${at}`);
    const allowed = Array.from({ length: VOCABULARY.size }, (_, id) => id)
      .filter((id) => (mask[id >>> 5] ?? 0) >>> (id & 31) & 1 && !endTokens.includes(id));
    token = allowed[Math.floor(random() * allowed.length)];
    if (token === undefined) return at;
    assert.ok(matcher.accept(token));
  }
  return count;
}

const GRAMMARS: Record<string, Grammar> = {
  "an object": anyObject(),
  "counted strings": compileSchema({
    type: "array",
    items: { type: "object", properties: { a: { type: "string", maxLength: 9 }, b: { type: "boolean" } } },
  }),
  "a long string": compileSchema({ type: "string", minLength: 180, maxLength: 400 }),
  "long strings in a list": compileSchema({ type: "array", items: { type: "string", maxLength: 200 }, maxItems: 9 }),
  "rounds of two": parseEbnf('root ::= "[" ([a-z] [a-z]){150,300} "]" | "(" ("a" | [b-z]){300,} ")"'),
  "text beside a mark": parseEbnf('root ::= ([^<] | "<" [^a])* "<a>"'),
  "digits": parseEbnf("root ::= [0-9]+"),
};

for (const [name, grammar] of Object.entries(GRAMMARS)) {
  Deno.test(`the masks of a guide over ${name} are the matcher's, whoever knew the place`, async () => {
    const worker = new Counted();
    for (let seed = 1; seed <= 6; seed++) {
      const guide = new GrammarGuide({ worker, vocabulary: VOCABULARY, key: name, source: { grammar } });
      await follow(guide, grammar, seed, 400);
      guide.close();
    }
    worker.real.close();
  });
}

Deno.test("a token that leads back, or to a place that was met before, does not ask the worker", async () => {
  const worker = new Counted();
  const grammar = parseEbnf('root ::= ("<" [a-z]* ">")*');
  const guideOf = (): GrammarGuide =>
    new GrammarGuide({ worker, vocabulary: VOCABULARY, key: "k", source: { grammar } });
  const write = async (guide: GrammarGuide, text: string): Promise<number> => {
    const before = worker.asked;
    let at = 0;
    for (const token of [undefined, ...toByteTokens(text)]) await guide.next(at++, token);
    guide.close();
    return worker.asked - before;
  };
  assert.equal(await write(guideOf(), `<abc${"z".repeat(2000)}>`), 2, "the two marks");
  assert.equal(await write(guideOf(), "<other>"), 0, "the second answer meets nothing new");
  // Not too far ahead of the worker, whose answer has moved with every mark.
  assert.equal(await write(guideOf(), "<>".repeat(TOKENS_AHEAD_MAX)), 1);
  worker.real.close();
});

Deno.test("far from the bounds of a count no character asks the worker, near them each does", async () => {
  const worker = new Counted();
  const grammar = compileSchema({ type: "string", maxLength: 1000 });
  const guide = new GrammarGuide({ worker, vocabulary: VOCABULARY, key: "k", source: { grammar } });
  let at = 0;
  const write = async (text: string): Promise<number> => {
    const before = worker.asked;
    for (const token of toByteTokens(text)) await guide.next(++at, token);
    return worker.asked - before;
  };
  await guide.next(0, undefined);
  assert.equal(await write('"a'), 2);
  // Once for the tokens ahead, a few times where the room ends.
  const farther = await write("x".repeat(800));
  assert.ok(farther < 10, `${farther} questions`);
  await write("x".repeat(80));
  assert.equal(await write("x".repeat(100)), 100);
  guide.close();
  worker.real.close();
});

Deno.test("a guide that is ahead of a worker that is lost goes on where it was", async () => {
  const worker = new Counted();
  const grammar = parseEbnf('root ::= ("<" [a-z]* ">")* "."');
  const binding = { worker, vocabulary: VOCABULARY, key: "k", source: { grammar } };
  const first = new GrammarGuide(binding);
  let at = 0;
  for (const token of [undefined, ...toByteTokens("<a>")]) await first.next(at++, token);
  const guide = new GrammarGuide(binding);
  at = 0;
  for (const token of [undefined, ...toByteTokens("<ab><c")]) await guide.next(at++, token);
  worker.lose();
  assert.deepEqual(maskOf(await guide.next(at++, toByteTokens(">")[0])), maskOf(await first.next(4, undefined)));
  const [dot = 0] = toByteTokens(".");
  const end = maskOf(await guide.next(at, dot));
  assert.ok(endTokens.every((id) => (end[id >>> 5] ?? 0) >>> (id & 31) & 1));
  worker.real.close();
});

Deno.test("what is known is bounded: over it, all is forgotten and learned anew", () => {
  const places = new KnownPlaces();
  const size = 32 * 1024;
  const said = new SharedPlace(SharedPlace.make(size));
  const perPlace = said.mask.byteLength;
  said.tell(1, undefined);
  const first = places.learn(said) ?? assert.fail("a place with a number is kept");
  said.tell(2, undefined);
  places.learn(said, { place: first, token: 7 });
  assert.ok(places.behind(first, 7));
  assert.equal(places.behind(first, 8), undefined);
  for (let number = 3; number * perPlace <= KNOWN_BYTES_MAX + perPlace; number++) {
    said.tell(number, undefined);
    places.learn(said);
  }
  assert.equal(places.behind(first, 7), undefined);
  said.tell(0, undefined);
  assert.equal(places.learn(said), undefined, "a place without a number is not kept");
});
