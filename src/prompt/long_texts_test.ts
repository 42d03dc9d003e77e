// deno-lint-ignore-file camelcase -- names of tokenizer.json
import assert from "node:assert/strict";
import { requireTextFolder } from "../../tests/support/text_models.ts";
import { textFiles, writeTextCheckpoint } from "../../tests/support/text_checkpoint.ts";
import type { Conversation, Message } from "../flow.ts";
import { PromptTooLong, TextCallDropped } from "./errors.ts";
import { COUNTED_MULTIPLE, LONG_CHARS } from "./limits.ts";
import { LongTexts } from "./long_texts.ts";
import type { TextCall } from "./protocol.ts";
import { loadTextFiles } from "./text_files.ts";
import { openTextModel } from "./text_model.ts";
import { TextWorker } from "./text_worker.ts";
import { countSpelled, findTokenCharsMax } from "./token_chars_max.ts";
import { TextTokenizer } from "./tokenizer.ts";

const PLAIN = { addSpecial: false, parseSpecial: false };

/** A worker that answers an `encode` with how many calls it has had, and one of `stuck` never. */
const COUNTING = toWorker(`calls++;
  if (call.text !== "stuck") parentPort.postMessage({ number, ok: true, result: call.type === "open" ? { model: 1 } : calls });`);

/** A worker's module that answers a call with these statements. */
function toWorker(statements: string): URL {
  const text = `import { parentPort } from "node:worker_threads"; let calls = 0;
    parentPort.on("message", ({ number, call }) => { ${statements} });`;
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
}

function encode(text: string, onSend = (): void => {}): (model: number) => TextCall & { type: "encode" } {
  return (model) => (onSend(), { type: "encode", model, text, options: PLAIN });
}

function say(content: string): Conversation {
  const message: Message = { role: "user", content: [{ type: "text", text: content }] };
  return { messages: [message], tools: [], templateArguments: {}, addGenerationPrompt: true };
}

Deno.test("A call whose client leaves is taken out of the worker's queue", async () => {
  const worker = new TextWorker(COUNTING);
  const leaving = new AbortController();
  const first = worker.call(encode("a")(1));
  const dropped = worker.call(encode("b")(1), leaving.signal);
  const last = worker.call(encode("c")(1));
  leaving.abort();
  await assert.rejects(dropped, TextCallDropped);
  assert.deepEqual([await first, await last], [1, 2] as unknown);
  worker.close();
});

Deno.test("A long call under way ends with its client, and the next one gets another worker", async () => {
  let started = 0;
  const long = new LongTexts("folder", () => {
    started++;
    return new TextWorker(COUNTING);
  });
  assert.equal(await long.call(encode("a")) as unknown, 2);
  const leaving = new AbortController();
  const gone = new AbortController();
  const { promise: underWay, resolve } = Promise.withResolvers<void>();
  const stuck = long.call(encode("stuck", resolve), leaving.signal);
  const waiting = long.call(encode("b"), gone.signal);
  const next = long.call(encode("c"));
  await underWay;
  gone.abort();
  leaving.abort();
  await assert.rejects(stuck, TextCallDropped);
  await assert.rejects(waiting, TextCallDropped);
  assert.equal(await next as unknown, 2, "only `open` came before it in the new worker");
  assert.equal(started, 2);
  long.close();
  await assert.rejects(long.call(encode("d")), /closed/);
});

Deno.test("A short prompt does not wait for a long one", async () => {
  const directory = await writeTextCheckpoint(textFiles());
  try {
    const stuck = new LongTexts(directory, () => new TextWorker(toWorker("")));
    const model = await openTextModel(directory, undefined, stuck);
    const leaving = new AbortController();
    const long = model.render(say("word ".repeat(LONG_CHARS)), { signal: leaving.signal });
    assert.match((await model.render(say("hello"))).text, /hello/);
    leaving.abort();
    await assert.rejects(long, TextCallDropped);
    await model.close();
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("A long prompt has the ids of a short one, and one that can't fit is given up", async () => {
  const directory = await writeTextCheckpoint(textFiles());
  try {
    const model = await openTextModel(directory);
    const one = await model.encode("some words, ", PLAIN);
    const text = "some words, ".repeat(3000);
    assert.ok(text.length > LONG_CHARS);
    const many = await model.encode(text, PLAIN);
    const { length } = many;
    assert.deepEqual([...many.slice(0, one.length - 1)], [...one.slice(0, -1)]);
    assert.deepEqual(await model.encode(text, PLAIN, { tokensMax: length }), many);
    // Up to a multiple of what fits the count is exact.
    assert.equal((await model.encode(text, PLAIN, { tokensMax: Math.ceil(length / COUNTED_MULTIPLE) })).length, length);
    const tooLong = (error: unknown): boolean => {
      assert.ok(error instanceof PromptTooLong, String(error));
      assert.ok(error.tokensAtLeast > 100 && error.tokensAtLeast <= length, String(error.tokensAtLeast));
      return true;
    };
    for (const tokensMax of [100, 1000, 2000]) await assert.rejects(model.encode(text, PLAIN, { tokensMax }), tooLong);
    await assert.rejects(model.render(say(text), { tokensMax: 1000 }), tooLong);
    await model.close();
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("A text of bytes has a token for so many characters at least, whatever its words are", async () => {
  const files = await loadTextFiles(await requireTextFolder("smollm2"));
  const charsMax = findTokenCharsMax(files.tokenizer);
  assert.ok(charsMax > 10 && charsMax < 1000, String(charsMax));
  const tokenizer = new TextTokenizer(files);
  // The longest spelling, controls that have no token, characters of 1 to 4 bytes.
  const longest = Object.keys(files.tokenizer.model.vocab).reduce((one, two) => two.length > one.length ? two : one);
  const blanks = longest.replaceAll("Ġ", " ").replaceAll("Ċ", "\n");
  for (const text of [blanks, "\u0004\u0006", "é", "日", "👋🏽", "\u{f1234}", "\u{40000}"]) {
    const many = text.repeat(500);
    const count = tokenizer.encode(many, PLAIN).length;
    assert.ok(count >= countSpelled(many) / charsMax, `${JSON.stringify(text)}: ${count}`);
  }
  // Refused before any of its words is cut: in a count that only the length gives.
  const huge = "x y ".repeat(1_000_000);
  assert.throws(() => tokenizer.encode(huge, PLAIN, 8191), (error: unknown) => {
    assert.ok(error instanceof PromptTooLong);
    assert.equal(error.tokensAtLeast, Math.floor(huge.length / charsMax));
    return true;
  });
});

Deno.test("Where a part of a text may leave no token, its length says nothing", () => {
  const bytes = Array.from({ length: 512 }, (_, id): [string, number] => [String.fromCharCode(id), id]);
  const vocab = Object.fromEntries(bytes);
  const plain = { model: { vocab }, normalizer: null, pre_tokenizer: { type: "ByteLevel" }, added_tokens: [] };
  const find = (changes: object): number => (
    findTokenCharsMax({ ...plain, ...changes } as unknown as Parameters<typeof findTokenCharsMax>[0])
  );
  assert.equal(find({}), 1);
  assert.equal(find({ model: { vocab: { ...vocab, hello: 600 } } }), 5);
  const { "!": _, ...lacking } = vocab;
  const removing = [{ type: "Split", behavior: "Removed" }, { type: "ByteLevel" }];
  const hungry = { content: "<x>", lstrip: false, rstrip: true };
  for (
    const changes of [
      { model: { vocab: lacking } },
      { normalizer: { type: "NFKC" } },
      { pre_tokenizer: { type: "Sequence", pretokenizers: removing } },
      { pre_tokenizer: null },
      { added_tokens: [hungry] },
    ]
  ) assert.equal(find(changes), Infinity, JSON.stringify(changes).slice(0, 80));
});
