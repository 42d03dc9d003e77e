/**
 * DeepSeek before V4, with its full-width markers:
 *
 * ```
 * <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add_note
 * ```json
 * {"text": "buy figs"}
 * ```<｜tool▁call▁end｜><｜tool▁calls▁end｜>
 * ```
 *
 * That is V2.5, V3 and R1 (`deepseek`, `deepseek_v3`; the type word and the fence may be missing). V3.1
 * (`deepseek_v31`) writes `<｜tool▁call▁begin｜>add_note<｜tool▁sep｜>{"text": "buy figs"}<｜tool▁call▁end｜>`.
 *
 * Source: chat templates of deepseek-ai/DeepSeek-V3, DeepSeek-R1-0528 and DeepSeek-V3.1.
 *
 * @module
 */
import { BlockReader, type BlockShape } from "./block_call.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

const BLOCK = "<｜tool▁calls▁begin｜>";
const CALL = "<｜tool▁call▁begin｜>";
const SEPARATOR = "<｜tool▁sep｜>";
const CALL_END = "<｜tool▁call▁end｜>";
const BLOCK_END = "<｜tool▁calls▁end｜>";
const MARKERS = [BLOCK, CALL, SEPARATOR, CALL_END, BLOCK_END];

const FENCED: BlockShape = {
  openCall: CALL,
  header: /^\s*(?:(?<type>\w{0,64})<｜tool▁sep｜>)?\s*(?<name>[\w.-]{1,256})\s*```(?:json)?\s*(?=[{"])/,
  partialHeader: /^\s*\w{0,64}(<[^>]{0,16}(>\s*)?)?[\w.-]{0,256}\s*(`{0,3}|```(j|js|jso|json)?\s*)$/,
  closeCall: ["```", CALL_END],
  closeBlock: [BLOCK_END],
};
const INLINE: BlockShape = {
  openCall: CALL,
  header: /^\s*(?<name>[\w.-]{1,256})\s*<｜tool▁sep｜>\s*(?=[{"])/,
  partialHeader: /^\s*[\w.-]{0,256}\s*(<[^>]{0,16}(>\s*)?)?$/,
  closeCall: [CALL_END],
  closeBlock: [BLOCK_END],
};

/** Makes the parser of an answer of V2.5, V3 or R1. */
export function createDeepseek(context: ToolContext): ToolParser {
  return create(context, FENCED);
}

/** Makes the parser of an answer of V3.1. */
export function createDeepseekV31(context: ToolContext): ToolParser {
  return create(context, INLINE);
}

function create(context: ToolContext, shape: BlockShape): ToolParser {
  const openers = [
    { text: BLOCK, place: "anywhere", read: () => new BlockReader(context, shape, false) },
    { text: CALL, place: "anywhere", read: () => new BlockReader(context, shape, true) },
  ] as const;
  return new ToolScanner(openers, MARKERS, context);
}
