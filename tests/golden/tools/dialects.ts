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

/** All of them; the transcripts of reasoning have calls of the hermes dialect. */
export const DIALECTS: readonly Folder[] = [
  { folder: "tools/hermes", dialect: "hermes", special: TOOL_CALL },
  { folder: "tools/qwen3_coder_xml", dialect: "qwen3_coder_xml", special: TOOL_CALL },
  { folder: "tools/mistral", dialect: "mistral", special: ["[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"] },
  { folder: "tools/llama", dialect: "llama", special: ["<|python_tag|>"] },
  {
    folder: "tools/harmony",
    dialect: "harmony",
    special: ["<|start|>", "<|channel|>", "<|constrain|>", "<|message|>", "<|end|>", "<|call|>", "<|return|>"],
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
  { folder: "tools/kimi", dialect: "kimi", special: KIMI },
  { folder: "tools/minicpm", dialect: "minicpm", special: [] },
  { folder: "tools/minimax", dialect: "minimax", special: ["<minimax:tool_call>", "</minimax:tool_call>"] },
  { folder: "tools/seed_oss", dialect: "seed_oss", special: ["<seed:tool_call>", "</seed:tool_call>"] },
  { folder: "tools/xlam", dialect: "xlam", special: [] },
  { folder: "reasoning/think_tags", dialect: "hermes", special: ["<think>", "</think>"] },
];
