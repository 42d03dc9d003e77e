// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * POST /v1/completions: the request, from JSON to prompts and flow types. The chat template is not applied.
 *
 * @module
 */
import { z } from "zod";
import type { JsonObject } from "./body.ts";
import { type Constraint, CONSTRAINT_FIELDS, CONSTRAINT_SHAPE, toConstraint } from "./constraint.ts";
import { RequestError } from "./errors.ts";
import { type FieldTable, IgnoredFields, LISTED, nothingIf, sortFields, WORKS } from "./fields.ts";
import {
  EXTENSION_FIELDS,
  LOGPROBS_TOP_MAX,
  SAMPLING_FIELDS,
  SAMPLING_SHAPE,
  type SamplingFields,
  sortStreamOptions,
} from "./sampling.ts";
import { parseWith } from "./schema.ts";

/** Most prompts of a request. */
export const PROMPTS_MAX = 64;
/** Most choices of a request, over all its prompts. */
export const COMPLETION_CHOICES_MAX = 64;
/** Tokens of an answer when the request does not say: OpenAI's own default. */
export const COMPLETION_TOKENS_DEFAULT = 16;

/** What becomes of each field of a completion request. */
export const COMPLETION_FIELDS: FieldTable = {
  ...SAMPLING_FIELDS,
  ...EXTENSION_FIELDS,
  ...CONSTRAINT_FIELDS,
  model: WORKS,
  prompt: WORKS,
  echo: WORKS,
  logprobs: WORKS,

  // They would change the answer.
  best_of: {
    rule: "refused",
    why: "answers are not ranked here; ask for them with `n`",
    judge: (count, body) => count === (body.n ?? 1) ? "nothing" : "refused",
  },
  suffix: {
    rule: "refused",
    why: "filling in before a suffix is not available yet in this version",
    judge: nothingIf(""),
  },

  // They do not.
  draft: LISTED,
  user: LISTED,
};

const tokenId = z.number().int("expected token ids").min(0, "expected token ids of 0 or more");
const prompt = z.union([
  z.string(),
  z.array(z.string()).min(1, "expected at least one prompt").max(
    PROMPTS_MAX,
    `expected at most ${PROMPTS_MAX} prompts`,
  ),
  z.array(tokenId).min(1, "expected at least one token"),
  z.array(z.array(tokenId).min(1, "expected at least one token")).min(1).max(
    PROMPTS_MAX,
    `expected at most ${PROMPTS_MAX} prompts`,
  ),
], { error: "expected a string, a list of strings, a list of token ids, or a list of such lists" });

const CompletionFields = z.object({
  ...SAMPLING_SHAPE,
  ...CONSTRAINT_SHAPE,
  model: z.string("expected a model id").max(512, "expected a model id of at most 512 characters").optional(),
  prompt,
  echo: z.boolean().optional(),
  logprobs: z.number().int().min(0, `expected 0 to ${LOGPROBS_TOP_MAX}`).max(
    LOGPROBS_TOP_MAX,
    `expected 0 to ${LOGPROBS_TOP_MAX}`,
  ).optional(),
});

/** A body as clients write it, without nulls: those are fields that are not there. */
export type CompletionBody = z.input<typeof CompletionFields>;

/** A prompt as the client wrote it: text, or token ids. */
export type CompletionPrompt = string | readonly number[];

/** A completion request, checked. */
export interface CompletionRequest {
  /** As the client wrote it; absent: the default model. */
  model?: string;
  /** At least one. */
  prompts: readonly CompletionPrompt[];
  /** The prompt comes first in the text of each choice. */
  echo: boolean;
  /** What binds its text. */
  constraint?: Constraint;
  /** How to draw, not yet filled with the model's defaults. */
  sampling: SamplingFields;
  /** What the client asked for, or COMPLETION_TOKENS_DEFAULT. */
  maxTokens: number;
  /** Alternatives a token; absent: no logprobs. */
  logprobsTop?: number;
  /** Answers to each prompt. */
  choiceCount: number;
  /** SSE or one JSON. */
  stream: boolean;
  /** A last chunk with usage. */
  includeUsage: boolean;
  /** Accepted without effect. */
  ignored: IgnoredFields;
}

/**
 * Reads a body.
 *
 * @throws {RequestError} For the first field that can't be used.
 */
export function parseCompletionRequest(body: JsonObject): CompletionRequest {
  const ignored = new IgnoredFields();
  const fields = parseWith(CompletionFields, sortFields(COMPLETION_FIELDS, body, ignored));
  sortStreamOptions(fields, ignored);
  const prompts = toPrompts(fields.prompt);
  const constraint = toConstraint(fields, ignored);
  const choiceCount = fields.n ?? 1;
  const echo = fields.echo ?? false;
  if (prompts.length * choiceCount > COMPLETION_CHOICES_MAX) {
    throw new RequestError(
      "invalid_request",
      `Invalid request body: ${prompts.length} prompts with ${choiceCount} choices each are more than the ` +
        `${COMPLETION_CHOICES_MAX} choices that one request may have.`,
      { param: "n" },
    );
  }
  if (echo && fields.logprobs !== undefined) {
    throw new RequestError(
      "unsupported_combination",
      "`echo` with `logprobs` is not supported: the prompt's own probabilities are not available yet in this version.",
      { param: "echo" },
    );
  }
  return {
    ...(fields.model !== undefined && { model: fields.model }),
    prompts,
    echo,
    ...(constraint && { constraint }),
    sampling: fields,
    maxTokens: fields.max_tokens ?? COMPLETION_TOKENS_DEFAULT,
    ...(fields.logprobs !== undefined && { logprobsTop: fields.logprobs }),
    choiceCount,
    stream: fields.stream ?? false,
    includeUsage: fields.stream_options?.include_usage ?? false,
    ignored,
  };
}

function toPrompts(value: z.output<typeof prompt>): readonly CompletionPrompt[] {
  if (typeof value === "string") return [value];
  if (value.every((item) => typeof item === "number")) return [value];
  return value as readonly CompletionPrompt[]; // the schema has no mixed lists
}
