/**
 * Parsers of reasoning by name. Profiles name them; the list is the registry.
 *
 * @module
 */
import type { ReasoningContext, ReasoningParser } from "./parser.ts";
import { createThinkTags, type ThinkTags } from "./think_tags.ts";

const THINK: ThinkTags = { open: "<think>", close: "</think>" };

/** Formats whose reasoning stands between tags. `deepseek_r1_distill`: models that can't call, whose prose looks so. */
const THINK_TAGS = {
  qwen3: THINK,
  deepseek_r1: THINK,
  deepseek_r1_distill: THINK,
  seed_oss: { open: "<seed:think>", close: "</seed:think>" },
  thought: { open: "<thought>", close: "</thought>" },
} as const satisfies Record<string, ThinkTags>;

/** A parser's name. */
export type ReasoningParserName = keyof typeof THINK_TAGS | "none";

/** All names. */
export const REASONING_PARSERS = ["none", ...Object.keys(THINK_TAGS) as (keyof typeof THINK_TAGS)[]] as const;

/** Makes the parser of an answer. */
export function createReasoningParser(name: ReasoningParserName, context: ReasoningContext): ReasoningParser {
  return name === "none" ? NONE : createThinkTags(THINK_TAGS[name], context);
}

/** Whether a prompt ends inside a block of reasoning that its template opened. */
export function opensReasoning(name: ReasoningParserName, prompt: string): boolean {
  if (name === "none") return false;
  const { open, close } = THINK_TAGS[name];
  const at = prompt.lastIndexOf(open);
  return at >= 0 && at > prompt.lastIndexOf(close) && prompt.slice(at + open.length).trim() === "";
}

const NONE: ReasoningParser = {
  markers: [],
  endMarker: "",
  push: (run) => [{ channel: run.control ? "marker" : "content", run }],
  finish: () => [],
};
