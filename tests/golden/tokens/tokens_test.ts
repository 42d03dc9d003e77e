/**
 * Ids, token bytes and decoded texts of real tokenizers, equal to the reference (tests/golden/README.md).
 *
 * @module
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Utf8Stage } from "../../../src/output/utf8.ts";
import { loadTextFiles } from "../../../src/prompt/text_files.ts";
import { toTokenTable } from "../../../src/prompt/token_bytes.ts";
import { TokenTable } from "../../../src/prompt/token_table.ts";
import { type EncodeOptions, TextTokenizer } from "../../../src/prompt/tokenizer.ts";
import { GOLDEN_MODELS, type GoldenModel, requireTextFolder } from "../../support/text_models.ts";
import expected from "./expected.json" with { type: "json" };
import { CHUNK, mixtures, randomIds, READABLE } from "./texts.ts";

/** Models whose decoder joins bytes over all tokens; for the others see the README. */
const BYTE_LEVEL: readonly GoldenModel[] = ["smollm2", "qwen3", "llama3", "gptoss", "deepseek_v3"];

for (const model of GOLDEN_MODELS) {
  const want = expected.models[model];

  Deno.test(`Ids and texts of ${model} equal the reference's`, async (t) => {
    const files = await loadTextFiles(await requireTextFolder(model));
    const tokenizer = new TextTokenizer(files);
    const table = new TokenTable(toTokenTable(files.tokenizer));
    const ids = (text: string, options: Partial<EncodeOptions> = {}): number[] => [
      ...tokenizer.encode(text, { addSpecial: false, parseSpecial: true, ...options }),
    ];

    await t.step("readable texts", () => {
      READABLE.forEach((text, i) => assert.equal(ids(text).join(" "), want.readable[i], JSON.stringify(text)));
      assert.equal(digest(READABLE.map((text) => ids(text, { addSpecial: true }))), want.readableSpecial);
    });
    await t.step("20,000 mixtures, there and back", () => {
      const encoded = mixtures().map((text) => ids(text));
      assert.deepEqual(chunks(encoded), want.mixtures);
      assert.deepEqual(chunks(encoded.map((sequence) => decode(table, sequence))), want.decoded);
    });
    await t.step("the bytes of every token", () => {
      assert.equal(table.size, want.size);
      assert.equal(digest(Array.from({ length: table.size }, (_, id) => alone(table, id))), want.tokens);
    });
    if (BYTE_LEVEL.includes(model)) {
      await t.step("sequences whose bytes are no UTF-8", () => {
        const texts = randomIds(table.size).map((sequence) => decode(table, sequence));
        assert.equal(digest(texts), want.sequences);
      });
    }
  });
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}

function chunks(values: unknown[]): string[] {
  const digests: string[] = [];
  for (let i = 0; i < values.length; i += CHUNK) digests.push(digest(values.slice(i, i + CHUNK)));
  return digests;
}

/** One token decoded by itself, special or not. */
function alone(table: TokenTable, id: number): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(table.bytes(id));
  return table.stripsLeadingSpace && text.startsWith(" ") ? text.slice(1) : text;
}

/** Ids token by token, as a stream decodes them. */
function decode(vocabulary: TokenTable, ids: number[]): string {
  const options = { vocabulary, endTokens: [], continuesText: false, readsSpecial: () => false, wholeTokens: false };
  const stage = new Utf8Stage(options);
  const runs = ids.flatMap((token, index) => stage.push({ type: "token", token, index }));
  return [...runs, ...stage.finish()].filter((run) => !run.control).map((run) => run.text).join("");
}
