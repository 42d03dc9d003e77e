/**
 * MiniMax M2:
 *
 * ```
 * <minimax:tool_call>
 * <invoke name="add_note">
 * <parameter name="text">buy figs</parameter>
 * </invoke>
 * </minimax:tool_call>
 * ```
 *
 * Source: MiniMaxAI/MiniMax-M2 `docs/tool_calling_guide.md` and its chat template.
 *
 * @module
 */
import { InvokeBlockReader, type InvokeShape } from "./invoke_block.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

const OPEN = "<minimax:tool_call>";
const CLOSE = "</minimax:tool_call>";
const INVOKE = '<invoke name="';

const SHAPE: InvokeShape = {
  openCall: [INVOKE, '">'],
  closeBlock: CLOSE,
  tags: {
    openParameter: ['<parameter name="', '">'],
    closeParameter: "</parameter>",
    closeFunction: "</invoke>",
    closeCall: "",
    openers: [],
    exact: true,
    mustFollow: [INVOKE, CLOSE],
  },
};

/** Makes the parser of an answer. */
export function createMinimax(context: ToolContext): ToolParser {
  const opener = { text: OPEN, place: "anywhere", read: () => new InvokeBlockReader(context, SHAPE) } as const;
  // A piece of a control token that the model's end may leave behind.
  return new ToolScanner([opener], [OPEN, CLOSE], context, [CLOSE, "[e~["]);
}
