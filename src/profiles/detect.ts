/**
 * How a model writes, read from its chat template: for checkpoints that no line covers.
 *
 * A template teaches the model its tool format and renders earlier calls in it, so the format's own marks stand in it.
 * The table is read from top to bottom and the first row counts whose marks all stand in the template; formats whose
 * marks contain another's come first. Nothing else is looked at: no name, no configuration, no network.
 *
 * @module
 */
import type { Dialect } from "../output/decoder.ts";

/** What a row finds, and why. */
export interface Detected extends Dialect {
  /** For the log and `/v1/models`, e.g. `template with <arg_key>`. */
  reason: string;
}

/** One row: marks that all stand in the template, and none of which does; → the parser. */
interface Row<Name> {
  marks: readonly string[];
  without?: readonly string[];
  parser: Name;
}

/** Marks of tool formats. */
export const TOOL_MARKS: readonly Row<Dialect["tools"]>[] = [
  { marks: ["<ifm|tool_call>"], parser: "k2_horizon" },
  { marks: ["<minimax:tool_call>"], parser: "minimax" },
  { marks: ["<atem:function_calls>"], parser: "muse" },
  { marks: ["<|tool_call>", "<tool_call|>"], parser: "gemma4" },
  { marks: ["｜DSML｜"], parser: "deepseek_v4_0731" },
  { marks: ["<｜tool▁call▁begin｜>", "```json"], parser: "deepseek" },
  { marks: ["<｜tool▁call▁begin｜>"], parser: "deepseek_v31" },
  { marks: ["<seed:tool_call>"], parser: "seed_oss" },
  { marks: ["<|tool_calls_section_begin|>"], parser: "kimi" },
  { marks: ["<|recipient|>", "<|content|>"], parser: "functionary" },
  { marks: [">>>all"], parser: "functionary" },
  { marks: ["<|channel|>", "<|message|>", "functions."], parser: "harmony" },
  { marks: ["<|tool_call_start|>"], parser: "lfm" },
  { marks: ["<|tool_list_start|>"], parser: "lfm" },
  { marks: ['<function name="', '<param name="'], parser: "minicpm" },
  { marks: ["<tool_sep{}>"], parser: "hy_v3" },
  { marks: ["<arg_key>", "<arg_value>", "<tool_call>"], parser: "glm47" },
  { marks: ["<function=", "<parameter="], parser: "qwen3_coder_xml" },
  { marks: ["[TOOL_CALLS]"], parser: "mistral" },
  { marks: ["<|tool_call|>"], parser: "granite" },
  // MiniMax M3 writes elements of other names in these tags, which no parser reads.
  { marks: ["<tool_call>"], without: ["toolcall_begin_token"], parser: "hermes" },
  { marks: ["<function="], parser: "llama" },
  { marks: ["<|start_header_id|>", "<|eot_id|>", "parameters"], parser: "llama" },
];

/** Marks of reasoning. */
export const REASONING_MARKS: readonly Row<Dialect["reasoning"]>[] = [
  { marks: ["<ifm|think"], parser: "k2_horizon" },
  { marks: ["<atem:function_calls>", "to=self"], parser: "muse" },
  { marks: ["<|channel>thought"], parser: "gemma4" },
  { marks: ["<|START_THINKING|>"], parser: "north" },
  { marks: ["<seed:think>"], parser: "seed_oss" },
  { marks: ["<think{}>"], parser: "hy_v3" },
  { marks: ["[THINK]", "[/THINK]"], parser: "magistral" },
  { marks: ["</think>", "<minimax:tool_call>"], parser: "minimax" },
  { marks: ["</think>", "｜DSML｜"], parser: "deepseek_v4" },
  { marks: ["</think>", "<arg_key>", "<tool_call>"], parser: "glm4" },
  { marks: ["</think>", "<｜Assistant｜>"], parser: "deepseek_r1" },
  { marks: ["</think>"], parser: "qwen3" },
  { marks: ["<thought>"], parser: "thought" },
];

/** How a model with this template writes; without one it writes content alone. */
export function detectDialect(chatTemplate: string | undefined): Detected {
  const template = chatTemplate ?? "";
  const tools = find(TOOL_MARKS, template);
  // Harmony is both in one.
  const reasoning = tools?.parser === "harmony" ? undefined : find(REASONING_MARKS, template);
  const marks = [...new Set([...tools?.marks ?? [], ...reasoning?.marks ?? []])];
  return {
    tools: tools?.parser ?? "none",
    reasoning: reasoning?.parser ?? "none",
    reason: marks.length > 0
      ? `template with ${marks.join(" and ")}`
      : chatTemplate === undefined
      ? "no template"
      : "template without marks of a known format",
  };
}

function find<Name>(rows: readonly Row<Name>[], template: string): Row<Name> | undefined {
  return rows.find(({ marks, without = [] }) =>
    marks.every((mark) => template.includes(mark)) && !without.some((mark) => template.includes(mark))
  );
}
