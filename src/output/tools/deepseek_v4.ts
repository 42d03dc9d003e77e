/**
 * DeepSeek V4 and V3.2, DSML:
 *
 * ```
 * <｜DSML｜tool_calls>
 * <｜DSML｜invoke name="add_note">
 * <｜DSML｜parameter name="text" string="true">buy figs</｜DSML｜parameter>
 * </｜DSML｜invoke>
 * </｜DSML｜tool_calls>
 * ```
 *
 * `string="false"` means that the value is JSON. V3.2 calls the block `function_calls`.
 *
 * Source: chat templates of deepseek-ai/DeepSeek-V4-Flash-0731 and DeepSeek-V3.2.
 *
 * @module
 */
import { InvokeBlockReader, type InvokeShape } from "./invoke_block.ts";
import type { ParameterName } from "./parameter_call.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

/** Of V4, and of V3.2. */
const BLOCKS = ["tool_calls", "function_calls"].map((name) => (
  { open: `<｜DSML｜${name}>`, close: `</｜DSML｜${name}>` }
));
const INVOKE = '<｜DSML｜invoke name="';

const shapeOf = (close: string): InvokeShape => ({
  openCall: [INVOKE, '">'],
  closeBlock: close,
  tags: {
    openParameter: ['<｜DSML｜parameter name="', ">"],
    closeParameter: "</｜DSML｜parameter>",
    closeFunction: "</｜DSML｜invoke>",
    closeCall: "",
    openers: [],
    exact: true,
    mustFollow: [INVOKE, close],
    readName,
  },
});

/** `text" string="true"` → the name, and what the attribute says of the value. */
function readName(raw: string): ParameterName {
  const [, name = "", isText] = /^([^"]+)"(?:\s+string="(true|false)")?\s*$/.exec(raw) ?? [];
  return { name, ...(isText === undefined ? {} : { kind: isText === "true" ? "text" : "json" }) };
}

/** Makes the parser of an answer. */
export function createDeepseekV4(context: ToolContext): ToolParser {
  const openers = BLOCKS.map(({ open, close }) => (
    { text: open, place: "anywhere", read: () => new InvokeBlockReader(context, shapeOf(close)) } as const
  ));
  return new ToolScanner(openers, ["｜DSML｜", ...BLOCKS.flatMap(({ open, close }) => [open, close])], context);
}
