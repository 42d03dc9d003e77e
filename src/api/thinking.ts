// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * The request fields that say how a model thinks: whether, how hard, and for how many tokens.
 *
 * | field | who sends it |
 * |---|---|
 * | `enable_thinking`, `chat_template_kwargs.enable_thinking` | vLLM, SGLang and their clients |
 * | `reasoning_effort`, `reasoning.effort` | OpenAI, OpenRouter |
 * | `reasoning_max_tokens` | Rapid-MLX |
 * | `thinking_budget`, `chat_template_kwargs.thinking_budget` | Qwen's API |
 * | `thinking: {type, budget_tokens}` | Anthropic's API, GLM's and DeepSeek's |
 * | `reasoning: {max_tokens, enabled}` | OpenRouter |
 *
 * Of several that say the same, the first of this table counts.
 *
 * @module
 */
import { z } from "zod";
import { type FieldTable, type IgnoredFields, LISTED, sortFields, WORKS } from "./fields.ts";

const tokens = z.number().int("expected an integer").min(0, "expected 0 or more").max(2 ** 31 - 1);
const someTokens = tokens.min(1, "expected 1 or more");
const effort = z.string().max(32, "expected a word of at most 32 characters");

/** Schema of the fields, without nulls (`sortFields` drops them). */
export const THINKING_SHAPE = {
  enable_thinking: z.boolean("expected true or false").optional(),
  reasoning_effort: effort.optional(),
  reasoning_max_tokens: someTokens.optional(),
  thinking_budget: tokens.optional(),
  thinking: z.looseObject({
    type: z.string("expected a word").max(32).nullish(),
    budget_tokens: someTokens.nullish(),
  }, "expected an object").optional(),
  reasoning: z.looseObject({
    effort: effort.nullish(),
    max_tokens: someTokens.nullish(),
    enabled: z.boolean().nullish(),
  }, "expected an object").optional(),
} as const;

/** What becomes of them. */
export const THINKING_FIELDS: FieldTable = Object.fromEntries(Object.keys(THINKING_SHAPE).map((name) => [name, WORKS]));

const INSIDE_THINKING: FieldTable = { type: WORKS, budget_tokens: WORKS, display: LISTED };
const INSIDE_REASONING: FieldTable = { effort: WORKS, max_tokens: WORKS, enabled: WORKS, exclude: LISTED };

const ThinkingFields = z.object(THINKING_SHAPE);

/** What a request asks of thinking. */
export interface ThinkingRequest {
  /** On or off; absent: as the template has it. */
  enabled?: boolean;
  /** Word of the wire. */
  effort?: string;
  /** Tokens, and the field that said so. */
  budget?: { tokens: number; field: string };
}

/** The template's arguments, with what was asked of thinking. */
export function withThinking(
  templateArguments: Readonly<Record<string, unknown>>,
  { enabled, effort }: ThinkingRequest,
): Record<string, unknown> {
  return {
    ...templateArguments,
    ...(enabled !== undefined && { enable_thinking: enabled }),
    ...(effort !== undefined && { reasoning_effort: effort }),
  };
}

/** Tokens of thinking for an effort, where the template has no words of its own. `none` is no thinking. */
const EFFORT_TOKENS: Readonly<Record<string, number>> = {
  minimal: 256,
  low: 512,
  medium: 2048,
  high: 8192,
  xhigh: 24_000,
};

/** The budget of an effort; undefined: it has none. */
export function effortTokens(effort: string): number | undefined {
  return Object.hasOwn(EFFORT_TOKENS, effort) ? EFFORT_TOKENS[effort] : undefined;
}

/** What the fields say. @param templateArguments `chat_template_kwargs`. */
export function toThinking(
  fields: z.output<typeof ThinkingFields>,
  templateArguments: Readonly<Record<string, unknown>>,
  ignored: IgnoredFields,
): ThinkingRequest {
  if (fields.thinking) sortFields(INSIDE_THINKING, fields.thinking, ignored, "thinking");
  if (fields.reasoning) sortFields(INSIDE_REASONING, fields.reasoning, ignored, "reasoning");
  const word = fields.reasoning_effort ?? fields.reasoning?.effort ?? undefined;
  const enabled = toEnabled(fields, templateArguments, word);
  const budget = toBudget(fields, templateArguments);
  return {
    ...(enabled !== undefined && { enabled }),
    ...(word !== undefined && { effort: word }),
    ...(budget !== undefined && { budget }),
  };
}

function toEnabled(
  { enable_thinking, thinking, reasoning }: z.output<typeof ThinkingFields>,
  templateArguments: Readonly<Record<string, unknown>>,
  word: string | undefined,
): boolean | undefined {
  const { enable_thinking: argument } = templateArguments;
  if (enable_thinking !== undefined) return enable_thinking;
  if (typeof argument === "boolean") return argument;
  if (thinking?.type === "enabled" || thinking?.type === "disabled") return thinking.type === "enabled";
  // No effort is no thinking, for templates that know a switch and no efforts.
  return reasoning?.enabled ?? (word === "none" ? false : undefined);
}

function toBudget(
  { reasoning_max_tokens, thinking_budget, thinking, reasoning }: z.output<typeof ThinkingFields>,
  templateArguments: Readonly<Record<string, unknown>>,
): ThinkingRequest["budget"] {
  const { thinking_budget: argument } = templateArguments;
  const said: [field: string, tokens: number | null | undefined][] = [
    ["reasoning_max_tokens", reasoning_max_tokens],
    ["thinking_budget", thinking_budget],
    ["chat_template_kwargs.thinking_budget", tokens.safeParse(argument).data],
    ["thinking.budget_tokens", thinking?.budget_tokens],
    ["reasoning.max_tokens", reasoning?.max_tokens],
  ];
  for (const [field, count] of said) {
    if (typeof count === "number") return { field, tokens: count };
  }
  return undefined;
}
