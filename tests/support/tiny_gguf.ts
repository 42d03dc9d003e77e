/**
 * Tiny models as GGUF files, every type that `convert` takes among their tensors, bytes from a seeded generator.
 *
 * `deno run -A tests/support/tiny_gguf.ts FILE llama|qwen3` writes one, for the reference program of golden/convert.
 *
 * @module
 */
import { type GgufSource, type GgufTensorSource, type GgufValue, writeGguf } from "./gguf_writer.ts";

/** Numbers of ggml types, as in the file. */
export const GGML = { F32: 0, F16: 1, Q4_0: 2, Q4_1: 3, Q5_0: 6, Q8_0: 8, Q6_K: 14, BF16: 30 } as const;

const BLOCKS: Readonly<Record<number, readonly [elements: number, bytes: number]>> = {
  [GGML.F32]: [1, 4],
  [GGML.F16]: [1, 2],
  [GGML.Q4_0]: [32, 18],
  [GGML.Q4_1]: [32, 20],
  [GGML.Q5_0]: [32, 22],
  [GGML.Q8_0]: [32, 34],
  [GGML.Q6_K]: [256, 210],
  [GGML.BF16]: [1, 2],
};

const WIDTH = 64;
const HEADS = 4;
const KV_HEADS = 2;
const HEAD_DIMENSION = 16;
const FEED_FORWARD = 96;
const VOCABULARY = 40;

/** A dense model of two blocks. */
export function tinyModel(architecture: "llama" | "qwen3"): GgufSource {
  const random = generator(architecture === "llama" ? 1 : 2);
  const tensors: GgufTensorSource[] = [];
  const add = (name: string, shape: readonly number[], type: number): void => {
    tensors.push({ name, shape, type, data: randomBlocks(shape, type, random) });
  };
  add("token_embd.weight", [VOCABULARY, WIDTH], GGML.Q8_0);
  add("output_norm.weight", [WIDTH], GGML.F32);
  add("output.weight", [VOCABULARY, WIDTH], GGML.F16);
  for (const layer of [0, 1]) {
    const block = (name: string): string => `blk.${layer}.${name}`;
    const quantized = layer === 0 ? GGML.Q4_0 : GGML.Q4_1;
    add(block("attn_norm.weight"), [WIDTH], GGML.F32);
    add(block("attn_q.weight"), [HEADS * HEAD_DIMENSION, WIDTH], quantized);
    add(block("attn_k.weight"), [KV_HEADS * HEAD_DIMENSION, WIDTH], layer === 0 ? GGML.BF16 : GGML.Q8_0);
    add(block("attn_v.weight"), [KV_HEADS * HEAD_DIMENSION, WIDTH], GGML.F16);
    add(block("attn_output.weight"), [WIDTH, HEADS * HEAD_DIMENSION], GGML.F32);
    add(block("ffn_norm.weight"), [WIDTH], GGML.F32);
    add(block("ffn_gate.weight"), [FEED_FORWARD, WIDTH], quantized);
    add(block("ffn_up.weight"), [FEED_FORWARD, WIDTH], GGML.Q8_0);
    add(block("ffn_down.weight"), [WIDTH, FEED_FORWARD], GGML.BF16);
    if (architecture === "llama") {
      add(block("attn_q.bias"), [HEADS * HEAD_DIMENSION], GGML.F32);
      add(block("attn_k.bias"), [KV_HEADS * HEAD_DIMENSION], GGML.F16);
    } else {
      add(block("attn_q_norm.weight"), [HEAD_DIMENSION], GGML.F32);
      add(block("attn_k_norm.weight"), [HEAD_DIMENSION], GGML.F32);
    }
  }
  return { metadata: tinyMetadata(architecture), tensors };
}

function tinyMetadata(architecture: "llama" | "qwen3"): (readonly [string, GgufValue])[] {
  const u32 = (value: number): GgufValue => ({ type: "u32", value });
  const text = (value: string): GgufValue => ({ type: "string", value });
  const letters = Array.from({ length: 26 }, (_, i) => String.fromCharCode(97 + i));
  const tokens = ["<|begin|>", "<|end|>", "<think>", "<unk>", ...letters, "Ġ", "Ġt", "he", "Ġthe"];
  while (tokens.length < VOCABULARY) tokens.push(`[PAD${tokens.length}]`);
  const types = tokens.map((token, id) => id === 2 ? 4 : id < 4 ? 3 : token.startsWith("[PAD") ? 5 : 1);
  return [
    ["general.architecture", text(architecture)],
    ["general.name", text("tiny")],
    [`${architecture}.block_count`, u32(2)],
    [`${architecture}.context_length`, u32(512)],
    [`${architecture}.embedding_length`, u32(WIDTH)],
    [`${architecture}.feed_forward_length`, u32(FEED_FORWARD)],
    [`${architecture}.attention.head_count`, u32(HEADS)],
    [`${architecture}.attention.head_count_kv`, u32(KV_HEADS)],
    [`${architecture}.attention.key_length`, u32(HEAD_DIMENSION)],
    [`${architecture}.attention.layer_norm_rms_epsilon`, { type: "f32", value: 1e-6 }],
    [`${architecture}.rope.freq_base`, { type: "f32", value: 10_000 }],
    ["tokenizer.ggml.model", text("gpt2")],
    ["tokenizer.ggml.pre", text(architecture === "llama" ? "llama-bpe" : "qwen2")],
    ["tokenizer.ggml.tokens", { type: "strings", value: tokens }],
    ["tokenizer.ggml.token_type", { type: "i32s", value: types }],
    ["tokenizer.ggml.merges", { type: "strings", value: ["Ġ t", "h e", "Ġt he"] }],
    ["tokenizer.ggml.bos_token_id", u32(0)],
    ["tokenizer.ggml.eos_token_id", u32(1)],
    ["tokenizer.chat_template", text("{{ messages[0].content }}")],
  ];
}

/** Random blocks whose f16 scales are finite. */
function randomBlocks(shape: readonly number[], type: number, random: () => number): Uint8Array {
  const [elements, bytes] = BLOCKS[type]!;
  const count = shape.reduce((product, size) => product * size, 1) / elements;
  const data = Uint8Array.from({ length: count * bytes }, random);
  const view = new DataView(data.buffer);
  const scales = type === GGML.Q4_1 ? 2 : elements === 32 ? 1 : 0;
  for (let block = 0; block < count; block++) {
    for (let i = 0; i < scales; i++) view.setFloat16(block * bytes + 2 * i, (random() - 128) / 1000, true);
    if (type === GGML.F32) view.setFloat32(block * bytes, (random() - 128) / 100, true);
    if (type === GGML.F16) view.setFloat16(block * bytes, (random() - 128) / 100, true);
  }
  return data;
}

/** Bytes from a linear congruential generator (Numerical Recipes' constants). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  };
}

if (import.meta.main) {
  const [path, architecture] = Deno.args;
  if (path === undefined || (architecture !== "llama" && architecture !== "qwen3")) {
    throw new TypeError("usage: tiny_gguf.ts FILE llama|qwen3");
  }
  await Deno.writeFile(path, writeGguf(tinyModel(architecture)));
}
