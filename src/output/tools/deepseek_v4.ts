/**
 * DeepSeek V4, DSML:
 *
 * ```
 * <｜DSML｜tool_calls>
 * <｜DSML｜invoke name="add_note">
 * <｜DSML｜parameter name="text" string="true">buy figs</｜DSML｜parameter>
 * </｜DSML｜invoke>
 * </｜DSML｜tool_calls>
 * ```
 *
 * `string="false"` means that the value is JSON.
 *
 * Source: chat template of deepseek-ai/DeepSeek-V4-Flash-0731.
 *
 * @module
 */
import { InvokeBlockReader, type InvokeShape } from "./invoke_block.ts";
import type { ParameterName } from "./parameter_call.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

const OPEN = "<｜DSML｜tool_calls>";
const CLOSE = "</｜DSML｜tool_calls>";
const INVOKE = '<｜DSML｜invoke name="';

const SHAPE: InvokeShape = {
  openCall: [INVOKE, '">'],
  closeBlock: CLOSE,
  tags: {
    openParameter: ['<｜DSML｜parameter name="', ">"],
    closeParameter: "</｜DSML｜parameter>",
    closeFunction: "</｜DSML｜invoke>",
    closeCall: "",
    openers: [],
    exact: true,
    mustFollow: [INVOKE, CLOSE],
    readName,
  },
};

/** `text" string="true"` → the name, and what the attribute says of the value. */
function readName(raw: string): ParameterName {
  const [, name = "", isText] = /^([^"]+)"(?:\s+string="(true|false)")?\s*$/.exec(raw) ?? [];
  return { name, ...(isText === undefined ? {} : { kind: isText === "true" ? "text" : "json" }) };
}

/** Makes the parser of an answer. */
export function createDeepseekV4(context: ToolContext): ToolParser {
  const opener = { text: OPEN, place: "anywhere", read: () => new InvokeBlockReader(context, SHAPE) } as const;
  return new ToolScanner([opener], ["｜DSML｜", OPEN, CLOSE], context);
}
