// deno-lint-ignore-file camelcase -- the keys of checkpoint files
/**
 * Real tokenizers, written into GGUF metadata and taken out again, must encode as the originals do.
 *
 * @module
 */
import assert from "node:assert/strict";
import { Tokenizer } from "@huggingface/tokenizers";
import { type GgufSource, type GgufValue, writeGguf } from "../../../tests/support/gguf_writer.ts";
import { requireTextPackage, type TextPackage } from "../../../tests/support/packages.ts";
import { GgufFile } from "./gguf_file.ts";
import { convertTokenizer } from "./tokenizer.ts";

/** What the test needs of a tokenizer.json. */
interface Original {
  added_tokens: { id: number; content: string; special: boolean }[];
  model: { vocab: Record<string, number>; merges: (string | string[])[] };
}

const TEXTS = [
  "Hello, world! It's 12345 o'clock, WE'LL see.",
  "  leading\n\n\nlines\r\n\ttabs   and  runs ",
  "日本語のテキスト、中文和한국어。 Zürich naïve",
  "emoji 👩‍👩‍👧‍👦 🇫🇷 ½ ² ٣٤٥ ⅷ",
  "def f(x):\n    return x**2  # ça va?\n",
  "<|im_start|>user\n<think>x</think><|eot_id|>",
  "e\u0301 A\u030a \u1e9b\u0323",
];

async function readOriginal(model: TextPackage): Promise<Original> {
  return JSON.parse(await Deno.readTextFile(`${await requireTextPackage(model)}/tokenizer.json`)) as Original;
}

async function throughGguf(original: Original, pre: string, named: Record<string, number>): Promise<unknown> {
  const tokens: string[] = [];
  const types: number[] = [];
  for (const [text, id] of Object.entries(original.model.vocab)) [tokens[id], types[id]] = [text, 1];
  for (const { id, content, special } of original.added_tokens) [tokens[id], types[id]] = [content, special ? 3 : 4];
  const merges = original.model.merges.map((merge) => typeof merge === "string" ? merge : merge.join(" "));
  const text = (value: string): GgufValue => ({ type: "string", value });
  const source: GgufSource = {
    tensors: [],
    metadata: [
      ["general.architecture", text("llama")],
      ["llama.context_length", { type: "u32", value: 8192 }],
      ["tokenizer.ggml.model", text("gpt2")],
      ["tokenizer.ggml.pre", text(pre)],
      ["tokenizer.ggml.tokens", { type: "strings", value: tokens }],
      ["tokenizer.ggml.token_type", { type: "i32s", value: types }],
      ["tokenizer.ggml.merges", { type: "strings", value: merges }],
      ["tokenizer.ggml.add_bos_token", { type: "bool", value: false }],
      ...Object.entries(named).map(([key, id]) => [`tokenizer.ggml.${key}`, { type: "u32", value: id }] as const),
    ],
  };
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await Deno.writeFile(path, writeGguf(source));
    using file = await GgufFile.open(path);
    const converted = convertTokenizer(file);
    // As the converter would write it to a file and a loader would read it.
    return JSON.parse(JSON.stringify(converted));
  } finally {
    await Deno.remove(path);
  }
}

async function assertSameIds(original: Original, pre: string, named: Record<string, number>): Promise<number[]> {
  const converted = await throughGguf(original, pre, named) as { tokenizer: object; endTokens: number[] };
  const expected = new Tokenizer(original as never, {} as never);
  const found = new Tokenizer(converted.tokenizer as never, {} as never);
  for (const text of TEXTS) {
    const options = { add_special_tokens: false };
    assert.deepEqual(found.encode(text, options).ids, expected.encode(text, options).ids, text);
  }
  return converted.endTokens;
}

Deno.test("a converted qwen2 tokenizer gives Qwen3's ids and finds both of its end tokens", async () => {
  const ends = await assertSameIds(await readOriginal("qwen3"), "qwen2", {
    eos_token_id: 151_645,
    bos_token_id: 151_643,
  });
  assert.deepEqual(ends, [151_645, 151_643]);
});

Deno.test("a converted llama-bpe tokenizer gives Llama 3's ids and finds its end tokens", async () => {
  const ends = await assertSameIds(await readOriginal("llama3"), "llama-bpe", {
    eos_token_id: 128_009,
    bos_token_id: 128_000,
  });
  assert.deepEqual(ends.toSorted(), [128_001, 128_009]);
});
