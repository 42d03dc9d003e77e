/**
 * Names of checkpoints → how they are read: the table of model lines, and every short name.
 *
 * @module
 */
import assert from "node:assert/strict";
import { resolveProfile } from "./resolve.ts";
import { loadProfiles, sourceOf } from "./store.ts";

const OURS = await loadProfiles();

/** Name → parser of calls and of reasoning. */
const NAMES: Readonly<Record<string, string>> = {
  "mlx-community/DeepSeek-V4-Flash-0731-4bit": "deepseek_v4_0731 deepseek_v4",
  "mlx-community/DeepSeek-V4-Flash-4bit": "deepseek deepseek_v4",
  "deepseek-ai/DeepSeek-V3.1": "deepseek_v31 deepseek_r1",
  "deepseek-ai/DeepSeek-R1-0528": "deepseek deepseek_r1",
  "deepseek-ai/DeepSeek-R1-Distill-Llama-8B": "none deepseek_r1_distill",
  "deepseek-ai/DeepSeek-R1": "deepseek deepseek_r1",
  "deepseek-ai/DeepSeek-V3-0324": "deepseek_v3 none",
  "deepseek-ai/DeepSeek-V2.5": "deepseek none",
  "mlx-community/UI-TARS-1.5-7B-4bit": "ui_tars ui_tars",
  "Jackrong/MLX-Qwopus3.5-9B-v3-4bit": "hermes qwen3",
  "mlx-community/VibeThinker-1.5B": "hermes vibethinker",
  "lmstudio-community/Qwen3-Coder-Next-MLX-4bit": "qwen3_coder_xml none",
  "mlx-community/Qwen3-Next-80B-A3B-Instruct-4bit": "qwen3_coder_xml none",
  "mlx-community/Qwen3.6-35B-A3B-4bit": "qwen3_coder_xml qwen3",
  "mlx-community/Qwen3.5-35B-A3B-8bit": "hermes qwen3",
  "rapid-mlx/Qwen3.8-27B-4bit-MTP-MLX": "qwen3_coder_xml qwen3",
  "someone/Ornith-1.5-9B": "hermes qwen3",
  "mlx-community/Qwen3-Coder-30B-A3B-Instruct-4bit": "qwen3_coder_xml none",
  "mlx-community/Qwen3-VL-2B-Thinking": "hermes none",
  "mlx-community/Qwen3-VL-8B-Thinking-4bit": "hermes qwen3",
  "mlx-community/Qwen3-4B-Instruct-2507-4bit": "hermes none",
  "mlx-community/Qwen3-8B-4bit": "hermes qwen3",
  "mlx-community/GLM-4.7-4bit": "glm47 glm4",
  "CohereLabs/North-Mini-2": "none north",
  "lmstudio-community/MiniMax-M2.5-MLX-4bit": "minimax minimax",
  "mlx-community/gpt-oss-20b-MXFP4-Q8": "harmony none",
  "mlx-community/Kimi-K2-Instruct-4bit": "kimi none",
  "mlx-community/Kimi-K2.5-3bit": "kimi qwen3",
  "NousResearch/Hermes-2-Pro-Mistral-7B": "hermes none",
  "mistralai/Magistral-Small-2506": "mistral qwen3",
  "mistralai/Ministral-3-14B-Reasoning-2512": "mistral magistral",
  "mistralai/Devstral-Small-2507": "mistral none",
  "facebook/Muse-Glimmer-12B": "muse muse",
  "inclusionAI/Ling-3.0-flash": "glm47 qwen3",
  "mlx-community/gemma-4-31b-it-4bit": "gemma4 gemma4",
  "mlx-community/gemma-3n-E4B-it-4bit": "none none",
  "mlx-community/gemma-3-12b-it-qat-4bit": "hermes none",
  "lmstudio-community/Hermes-4-70B-MLX-4bit": "hermes none",
  "Nanbeige/Nanbeige4-3B": "hermes deepseek_r1",
  "mlx-community/Llama-3.2-3B-Instruct-4bit": "llama none",
  "meta-llama/Llama-4-Scout-17B-16E-Instruct": "llama none",
  "microsoft/Phi-4-mini-reasoning": "hermes deepseek_r1",
  "microsoft/Phi-3.5-mini-instruct": "none none",
  "microsoft/phi-4": "hermes none",
  "ibm-granite/granite-4.0-h-tiny": "hermes none",
  "ibm-granite/granite-3.3-2b-instruct": "granite none",
  "mlx-community/SmolLM3-3B-4bit": "hermes qwen3",
  "tencent/Hy3": "hy_v3 hy_v3",
  "state-spaces/mamba-2.8b": "none none",
  "LLM360/K2-Horizon-0.9B": "k2_horizon k2_horizon",
  "LiquidAI/LFM2-8B-A1B": "lfm none",
  "LiquidAI/LFM2.5-1.2B-Instruct": "lfm qwen3",
  "meetkai/functionary-medium-v3.2": "functionary none",
  "openbmb/MiniCPM5-1B": "minicpm qwen3",
  "ByteDance-Seed/Seed-OSS-36B-Instruct": "seed_oss seed_oss",
  "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": "qwen3_coder_xml qwen3",
  "Salesforce/Llama-xLAM-2-8b-fc-r": "xlam none",
};

for (const [name, parsers] of Object.entries(NAMES)) {
  Deno.test(`${name} is read with ${parsers}`, () => {
    const { dialect, line } = resolveProfile(OURS, { name });
    assert.equal(`${dialect.tools} ${dialect.reasoning}`, parsers, line.id);
  });
}

Deno.test("A template tells of two lines of one name", () => {
  const { dialect } = resolveProfile(OURS, { name: "mistralai/Magistral-Small-2509", chatTemplate: "[THINK]" });
  assert.deepEqual(dialect, { tools: "mistral", reasoning: "magistral" });
  const v4 = resolveProfile(OURS, { name: "deepseek-ai/DeepSeek-V4", chatTemplate: "<｜DSML｜tool_calls>" });
  assert.deepEqual(v4.dialect, { tools: "deepseek_v4_0731", reasoning: "deepseek_v4" });
});

/** Models whose line is found by their template only. */
const BY_TEMPLATE = /^bonsai-/;

Deno.test("Every short name leads to a repository whose name a line covers", () => {
  assert.ok(OURS.aliases.size >= 40);
  for (const alias of OURS.aliases.keys()) {
    const source = sourceOf(OURS, alias);
    assert.ok(source?.kind === "huggingface", alias);
    const { line } = resolveProfile(OURS, { name: source.repository });
    assert.equal(line.id === "default", BY_TEMPLATE.test(alias), `${alias}: ${source.repository} is ${line.id}`);
  }
});

Deno.test("A checkpoint that no line covers is read by its template, and the reason says so", () => {
  const chatTemplate = "{{ '<tool_call>' }} … <think></think>";
  const { line, dialect, reason } = resolveProfile(OURS, { name: "someone/unheard-of", chatTemplate });
  assert.equal(line.id, "default");
  assert.deepEqual(dialect, { tools: "hermes", reasoning: "qwen3" });
  assert.equal(
    reason,
    "no line covers someone/unheard-of (model_type unknown); template with <tool_call> and </think>",
  );
  const bare = resolveProfile(OURS, { name: "someone/unheard-of" });
  assert.deepEqual(bare.dialect, { tools: "none", reasoning: "none" });
});
