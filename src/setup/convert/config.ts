/**
 * The numbers inside a GGUF file → config.json and generation_config.json, as mlx-lm writes them.
 *
 * Takes what the metadata says, what the tokenizer needs and what the weights became. RoPE scaling comes from metadata
 * (linear, yarn) or from a tensor of factors, which is traced back to the llama3 rule that makes it, or refused.
 *
 * @module
 */
import { GROUP_ELEMENTS } from "./blocks.ts";
import { GgufError, type GgufFile } from "./gguf_file.ts";
import { type GraphNames, ROPE_FACTORS } from "./graphs.ts";
import type { ConvertedTokenizer } from "./tokenizer.ts";
import type { WrittenWeights } from "./weights.ts";

/** The content of config.json. @throws {GgufError} If a number is missing, or the RoPE scaling is not a known one. */
export async function toConfig(
  file: GgufFile,
  graph: GraphNames,
  tokenizer: ConvertedTokenizer,
  weights: WrittenWeights,
): Promise<Record<string, unknown>> {
  const architecture = file.text("general.architecture");
  const key = (name: string): string => `${architecture}.${name}`;
  const heads = file.count(key("attention.head_count"));
  const width = file.count(key("embedding_length"));
  const rope = { base: float32(file.number(key("rope.freq_base"), 10_000)), dimensions: 0 };
  const headDimension = file.count(key("attention.key_length"), heads > 0 ? width / heads : 0);
  rope.dimensions = file.count(key("rope.dimension_count"), headDimension);
  if (rope.dimensions !== headDimension) {
    throw new GgufError(
      file.path,
      `it rotates ${rope.dimensions} of ${headDimension} dimensions of a head; wanted is all`,
    );
  }
  const scaling = await ropeScaling(file, key, rope);
  const window = file.count(key("attention.sliding_window"), 0);
  if (window > 0) {
    throw new GgufError(file.path, `its attention slides over ${window} tokens; convertible is full attention`);
  }
  return {
    architectures: [graph.className],
    model_type: graph.modelType,
    hidden_size: width,
    num_hidden_layers: file.count(key("block_count")),
    intermediate_size: file.count(key("feed_forward_length")),
    num_attention_heads: heads,
    num_key_value_heads: file.count(key("attention.head_count_kv"), heads),
    head_dim: headDimension,
    hidden_act: "silu",
    rms_norm_eps: float32(file.number(key("attention.layer_norm_rms_epsilon"))),
    rope_theta: rope.base,
    ...scaling === undefined ? {} : { rope_scaling: scaling },
    max_position_embeddings: file.count(key("context_length")),
    vocab_size: tokenizer.vocabularySize,
    tie_word_embeddings: !weights.names.has("lm_head.weight"),
    attention_bias: weights.names.has("model.layers.0.self_attn.q_proj.bias"),
    mlp_bias: weights.names.has("model.layers.0.mlp.gate_proj.bias"),
    bos_token_id: tokenizer.bosToken ?? null,
    eos_token_id: tokenizer.eosToken,
    ...quantization(weights),
  };
}

/** The content of generation_config.json: which ids end an answer. */
export function toGenerationConfig(tokenizer: ConvertedTokenizer): Record<string, unknown> {
  return { bos_token_id: tokenizer.bosToken ?? null, eos_token_id: tokenizer.endTokens };
}

/** The most common width as the default, the others by path; nothing at all for a model without quantized modules. */
function quantization(weights: WrittenWeights): Record<string, unknown> {
  const modules = [...weights.quantizedBits];
  if (modules.length === 0) return {};
  const fours = modules.filter(([, bits]) => bits === 4).length;
  const bits = fours * 2 >= modules.length ? 4 : 8;
  const overrides = modules.filter(([, own]) => own !== bits)
    .map(([path, own]) => [path, affine(own)]);
  const settings = { ...affine(bits), ...Object.fromEntries(overrides) };
  return { quantization: settings, quantization_config: settings };
}

function affine(bits: 4 | 8): Record<string, unknown> {
  return { group_size: GROUP_ELEMENTS, bits, mode: "affine" };
}

interface Rope {
  base: number;
  /** Rotated dimensions of a head. */
  dimensions: number;
}

async function ropeScaling(
  file: GgufFile,
  key: (name: string) => string,
  rope: Rope,
): Promise<Record<string, unknown> | undefined> {
  if (file.tensors.has(ROPE_FACTORS)) return llama3Scaling(file, await readFactors(file, rope.dimensions / 2), rope);
  const type = file.text(key("rope.scaling.type"), "none");
  if (type === "none") return undefined;
  const factor = float32(file.number(key("rope.scaling.factor")));
  if (type === "linear") return { rope_type: "linear", type, factor };
  if (type === "yarn") {
    const original = file.count(key("rope.scaling.original_context_length"));
    return { rope_type: "yarn", type, factor, original_max_position_embeddings: original };
  }
  throw new GgufError(file.path, `its RoPE scaling is ${type}; convertible are linear, yarn and the factors of llama3`);
}

async function readFactors(file: GgufFile, count: number): Promise<Float32Array> {
  const tensor = file.tensors.get(ROPE_FACTORS)!;
  if (tensor.typeName !== "F32" || tensor.shape.length !== 1 || tensor.shape[0] !== count) {
    throw new GgufError(file.path, `${ROPE_FACTORS} is ${tensor.typeName} [${tensor.shape}]; wanted is F32 [${count}]`);
  }
  const bytes = new Uint8Array(count * 4);
  await file.readAt(tensor.offsetBytes, bytes);
  return new Float32Array(bytes.buffer);
}

/** Meta's constants for Llama 3.1 and 3.2; llama.cpp's converter assumes the same where a checkpoint is silent. */
const LLAMA3 = { low: 1, high: 4, originalTokens: 8192 } as const;

/**
 * llama.cpp stores 1…factor a frequency; the rule needs only the factor, the largest of them.
 *
 * Source: `generate_extra_tensors` of `LlamaModel` in llama.cpp's convert_hf_to_gguf.py.
 */
function llama3Scaling(file: GgufFile, factors: Float32Array, rope: Rope): Record<string, unknown> {
  const factor = float32(Math.max(...factors));
  const matches = factors.every((found, i) => {
    const wavelength = 2 * Math.PI * rope.base ** (2 * i / rope.dimensions);
    const wanted = llama3Factor(wavelength, factor);
    return Math.abs(found - wanted) <= 1e-4 * wanted;
  });
  if (!matches) {
    throw new GgufError(file.path, `${ROPE_FACTORS} holds other factors than the llama3 rule gives for ${factor}`);
  }
  return {
    rope_type: "llama3",
    factor,
    low_freq_factor: LLAMA3.low,
    high_freq_factor: LLAMA3.high,
    original_max_position_embeddings: LLAMA3.originalTokens,
  };
}

function llama3Factor(wavelength: number, factor: number): number {
  if (wavelength < LLAMA3.originalTokens / LLAMA3.high) return 1;
  if (wavelength > LLAMA3.originalTokens / LLAMA3.low) return factor;
  const smooth = (LLAMA3.originalTokens / wavelength - LLAMA3.low) / (LLAMA3.high - LLAMA3.low);
  return 1 / ((1 - smooth) / factor + smooth);
}

/** The shortest decimal that is the same float32: 1e-5, not 0.000009999999747378752. */
function float32(value: number): number {
  for (let digits = 1; digits <= 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === Math.fround(value)) return short;
  }
  return value;
}
