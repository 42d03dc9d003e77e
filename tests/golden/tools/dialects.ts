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
  { folder: "reasoning/think_tags", dialect: "hermes", special: ["<think>", "</think>"] },
];
