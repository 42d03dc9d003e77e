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
 * `string="false"` means that the value is JSON. V3.2 calls the block `function_calls`. Any tag
 * may also have `r:` before its name, `<｜DSML｜r:invoke name="add_note">`.
 *
 * Source: chat templates of deepseek-ai/DeepSeek-V4-Flash-0731 and DeepSeek-V3.2.
 *
 * @module
 */
import { InvokeBlockReader, type InvokeShape } from "./invoke_block.ts";
import type { ParameterName } from "./parameter_call.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

/** Each tag is also written with `r:` before its name, and a model that opens one so may close it without. */
const spell = (before: string, name: string, after: string): [string, string] => [
  `${before}｜DSML｜${name}${after}`,
  `${before}｜DSML｜r:${name}${after}`,
];

/** Of V4, and of V3.2. */
const BLOCKS = ["tool_calls", "function_calls"].map((name) => (
  { opens: spell("<", name, ">"), closes: spell("</", name, ">") }
));
const INVOKES = spell("<", "invoke", ' name="');
const PARAMETERS = spell("<", "parameter", ' name="');
const PARAMETER_ENDS = spell("</", "parameter", ">");
const INVOKE_ENDS = spell("</", "invoke", ">");

const shapeOf = (closes: readonly [string, string]): InvokeShape => ({
  openCall: [INVOKES[0], '">'],
  openCallToo: [INVOKES[1]],
  closeBlock: closes[0],
  closeBlockToo: [closes[1]],
  tags: {
    openParameter: [PARAMETERS[0], ">"],
    openParameterToo: [PARAMETERS[1]],
    closeParameter: PARAMETER_ENDS[0],
    closeParameterToo: [PARAMETER_ENDS[1]],
    closeFunction: INVOKE_ENDS[0],
    closeFunctionToo: [INVOKE_ENDS[1]],
    closeCall: "",
    openers: [],
    exact: true,
    mustFollow: [...INVOKES, ...closes],
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
  const openers = BLOCKS.flatMap(({ opens, closes }) =>
    opens.map((text) => (
      { text, place: "anywhere", read: () => new InvokeBlockReader(context, shapeOf(closes)) } as const
    ))
  );
  return new ToolScanner(
    openers,
    ["｜DSML｜", ...BLOCKS.flatMap(({ opens, closes }) => [...opens, ...closes])],
    context,
  );
}
