/**
 * How models write, read from real templates: those of the goldens.
 *
 * @module
 */
import assert from "node:assert/strict";
import { detectDialect } from "../../../src/profiles/detect.ts";
import { goldenTemplates } from "./golden.ts";

/** Template → parser of calls and of reasoning. Formats that no parser reads (Kimi K3, MiniMax M3 …) are `none`. */
const EXPECTED: Readonly<Record<string, string>> = {
  "smollm2": "none none",
  "qwen3": "hermes qwen3",
  "llama3": "none none",
  "gemma3": "none none",
  "deepseek_v3": "deepseek none",
  "Apertus-8B-Instruct": "none none",
  "Apriel-1.6-15b-Thinker-fixed": "none none",
  "Bielik-11B-v3.0-Instruct": "hermes qwen3",
  "ByteDance-Seed-OSS": "seed_oss seed_oss",
  "Cohere2MoE": "none north",
  "CohereForAI-c4ai-command-r-plus-tool_use": "none none",
  "CohereForAI-c4ai-command-r7b-12-2024-tool_use": "none north",
  "GLM-4.6": "glm47 glm4",
  "GLM-4.7-Flash": "glm47 glm4",
  "GigaChat3-10B-A1.8B": "none none",
  "GigaChat3.1-10B-A1.8B": "none none",
  "HuggingFaceTB-SmolLM3-3B": "none qwen3",
  "Kimi-K2-Instruct": "kimi none",
  "Kimi-K2-Thinking": "kimi qwen3",
  "Kimi-K3": "none none",
  "LFM2-8B-A1B": "lfm none",
  "LFM2.5-8B-A1B": "lfm qwen3",
  "LFM2.5-Instruct": "none qwen3",
  "MiMo-VL": "hermes none",
  "MiniMax-M1": "none none",
  "MiniMax-M2": "minimax minimax",
  "MiniMax-M3": "none none",
  "Mistral-Small-3.2-24B-Instruct-2506": "mistral none",
  "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": "qwen3_coder_xml qwen3",
  "NVIDIA-Nemotron-Nano-v2": "none qwen3",
  "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": "hermes none",
  "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": "hermes none",
  "Qwen-QwQ-32B": "hermes qwen3",
  "Qwen-Qwen2.5-7B-Instruct": "hermes none",
  "Qwen-Qwen3-0.6B": "hermes qwen3",
  "Qwen3-Coder": "qwen3_coder_xml none",
  "Qwen3.5-4B": "qwen3_coder_xml qwen3",
  "Reka-Edge": "hermes qwen3",
  "Spark2.5": "glm47 glm4",
  "StepFun3.5-Flash": "qwen3_coder_xml qwen3",
  "deepseek-ai-DeepSeek-R1-Distill-Llama-8B": "deepseek deepseek_r1",
  "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B": "deepseek deepseek_r1",
  "deepseek-ai-DeepSeek-V3.1": "deepseek_v31 deepseek_r1",
  "deepseek-ai-DeepSeek-V3.2": "deepseek_v4_0731 deepseek_v4",
  "deepseek-ai-DeepSeek-V4": "deepseek_v4_0731 deepseek_v4",
  "deepseek-ai-DeepSeek-V4-Flash-0731": "deepseek_v4_0731 deepseek_v4",
  "fireworks-ai-llama-3-firefunction-v2": "none none",
  "google-gemma-2-2b-it": "none none",
  "google-gemma-4-31B-it": "gemma4 gemma4",
  "google-gemma-4-31B-it-interleaved": "gemma4 gemma4",
  "ibm-granite-granite-3.3-2B-Instruct": "granite qwen3",
  "ibm-granite-granite-4.0": "hermes none",
  "ibm-granite-granite-4.1": "hermes none",
  "inclusionai-ling-3.0-flash": "glm47 glm4",
  "llama-cpp-deepseek-r1": "deepseek deepseek_r1",
  "llama-cpp-rwkv-world": "none qwen3",
  "meetkai-functionary-medium-v3.1": "llama none",
  "meetkai-functionary-medium-v3.2": "functionary none",
  "meta-llama-Llama-3.1-8B-Instruct": "llama none",
  "meta-llama-Llama-3.2-3B-Instruct": "llama none",
  "meta-llama-Llama-3.3-70B-Instruct": "llama none",
  "microsoft-Phi-3.5-mini-instruct": "none none",
  "mistralai-Ministral-3-14B-Reasoning-2512": "mistral magistral",
  "mistralai-Mistral-Nemo-Instruct-2407": "mistral none",
  "moonshotai-Kimi-K2": "kimi none",
  "muse-glimmer": "muse muse",
  "openai-gpt-oss-120b": "harmony none",
  "openbmb-MiniCPM5-1B": "minicpm qwen3",
  "poolside-Laguna-S-2.1": "glm47 glm4",
  "poolside-Laguna-XS-2.1": "glm47 glm4",
  "poolside-Laguna-XS.2": "glm47 glm4",
  "tencent-Hy3": "hy_v3 hy_v3",
  "unsloth-Apriel-1.5": "hermes none",
  "unsloth-mistral-Devstral-Small-2507": "mistral none",
  "upstage-Solar-Open-100B": "none none",
};

Deno.test("The dialect that a real template shows is the one that its model writes", async () => {
  const found = Object.entries(await goldenTemplates()).map(([name, { template }]) => {
    const { tools, reasoning } = detectDialect(template);
    return [name, `${tools} ${reasoning}`];
  });
  assert.deepEqual(Object.fromEntries(found), EXPECTED);
});
