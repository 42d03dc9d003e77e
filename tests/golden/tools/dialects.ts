/**
 * The folders of transcripts and how each is written.
 *
 * @module
 */
import type { Dialect } from "../../../src/output/decoder.ts";

/** A folder of transcripts. */
export interface Folder {
  /** Under tests/golden. */
  folder: string;
  /** The parser of calls. */
  dialect: Dialect["tools"];
  /** Special tokens that the dialect may be written in. */
  special: readonly string[];
  /** It is never written without them. */
  only?: boolean;
}

const THINK = ["<think>", "</think>"];
const HARMONY = ["<|start|>", "<|channel|>", "<|constrain|>", "<|message|>", "<|end|>", "<|call|>", "<|return|>"];
const MINIMAX = ["<minimax:tool_call>", "</minimax:tool_call>"];
const SEED = ["<seed:tool_call>", "</seed:tool_call>"];
const TOOL_CALL = ["<tool_call>", "</tool_call>"];

const DEEPSEEK = [
  "<｜tool▁calls▁begin｜>",
  "<｜tool▁call▁begin｜>",
  "<｜tool▁sep｜>",
  "<｜tool▁call▁end｜>",
  "<｜tool▁calls▁end｜>",
];
const KIMI = [
  "<|tool_calls_section_begin|>",
  "<|tool_calls_section_end|>",
  "<|tool_call_begin|>",
  "<|tool_call_argument_begin|>",
  "<|tool_call_end|>",
];

const LABELLED = ["tool_calls", "tool_call", "arg_key", "arg_value", "think"].flatMap((name) => [
  `<${name}:opensource>`,
  `</${name}:opensource>`,
]);
const IFM = ["tool_calls", "tool_call", "arg_key", "arg_type", "arg_value", "think", "think_fast"].flatMap((name) => [
  `<ifm|${name}>`,
  `</ifm|${name}>`,
]);
const GEMMA = ["<|tool_call>", "<tool_call|>", '<|"|>', "<|channel>", "<channel|>", "<turn|>"];
const MUSE = ["<|start|>", "<|message|>", "<|eom|>", "<|eot|>"];
const FUNCTIONARY = ["<|recipient|>", "<|content|>", "<|from|>", "<|stop|>"];
const LFM = ["<|tool_call_start|>", "<|tool_call_end|>"];

/** All of them; the transcripts of reasoning have calls of the hermes dialect. */
export const DIALECTS: readonly Folder[] = [
  { folder: "tools/hermes", dialect: "hermes", special: TOOL_CALL },
  { folder: "tools/qwen3_coder_xml", dialect: "qwen3_coder_xml", special: TOOL_CALL },
  { folder: "tools/mistral", dialect: "mistral", special: ["[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"] },
  { folder: "tools/llama", dialect: "llama", special: ["<|python_tag|>"] },
  {
    folder: "tools/harmony",
    dialect: "harmony",
    special: HARMONY,
    only: true,
  },
  { folder: "tools/deepseek", dialect: "deepseek", special: DEEPSEEK },
  { folder: "tools/deepseek_v31", dialect: "deepseek_v31", special: DEEPSEEK },
  { folder: "tools/deepseek_v4_0731", dialect: "deepseek_v4_0731", special: ["｜DSML｜"] },
  {
    folder: "tools/glm47",
    dialect: "glm47",
    special: [...TOOL_CALL, "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"],
  },
  { folder: "tools/granite", dialect: "granite", special: ["<|tool_call|>"] },
  { folder: "tools/functionary", dialect: "functionary", special: FUNCTIONARY },
  { folder: "tools/gemma4", dialect: "gemma4", special: GEMMA },
  {
    folder: "tools/hy_v3",
    dialect: "hy_v3",
    special: [...LABELLED, "<tool_sep:opensource>", "<end_of_tool_call:opensource>"],
  },
  { folder: "tools/k2_horizon", dialect: "k2_horizon", special: IFM },
  { folder: "tools/lfm", dialect: "lfm", special: LFM },
  { folder: "tools/muse", dialect: "muse", special: MUSE },
  { folder: "tools/ui_tars", dialect: "ui_tars", special: ["<|box_start|>", "<|box_end|>"] },
  { folder: "tools/kimi", dialect: "kimi", special: KIMI },
  { folder: "tools/minicpm", dialect: "minicpm", special: [] },
  { folder: "tools/minimax", dialect: "minimax", special: MINIMAX },
  { folder: "tools/seed_oss", dialect: "seed_oss", special: SEED },
  { folder: "tools/xlam", dialect: "xlam", special: [] },
  { folder: "reasoning/think_tags", dialect: "hermes", special: THINK },
  { folder: "reasoning/deepseek_r1", dialect: "hermes", special: THINK },
  { folder: "reasoning/deepseek_r1_distill", dialect: "none", special: THINK },
  { folder: "reasoning/deepseek_v4", dialect: "deepseek_v4_0731", special: [...THINK, "｜DSML｜"] },
  { folder: "reasoning/gemma4", dialect: "gemma4", special: GEMMA },
  {
    folder: "reasoning/glm4",
    dialect: "glm47",
    special: [...TOOL_CALL, ...THINK, "<|begin_of_box|>", "<|end_of_box|>"],
  },
  { folder: "reasoning/harmony", dialect: "harmony", special: HARMONY, only: true },
  { folder: "reasoning/hy_v3", dialect: "hy_v3", special: [...LABELLED, "<tool_sep:opensource>"] },
  { folder: "reasoning/k2_horizon", dialect: "k2_horizon", special: IFM },
  { folder: "reasoning/magistral", dialect: "mistral", special: ["[THINK]", "[/THINK]", "[TOOL_CALLS]", "[ARGS]"] },
  { folder: "reasoning/minimax", dialect: "minimax", special: [...THINK, ...MINIMAX] },
  { folder: "reasoning/muse", dialect: "muse", special: MUSE },
  { folder: "reasoning/north", dialect: "hermes", special: ["<|START_THINKING|>", "<|END_THINKING|>"] },
  { folder: "reasoning/seed_oss", dialect: "seed_oss", special: ["<seed:think>", "</seed:think>", ...SEED] },
  { folder: "reasoning/thought", dialect: "hermes", special: [] },
  { folder: "reasoning/ui_tars", dialect: "ui_tars", special: [] },
  { folder: "reasoning/vibethinker", dialect: "hermes", special: THINK },
];
