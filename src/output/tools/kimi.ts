/**
 * Kimi K2:
 *
 * ```
 * <|tool_calls_section_begin|><|tool_call_begin|>functions.add_note:0<|tool_call_argument_begin|>{"text": "buy figs"}
 * <|tool_call_end|><|tool_calls_section_end|>
 * ```
 *
 * `functions.add_note:0` is the call's id, and the template wants it back: it goes to the client as it is. The section
 * may be missing around a call, or be spelled in the singular.
 *
 * Source: moonshotai/Kimi-K2-Instruct `docs/tool_call_guidance.md`.
 *
 * @module
 */
import { BlockReader, type BlockShape } from "./block_call.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

const SECTIONS = ["<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"];
const SECTION_ENDS = ["<|tool_calls_section_end|>", "<|tool_call_section_end|>"];
const CALL = "<|tool_call_begin|>";
const ARGUMENTS = "<|tool_call_argument_begin|>";
const CALL_END = "<|tool_call_end|>";

const SHAPE: BlockShape = {
  openCall: CALL,
  // The name is inside the id.
  header: new RegExp(
    "^\\s*(?<id>(?:functions\\.)?(?<name>[\\w.-]{1,256}?)(?::\\d+)?)\\s*<\\|tool_call_argument_begin\\|>\\s*",
  ),
  partialHeader: /^\s*[\w.:-]{0,300}\s*(<[^>]{0,28}(>\s*)?)?$/,
  closeCall: [CALL_END],
  closeBlock: SECTION_ENDS,
};

/** Makes the parser of an answer. */
export function createKimi(context: ToolContext): ToolParser {
  const openers = [
    ...SECTIONS.map((text) =>
      ({ text, place: "anywhere", read: () => new BlockReader(context, SHAPE, false) }) as const
    ),
    { text: CALL, place: "anywhere", read: () => new BlockReader(context, SHAPE, true) } as const,
  ];
  return new ToolScanner(openers, [...SECTIONS, ...SECTION_ENDS, CALL, ARGUMENTS, CALL_END], context);
}
