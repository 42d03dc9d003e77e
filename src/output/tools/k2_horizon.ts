/**
 * K2 Horizon:
 *
 * ```
 * <ifm|tool_calls>
 * <ifm|tool_call>add_note
 * <ifm|arg_key>text</ifm|arg_key>
 * <ifm|arg_value>buy figs</ifm|arg_value>
 * </ifm|tool_call>
 * </ifm|tool_calls>
 * ```
 *
 * `<ifm|arg_type>string</ifm|arg_type>` may stand between key and value; a call may be one JSON object with `name` and
 * `arguments`; the block may be missing around a call.
 *
 * Source: chat template of LLM360's K2 Horizon (`tool_call_format` xml, xml with types, json).
 *
 * @module
 */
import type { ToolContext, ToolParser } from "./parser.ts";
import { TagBlockReader, type TagBlockShape } from "./tag_block.ts";
import { ToolScanner } from "./tool_scanner.ts";

const OPEN = "<ifm|tool_calls>";
const CALL = ["<ifm|tool_call>", "</ifm|tool_call>"] as const;
const KEY = ["<ifm|arg_key>", "</ifm|arg_key>"] as const;
const TYPE = ["<ifm|arg_type>", "</ifm|arg_type>"] as const;
const VALUE = ["<ifm|arg_value>", "</ifm|arg_value>"] as const;

const SHAPE: TagBlockShape = {
  closeBlock: "</ifm|tool_calls>",
  openCall: CALL[0],
  closeCall: [CALL[1]],
  tags: {
    openParameter: KEY,
    valueType: TYPE,
    beforeValue: VALUE[0],
    closeParameter: VALUE[1],
    closeFunction: CALL[1],
    closeCall: "",
    openers: [],
    exact: true,
  },
};

/** Makes the parser of an answer. */
export function createK2Horizon(context: ToolContext): ToolParser {
  const openers = [
    { text: OPEN, place: "anywhere", read: () => new TagBlockReader(context, SHAPE, false) },
    { text: CALL[0], place: "anywhere", read: () => new TagBlockReader(context, SHAPE, true) },
  ] as const;
  return new ToolScanner(openers, [OPEN, SHAPE.closeBlock, ...CALL, ...KEY, ...TYPE, ...VALUE], context, [
    SHAPE.closeBlock,
  ]);
}
