/**
 * The formats whose answers are segments with marks.
 *
 * Sources: chat templates of google/gemma-4-31B-it (`<|channel>thought … <channel|>`), of Muse Glimmer
 * (`<|start|>assistant to=self<|message|> … <|eom|>`), of Cohere's models (`<|START_THINKING|> … <|END_THINKING|>`), of
 * meetkai/functionary-medium-v3.2 (`>>>all`), and the prompts of bytedance/UI-TARS (`Thought: …`, `Action: …`).
 *
 * @module
 */
import type { SegmentShape } from "./segments.ts";

/** Gemma 4: channels; `content` and `final` are content. */
export const GEMMA4: SegmentShape = {
  marks: [
    {
      start: "<|channel>",
      whole: /^<\|channel>(?:thought|analysis)(?=[\s<])/,
      partial: /^<\|channel>[a-z]{0,8}$/,
      to: "reasoning",
    },
    {
      start: "<|channel>",
      whole: /^<\|channel>(?:content|final)(?=[\s<])/,
      partial: /^<\|channel>[a-z]{0,7}$/,
      to: "content",
    },
    { start: "<channel|>", to: "content" },
    { start: "<turn|>", to: "content" },
  ],
  markers: ["<|channel>", "<channel|>", "<turn|>"],
  endMarker: "<channel|>",
  closing: "<channel|>",
};

const MUSE_PARTIAL = /^(?:<\|start\|>\s*\w{0,9}\s*)?(?:(?:t|to|to=\w{0,4})\s*)?(?:<[|a-z]{0,10})?$/;

/**
 * Muse Glimmer: messages to oneself are reasoning, to the user content. Headers that name a tool are read with its call
 * (tools/muse.ts). The prompt ends behind `<|start|>assistant`.
 */
export const MUSE: SegmentShape = {
  marks: [
    {
      start: "<|start|>",
      whole: /^<\|start\|>\s*assistant\s+to=self\s*<\|message\|>/,
      partial: MUSE_PARTIAL,
      to: "reasoning",
    },
    {
      start: "<|start|>",
      whole: /^<\|start\|>\s*assistant(?:\s+to=user)?\s*<\|message\|>/,
      partial: MUSE_PARTIAL,
      to: "content",
    },
    { start: "", place: "answer", whole: /^to=self\s*<\|message\|>/, partial: MUSE_PARTIAL, to: "reasoning" },
    { start: "", place: "answer", whole: /^(?:to=user\s*)?<\|message\|>/, partial: MUSE_PARTIAL, to: "content" },
    { start: "<|eom|>", to: "content" },
    { start: "<|eot|>", to: "content" },
  ],
  markers: ["<|start|>", "<|message|>", "<|eom|>", "<|eot|>"],
  endMarker: "",
  closing: "<|eom|><|start|>assistant to=user<|message|>",
  closingBeforeCall: "<|eom|><|start|>assistant ",
};

/** Cohere's North: thinking and text between tokens. */
export const NORTH: SegmentShape = {
  marks: [
    { start: "<|START_THINKING|>", to: "reasoning" },
    { start: "<|END_THINKING|>", to: "content" },
    { start: "<|START_TEXT|>", to: "content" },
    { start: "<|END_TEXT|>", to: "content" },
    { start: "<|START_RESPONSE|>", to: "content" },
    { start: "<|END_RESPONSE|>", to: "content" },
  ],
  markers: [
    "<|START_THINKING|>",
    "<|END_THINKING|>",
    "<|START_TEXT|>",
    "<|END_TEXT|>",
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
  ],
  endMarker: "<|END_THINKING|>",
  closing: "<|END_THINKING|><|START_TEXT|>",
};

const ALL_PARTIAL = /^(?:>>>|<\|recipient\|>\s*)?(?:a|al|all|u|us|use|user)?\s*(?:<[|a-z]{0,9})?$/;

/** Functionary: messages to all or to the user are content; others are calls (tools/functionary.ts). No reasoning. */
export const FUNCTIONARY: SegmentShape = {
  marks: [
    {
      start: "<|recipient|>",
      whole: /^<\|recipient\|>\s*(?:all|user)\s*<\|content\|>/,
      partial: ALL_PARTIAL,
      to: "content",
    },
    {
      start: "<|from|>",
      whole: /^<\|from\|>\s*assistant(?=[\s<])/,
      partial: /^<\|from\|>\s*[a-z]{0,9}$/,
      to: "content",
    },
    { start: ">>>", place: "line", whole: /^>>>(?:all|user)\n/, partial: ALL_PARTIAL, to: "content" },
    { start: "<|stop|>", to: "content" },
  ],
  markers: ["<|recipient|>", "<|content|>", "<|from|>", "<|stop|>"],
  endMarker: "",
};

/** The same where the prompt ended with the first `>>>`. */
export const FUNCTIONARY_OPENED: SegmentShape = {
  ...FUNCTIONARY,
  marks: [
    { start: "", place: "answer", whole: /^(?:all|user)\n/, partial: ALL_PARTIAL, to: "content" },
    ...FUNCTIONARY.marks,
  ],
};

/** UI-TARS: thoughts and reflections are lines; an action that is no call is content. */
export const UI_TARS: SegmentShape = {
  marks: [
    { start: "Thought:", place: "line", to: "reasoning", spaceGoesOn: true },
    { start: "Reflection:", place: "line", to: "reasoning", spaceGoesOn: true },
    { start: "Action:", place: "line", to: "content", shown: true },
  ],
  markers: [],
  endMarker: "",
  closing: "\nAction: ",
  callEndsReasoning: true,
};
