/**
 * Hunyuan 3, whose tags carry a label that the vocabulary says:
 *
 * ```
 * <tool_calls:opensource>
 * <tool_call:opensource>add_note<tool_sep:opensource>
 * <arg_key:opensource>text</arg_key:opensource>
 * <arg_value:opensource>buy figs</arg_value:opensource>
 * </tool_call:opensource>
 * </tool_calls:opensource>
 * ```
 *
 * The block may be missing around a call, arguments may be one JSON object, and a call may end with
 * `<end_of_tool_call:opensource>`. All tags of a call have one label, or none.
 *
 * Source: chat template of tencent/Hy3; the other shapes are those that Rapid-MLX accepts.
 *
 * @module
 */
import { HY_LABEL } from "../reasoning/mod.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { TagBlockReader, type TagBlockShape } from "./tag_block.ts";
import { type Opener, ToolScanner } from "./tool_scanner.ts";

const NAMES = ["tool_calls", "tool_call", "arg_key", "arg_value"];

function shapeOf(label: string): TagBlockShape {
  return {
    closeBlock: `</tool_calls${label}>`,
    openCall: `<tool_call${label}>`,
    closeCall: [`</tool_call${label}>`, `<end_of_tool_call${label}>`],
    separator: `<tool_sep${label}>`,
    noise: `</arg_value${label}>`,
    tags: {
      openParameter: [`<arg_key${label}>`, `</arg_key${label}>`],
      beforeValue: `<arg_value${label}>`,
      closeParameter: `</arg_value${label}>`,
      closeFunction: `</tool_call${label}>`,
      closeFunctionToo: [`<end_of_tool_call${label}>`],
      closeCall: "",
      openers: [],
      exact: true,
    },
  };
}

/** Makes the parser of an answer. */
export function createHyV3(context: ToolContext): ToolParser {
  const labels = [...new Set([context.label ?? HY_LABEL, ""])];
  const openers = labels.flatMap((label): Opener[] => {
    const shape = shapeOf(label);
    return [
      { text: `<tool_calls${label}>`, place: "anywhere", read: () => new TagBlockReader(context, shape, false) },
      { text: shape.openCall, place: "anywhere", read: () => new TagBlockReader(context, shape, true) },
    ];
  });
  const markers = labels.flatMap((label) => [
    ...NAMES.flatMap((name) => [`<${name}${label}>`, `</${name}${label}>`]),
    `<tool_sep${label}>`,
    `<end_of_tool_call${label}>`,
  ]);
  return new ToolScanner(openers, markers, context);
}
