// deno-lint-ignore-file camelcase -- the keys of checkpoint files
/**
 * Conversions against MLX's own loader (tests/golden/convert), and what happens to damaged files.
 *
 * @module
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type GgufSource, type GgufValue, writeGguf } from "../../../tests/support/gguf_writer.ts";
import { GGML, tinyModel } from "../../../tests/support/tiny_gguf.ts";
import hashes from "../../../tests/golden/convert/hashes.json" with { type: "json" };
import { findDefaultModel } from "../default_model.ts";
import { convertGguf } from "./convert.ts";
import { GgufError } from "./gguf_file.ts";

interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

async function readSafetensors(path: string): Promise<Map<string, { entry: Entry; bytes: Uint8Array }>> {
  const file = await Deno.readFile(path);
  const headBytes = Number(new DataView(file.buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + headBytes))) as Record<string, Entry>;
  const tensors = Object.entries(header).filter(([name]) => name !== "__metadata__");
  return new Map(tensors.map(([name, entry]) => {
    const [start, end] = entry.data_offsets;
    return [name, { entry, bytes: file.subarray(8 + headBytes + start, 8 + headBytes + end) }];
  }));
}

async function assertHashes(directory: string, golden: Readonly<Record<string, string>>): Promise<void> {
  const tensors = await readSafetensors(join(directory, "model.safetensors"));
  for (const [name, expected] of Object.entries(golden)) {
    const tensor = tensors.get(name);
    assert(tensor !== undefined, `${name} is missing`);
    const digest = createHash("sha256").update(tensor.bytes).digest("hex").slice(0, 32);
    assert.equal(`${tensor.entry.dtype} [${tensor.entry.shape.join(", ")}] ${digest}`, expected, name);
    tensors.delete(name);
  }
  for (const [name, { entry }] of tensors) assert.equal(entry.dtype, "BF16", `${name} is not in the golden file`);
}

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function convertSource(folder: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const path = join(folder, "model.gguf");
  await Deno.writeFile(path, bytes);
  return (await convertGguf(path, join(folder, "out"))).directory;
}

/** Converts a bad file; it must fail with `wanted` and leave nothing. */
async function assertRefused(bytes: Uint8Array<ArrayBuffer>, wanted: RegExp): Promise<void> {
  await inFolder(async (folder) => {
    await assert.rejects(convertSource(folder, bytes), (error: unknown) => {
      assert(error instanceof GgufError, `${error}`);
      assert.match(error.message, wanted);
      assert.match(error.message, /model\.gguf/);
      return true;
    });
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["model.gguf"]);
  });
}

function withMetadata(source: GgufSource, key: string, value: GgufValue): GgufSource {
  return { ...source, metadata: [...source.metadata.filter(([name]) => name !== key), [key, value]] };
}

const readJson = async (path: string): Promise<Record<string, unknown>> => JSON.parse(await Deno.readTextFile(path));

for (const architecture of ["llama", "qwen3"] as const) {
  Deno.test(`convert gives the tensors of MLX's own loader for a tiny ${architecture}`, async () => {
    await inFolder(async (folder) => {
      const directory = await convertSource(folder, writeGguf(tinyModel(architecture)));
      await assertHashes(directory, hashes[`tiny-${architecture}`]);
    });
  });
}

Deno.test("convert gives the tensors of MLX's own loader for SmolLM2", async () => {
  const directory = await findDefaultModel();
  assert(directory !== undefined, "the embedded model is missing: run `deno task core:build --model`");
  await assertHashes(directory, hashes["smollm2-135m-instruct"]);
});

Deno.test("convert copies BF16 tensors as they are and puts permuted rows back", async () => {
  await inFolder(async (folder) => {
    const source = tinyModel("llama");
    const tensors = await readSafetensors(join(await convertSource(folder, writeGguf(source)), "model.safetensors"));
    const find = (name: string): Uint8Array => source.tensors.find((tensor) => tensor.name === name)!.data;
    const down = tensors.get("model.layers.1.mlp.down_proj.weight")!;
    assert.equal(down.entry.dtype, "BF16");
    assert.deepEqual(down.bytes, find("blk.1.ffn_down.weight"));
    const keys = tensors.get("model.layers.0.self_attn.k_proj.weight")!;
    const rowBytes = 64 * 2;
    const row = (bytes: Uint8Array, index: number): Uint8Array => bytes.slice(index * rowBytes, (index + 1) * rowBytes);
    // Head 1, dimension 3 of the second half: row 16 + 8 + 3; interleaved it is row 16 + 2 · 3 + 1.
    assert.deepEqual(row(keys.bytes, 27), row(find("blk.0.attn_k.weight"), 23));
  });
});

Deno.test("convert writes config, tokenizer and end tokens from the metadata", async () => {
  await inFolder(async (folder) => {
    const directory = await convertSource(folder, writeGguf(tinyModel("llama")));
    const config = await readJson(join(directory, "config.json"));
    assert.equal(config.model_type, "llama");
    assert.equal(config.rms_norm_eps, 1e-6);
    assert.equal(config.tie_word_embeddings, false);
    assert.equal(config.attention_bias, true);
    assert.equal(config.vocab_size, 40);
    const quantization = config.quantization as Record<string, unknown>;
    assert.equal(quantization.bits, 4);
    assert.deepEqual(quantization["model.embed_tokens"], { group_size: 32, bits: 8, mode: "affine" });
    assert.deepEqual((await readJson(join(directory, "generation_config.json"))).eos_token_id, [1]);
    const tokenizerConfig = await readJson(join(directory, "tokenizer_config.json"));
    assert.equal(tokenizerConfig.chat_template, "{{ messages[0].content }}");
    assert.equal(tokenizerConfig.add_bos_token, true);
    const tokenizer = await readJson(join(directory, "tokenizer.json"));
    const added = tokenizer.added_tokens as { content: string; special: boolean }[];
    assert.deepEqual(added.map(({ content, special }) => [content, special]), [
      ["<|begin|>", true],
      ["<|end|>", true],
      ["<think>", false],
      ["<unk>", true],
    ]);
    const model = tokenizer.model as { vocab: Record<string, number>; merges: string[][] };
    assert.equal(model.vocab["Ġthe"], 33);
    assert.equal(Object.hasOwn(model.vocab, "[PAD34]"), false);
    assert.deepEqual(model.merges[2], ["Ġt", "he"]);
  });
});

Deno.test("convert traces RoPE factors back to the llama3 rule", async () => {
  const factorsOf = (change: (factor: number, i: number) => number): GgufSource => {
    const factors = Float32Array.from({ length: 8 }, (_, i) => {
      const wavelength = 2 * Math.PI * 10_000 ** (2 * i / 16);
      const smooth = (8192 / wavelength - 1) / 3;
      const factor = wavelength < 2048 ? 1 : wavelength > 8192 ? 8 : 1 / ((1 - smooth) / 8 + smooth);
      return change(factor, i);
    });
    const source = tinyModel("llama");
    const tensor = { name: "rope_freqs.weight", shape: [8], type: GGML.F32, data: new Uint8Array(factors.buffer) };
    return { ...source, tensors: [...source.tensors, tensor] };
  };
  await inFolder(async (folder) => {
    const config = await readJson(join(await convertSource(folder, writeGguf(factorsOf((f) => f))), "config.json"));
    assert.deepEqual(config.rope_scaling, {
      rope_type: "llama3",
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 8192,
    });
  });
  await assertRefused(writeGguf(factorsOf((f, i) => i === 2 ? 3 : f)), /rope_freqs\.weight holds other factors/);
});

Deno.test("convert refuses by name what it can't convert exactly", async () => {
  const llama = tinyModel("llama");
  const text = (value: string): GgufValue => ({ type: "string", value });
  const q6 = { name: "blk.0.ffn_up.weight", shape: [96, 256], type: GGML.Q6_K, data: new Uint8Array(96 * 210) };
  const swapped = llama.tensors.map((tensor) => tensor.name === q6.name ? q6 : tensor);
  await assertRefused(
    writeGguf({ ...llama, tensors: swapped }),
    /blk\.0\.ffn_up\.weight is Q6_K; convertible are Q4_0/,
  );
  const strange = llama.tensors.map((tensor) => tensor.name === q6.name ? { ...tensor, type: 99 } : tensor);
  await assertRefused(writeGguf({ ...llama, tensors: strange }), /blk\.0\.ffn_up\.weight is type 99/);
  const refuse = (key: string, value: GgufValue, wanted: RegExp): Promise<void> =>
    assertRefused(writeGguf(withMetadata(llama, key, value)), wanted);
  await refuse("general.architecture", text("mamba"), /architecture is mamba; convertible are llama, qwen3/);
  await refuse("general.architecture", text("__proto__"), /architecture is __proto__/);
  await refuse("llama.expert_count", { type: "u32", value: 8 }, /mixture of experts/);
  await refuse("llama.rope.scaling.type", text("longrope"), /rope\.scaling/);
  await refuse("llama.attention.sliding_window", { type: "u32", value: 64 }, /slides over 64 tokens/);
  await refuse("tokenizer.ggml.model", text("llama"), /of the kind llama; convertible is gpt2/);
  await refuse("tokenizer.ggml.pre", text("viking"), /cuts text as viking; convertible are gpt-2, smollm/);
  await refuse(
    "tokenizer.ggml.eos_token_id",
    { type: "u32", value: 40 },
    /eos_token_id is 40, but there are 40 tokens/,
  );
  await refuse("tokenizer.ggml.merges", { type: "strings", value: ["a b", "abc"] }, /the merge "abc"/);
  await refuse("tokenizer.ggml.token_type", { type: "i32s", value: [1, 1] }, /40 tokens but 2 token types/);
  await refuse("llama.block_count", { type: "u32", value: 3 }, /blk\.2\.attn_norm\.weight is missing/);
  await refuse("llama.block_count", { type: "u32", value: 4_000_000_000 }, /is missing/);
  await refuse("llama.block_count", text("two"), /block_count is not a whole number/);
  await refuse("llama.attention.head_count", { type: "u32", value: 7 }, /rows, which 7 heads cannot share/);
});

Deno.test("convert refuses damaged files with a reason and writes nothing", async () => {
  const source = tinyModel("llama");
  const good = writeGguf(source);
  const changed = (change: (view: DataView<ArrayBuffer>) => void): Uint8Array<ArrayBuffer> => {
    const copy = good.slice();
    change(new DataView(copy.buffer));
    return copy;
  };
  await assertRefused(new Uint8Array(0), /0 bytes are no GGUF file/);
  await assertRefused(changed((view) => view.setUint8(0, 0x58)), /does not start with the letters GGUF/);
  await assertRefused(changed((view) => view.setUint32(4, 9, true)), /version is 9/);
  await assertRefused(
    changed((view) => view.setBigUint64(8, 1n << 60n, true)),
    /announces 1152921504606846976 tensors/,
  );
  await assertRefused(changed((view) => view.setBigUint64(16, 1n << 40n, true)), /more than \d+ bytes/);
  await assertRefused(changed((view) => view.setBigUint64(24, 1n << 50n, true)), /header is damaged: String length/);
  for (const share of [0.001, 0.01, 0.05, 0.3, 0.9, 0.999]) {
    await assertRefused(good.slice(0, Math.ceil(good.length * share)), /damaged|header needs|ends at byte|can hold/);
  }
  const edit = (index: number, change: Partial<GgufSource["tensors"][number]>): Uint8Array<ArrayBuffer> =>
    writeGguf({ ...source, tensors: source.tensors.map((one, i) => i === index ? { ...one, ...change } : one) });
  await assertRefused(edit(1, { offsetBytes: 64 }), /the data of tensors .* overlap/);
  await assertRefused(edit(1, { name: "token_embd.weight" }), /two tensors are called token_embd\.weight/);
  await assertRefused(edit(1, { name: "output_norm.weird" }), /output_norm\.weight is missing/);
  await assertRefused(edit(4, { shape: [64, 63] }), /rows of 63 elements; its type needs a multiple of 32/);
  await assertRefused(edit(1, { shape: [0] }), /has the shape \[0\]/);
  await assertRefused(edit(1, { shape: [1 << 30, 1 << 10] }), /ends at byte \d+, the file at/);
});

Deno.test("convert survives random damage: it converts or refuses, and never leaves half a folder", async () => {
  const good = writeGguf(tinyModel("qwen3"));
  let state = 20_260_101;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
  for (let round = 0; round < 150; round++) {
    await inFolder(async (folder) => {
      const bytes = good.slice();
      for (let i = 0; i < 1 + random(4); i++) bytes[random(4000)] = random(256);
      const outcome = await convertSource(folder, bytes).then(() => "converted", (error: unknown) => {
        assert(error instanceof GgufError, `round ${round}: ${error instanceof Error ? error.stack : error}`);
        return "refused";
      });
      const names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
      assert.deepEqual(names, outcome === "converted" ? ["model.gguf", "out"] : ["model.gguf"]);
    });
  }
});

Deno.test("convert never overwrites a folder", async () => {
  await inFolder(async (folder) => {
    await Deno.mkdir(join(folder, "out"));
    await assert.rejects(convertSource(folder, writeGguf(tinyModel("llama"))), /out exists already/);
  });
});

Deno.test("a file that is not there is an error with its name", async () => {
  const folder = await Deno.makeTempDir();
  const missing = `${folder}/missing.gguf`;
  await assert.rejects(convertGguf(missing, `${folder}/out`), {
    name: "GgufError",
    message: `Cannot convert ${missing}: there is no such file`,
  });
  await Deno.remove(folder, { recursive: true });
});
