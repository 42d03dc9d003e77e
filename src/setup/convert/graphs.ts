/**
 * What each GGUF architecture is called in MLX: the model type, the names of its tensors, which rows llama.cpp
 * permuted.
 *
 * Names: https://github.com/ggml-org/llama.cpp/blob/master/gguf-py/gguf/constants.py and mlx-lm's `models/llama.py`,
 * `models/qwen3.py`. An architecture without a graph in the core is not in this list.
 *
 * @module
 */
import { GgufError, type GgufFile, type GgufTensor } from "./gguf_file.ts";

/** A GGUF architecture that the core has a graph for. */
export interface GraphNames {
  /** `model_type` of config.json. */
  readonly modelType: string;
  /** `architectures` of config.json. */
  readonly className: string;
  /** Modules of a block: GGUF name → MLX name. */
  readonly blockModules: ReadonlyMap<string, string>;
  /**
   * Modules whose rows llama.cpp stores in interleaved order (its RoPE rotates neighbours), by GGUF name, with the key
   * of the number of heads. `convert` puts them back into the order of the original checkpoint.
   */
  readonly permutedModules: ReadonlyMap<string, "head_count" | "head_count_kv">;
}

const DENSE_BLOCK = [
  ["attn_norm", "input_layernorm"],
  ["attn_q", "self_attn.q_proj"],
  ["attn_k", "self_attn.k_proj"],
  ["attn_v", "self_attn.v_proj"],
  ["attn_output", "self_attn.o_proj"],
  ["ffn_norm", "post_attention_layernorm"],
  ["ffn_gate", "mlp.gate_proj"],
  ["ffn_up", "mlp.up_proj"],
  ["ffn_down", "mlp.down_proj"],
] as const;

const GRAPHS: Readonly<Record<string, GraphNames>> = {
  llama: {
    modelType: "llama",
    className: "LlamaForCausalLM",
    blockModules: new Map(DENSE_BLOCK),
    permutedModules: new Map([["attn_q", "head_count"], ["attn_k", "head_count_kv"]]),
  },
  qwen3: {
    modelType: "qwen3",
    className: "Qwen3ForCausalLM",
    blockModules: new Map([
      ...DENSE_BLOCK,
      ["attn_q_norm", "self_attn.q_norm"],
      ["attn_k_norm", "self_attn.k_norm"],
    ]),
    permutedModules: new Map(),
  },
};

const ROOT_MODULES: ReadonlyMap<string, string> = new Map([
  ["token_embd", "model.embed_tokens"],
  ["output_norm", "model.norm"],
  ["output", "lm_head"],
]);

/** Tensors that carry configuration and no weights; config.ts reads them. */
export const ROPE_FACTORS = "rope_freqs.weight";

/** Where a tensor of the file goes. */
export interface TensorPlace {
  /** Path of the module, e.g. `model.layers.3.self_attn.q_proj`. */
  readonly module: string;
  /** Which of its parameters. */
  readonly parameter: "weight" | "bias";
  /** Heads whose rows are to be put back in order; undefined when they are in order. */
  readonly permutedHeads?: number;
}

/** The graph that this file is for. @throws {GgufError} If the core has no graph for its architecture. */
export function requireGraph(file: GgufFile): GraphNames {
  const architecture = file.text("general.architecture");
  const graph = Object.hasOwn(GRAPHS, architecture) ? GRAPHS[architecture] : undefined;
  if (graph === undefined) {
    throw new GgufError(
      file.path,
      `its architecture is ${architecture}; convertible are ${Object.keys(GRAPHS).join(", ")}`,
    );
  }
  if (file.count(`${architecture}.expert_count`, 0) > 0) {
    throw new GgufError(file.path, "it is a mixture of experts; convertible are dense models");
  }
  return graph;
}

/** Where `tensor` goes. @throws {GgufError} If the graph has no such tensor. */
export function requirePlace(file: GgufFile, graph: GraphNames, tensor: GgufTensor): TensorPlace {
  const match = /^(?:blk\.(\d{1,4})\.)?([a-z_]+)\.(weight|bias)$/.exec(tensor.name);
  const [, layer, module, parameter] = match ?? [];
  const name = layer === undefined ? ROOT_MODULES.get(module ?? "") : graph.blockModules.get(module ?? "");
  const architecture = file.text("general.architecture");
  const known = name !== undefined && Number(layer ?? 0) < file.count(`${architecture}.block_count`);
  if (!known) throw new GgufError(file.path, `a ${architecture} model has no place for the tensor ${tensor.name}`);
  const place = {
    module: layer === undefined ? name : `model.layers.${layer}.${name}`,
    parameter: parameter as "weight" | "bias",
  };
  const headKey = layer === undefined ? undefined : graph.permutedModules.get(module ?? "");
  if (headKey === undefined) return place;
  const permutedHeads = file.count(
    `${architecture}.attention.${headKey}`,
    file.count(`${architecture}.attention.head_count`),
  );
  const rows = tensor.shape[0]!;
  if (permutedHeads === 0 || rows % (2 * permutedHeads) !== 0) {
    throw new GgufError(file.path, `tensor ${tensor.name} has ${rows} rows, which ${permutedHeads} heads cannot share`);
  }
  return { ...place, permutedHeads };
}

/** Checks that no module of the graph is missing. @throws {GgufError} With the name of the first that is. */
export function requireComplete(file: GgufFile, graph: GraphNames): void {
  const blockCount = file.count(`${file.text("general.architecture")}.block_count`);
  const wanted = ["token_embd", "output_norm"];
  for (let layer = 0; layer < blockCount; layer++) {
    wanted.push(...[...graph.blockModules.keys()].map((module) => `blk.${layer}.${module}`));
    if (wanted.length > file.tensors.size) break;
  }
  for (const module of wanted) {
    if (!file.tensors.has(`${module}.weight`)) {
      throw new GgufError(
        file.path,
        `the tensor ${module}.weight is missing; its metadata announce ${blockCount} blocks`,
      );
    }
  }
}
