/**
 * Parsers of reasoning by name. Profiles name them; the lists are the registry.
 *
 * @module
 */
import type { ReasoningContext, ReasoningParser } from "./parser.ts";
import { FUNCTIONARY, FUNCTIONARY_OPENED, GEMMA4, MUSE, NORTH, UI_TARS } from "./segment_shapes.ts";
import { channelOfPrompt, createSegments, type SegmentShape } from "./segments.ts";
import { createThinkTags, type ThinkFormat, type ThinkTags } from "./think_tags.ts";
import { WithoutMarkers } from "./without_markers.ts";

const tags = (name: string): ThinkTags => ({ open: `<${name}>`, close: `</${name}>` });
const THINK: ThinkFormat = { pairs: [tags("think")] };

/** What Hunyuan 3's template puts behind a tag's name where the vocabulary does not say it. */
export const HY_LABEL = ":opensource";

/** Formats whose reasoning stands between tags. `deepseek_r1_distill`: models that can't call, whose prose looks so. */
const THINK_TAGS = {
  qwen3: THINK,
  deepseek_r1: { ...THINK, impliedWithin: 64 },
  deepseek_r1_distill: { ...THINK, impliedWithin: 64 },
  deepseek_v4: { ...THINK, callEndsReasoning: true },
  glm4: THINK,
  hy_v3: { pairs: [tags(`think${HY_LABEL}`), tags("think")] },
  k2_horizon: {
    pairs: [tags("ifm|think"), tags("ifm|think_fast"), tags("ifm|think_faster")],
    callEndsReasoning: true,
  },
  magistral: { pairs: [{ open: "[THINK]", close: "[/THINK]" }] },
  minimax: { ...THINK, impliedWithin: 512 },
  seed_oss: { pairs: [tags("seed:think")] },
  thought: { pairs: [tags("thought")] },
  vibethinker: { ...THINK, impliedWithin: 1024 },
} as const satisfies Record<string, ThinkFormat>;

/** Formats of segments. `functionary`: content alone, with headers. */
const SEGMENTS = {
  functionary: FUNCTIONARY,
  gemma4: GEMMA4,
  muse: MUSE,
  north: NORTH,
  ui_tars: UI_TARS,
} as const satisfies Record<string, SegmentShape>;

const GLM_BOX = ["<|begin_of_box|>", "<|end_of_box|>"];

type ThinkName = keyof typeof THINK_TAGS;
/** A format of segments. */
export type SegmentName = keyof typeof SEGMENTS;

/** A parser's name. */
export type ReasoningParserName = ThinkName | SegmentName | "none";

/** All names. */
export const REASONING_PARSERS = [
  "none",
  ...Object.keys(THINK_TAGS) as ThinkName[],
  ...Object.keys(SEGMENTS) as SegmentName[],
] as const;

/** What is known when an answer begins. */
export interface ReasoningStart extends Pick<ReasoningContext, "wholeTokens"> {
  /** The rendered prompt, whose template may have opened the reasoning. */
  prompt: string;
  /** What follows the colon in this vocabulary's tags, with the colon (hy_v3); absent: `HY_LABEL`. */
  label?: string;
}

/** Makes the parser of an answer. */
export function createReasoningParser(name: ReasoningParserName, start: ReasoningStart): ReasoningParser {
  if (name === "none") return NONE;
  const { wholeTokens, prompt } = start;
  if (isSegmentName(name)) {
    const shape = name === "functionary" && prompt.endsWith(">>>") ? FUNCTIONARY_OPENED : SEGMENTS[name];
    return createSegments(shape, { open: channelOfPrompt(shape, prompt) === "reasoning", wholeTokens });
  }
  const format = formatOf(name, start.label);
  const opened = openedPair(format, prompt);
  const context: ReasoningContext = { open: opened >= 0, closed: closesBlock(format, prompt), wholeTokens };
  const parser = createThinkTags(format, context, Math.max(opened, 0));
  return name === "glm4" ? new WithoutMarkers(parser, GLM_BOX, context) : parser;
}

/** Whether a prompt ends inside a block of reasoning that its template opened. */
export function opensReasoning(name: ReasoningParserName, prompt: string): boolean {
  if (name === "none") return false;
  if (isSegmentName(name)) return channelOfPrompt(SEGMENTS[name], prompt) === "reasoning";
  return openedPair(THINK_TAGS[name], prompt) >= 0;
}

function isSegmentName(name: ThinkName | SegmentName): name is SegmentName {
  return Object.hasOwn(SEGMENTS, name);
}

function formatOf(name: ThinkName, label: string | undefined): ThinkFormat {
  if (name !== "hy_v3" || label === undefined) return THINK_TAGS[name];
  return { pairs: [tags(`think${label}`), ...(label === "" ? [] : [tags("think")])] };
}

/** Which pair's block a prompt ends inside, that its template opened; -1: none. */
function openedPair({ pairs }: ThinkFormat, prompt: string): number {
  const text = prompt.trimEnd();
  return pairs.findIndex(({ open }) => text.endsWith(open));
}

function closesBlock({ pairs }: ThinkFormat, prompt: string): boolean {
  const text = prompt.trimEnd();
  return pairs.some(({ close }) => text.endsWith(close));
}

const NONE: ReasoningParser = {
  markers: [],
  endMarker: "",
  closing: "",
  inside: false,
  push: (run) => [{ channel: run.control ? "marker" : "content", run }],
  finish: () => [],
};

/** The tags that part a format's reasoning from what follows a prompt; undefined: it has none, or no tags. */
export function thinkTagsOf(name: ReasoningParserName, prompt: string): ThinkTags | undefined {
  if (name === "none" || isSegmentName(name)) return undefined;
  const { pairs } = THINK_TAGS[name];
  return pairs[Math.max(0, openedPair(THINK_TAGS[name], prompt))] ?? pairs[0];
}

/** What ends a format's reasoning in the model's stead where nothing but a call may follow; undefined: as elsewhere. */
export function closingBeforeCall(name: ReasoningParserName): string | undefined {
  if (name === "none" || !isSegmentName(name)) return undefined;
  const shape: SegmentShape = SEGMENTS[name];
  return shape.closingBeforeCall;
}
