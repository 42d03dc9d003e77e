// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * The request fields that say how to draw and when to stop; chat completions and completions share them.
 *
 * Ranges are those of the OpenAI API where it has the field, and of vLLM and llama.cpp for `top_k`, `min_p`,
 * `repetition_penalty` and `ignore_eos`.
 *
 * @module
 */
import { z } from "zod";
import type { GenerationLimits, Sampling } from "../flow.ts";
import {
  type FieldTable,
  type IgnoredFields,
  isEmpty,
  LISTED,
  nothingIf,
  sortFields,
  type Verdict,
  WORKS,
} from "./fields.ts";
import { RequestError } from "./errors.ts";

/** Most choices of one request. OpenAI allows 128; each is a generation of its own here. */
export const CHOICES_MAX = 16;
/** Most stop strings of a request. */
export const STOP_COUNT_MAX = 32;
/** Longest stop string, in UTF-16 units. */
export const STOP_LENGTH_MAX = 1024;
/** Most alternatives a token (RMX_LOGPROBS_TOP_MAX of rmx.h). */
export const LOGPROBS_TOP_MAX = 20;
/** Most entries of `logit_bias`. */
export const LOGIT_BIAS_COUNT_MAX = 1024;
/** Largest number of tokens that can be asked for; what the context leaves is less. */
export const TOKENS_MAX = 2 ** 31 - 1;
const TOP_K_MAX = 2 ** 20;
/** Least `top_p` of the core, which keeps the most probable token alone: what is less rounds to 0 in float32. */
const TOP_P_MIN = 2 ** -126;
/** Least `repetition_penalty`: logits are divided by it, so a much smaller one leaves no finite numbers. */
const PENALTY_MIN = 0.01;
const SEED_MAX = 2n ** 63n - 1n;

/** What a model's profile or `generation_config.json` says; absent fields fall to the server's defaults. */
export type SamplingDefaults = Partial<Omit<Sampling, "seed" | "logitBias">>;

/** What is drawn with when neither request, profile nor checkpoint says anything: Rapid-MLX's own fallback. */
const FALLBACK: Required<SamplingDefaults> = {
  temperature: 0.7,
  topP: 0.9,
  topK: 0,
  minP: 0,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
};

const SEED_WANTED = "expected an integer from -2^63 to 2^63-1";
/** A negative seed is the one of its low 63 bits: the core's seeds are 0 to 2^63-1. */
const toSeed = (seed: bigint): bigint => BigInt.asUintN(63, seed);
// parseBody has made text of an integer that a number of JavaScript does not hold.
const seedText = z.string().regex(/^-?\d{1,19}$/, SEED_WANTED).transform(BigInt)
  .refine((seed) => seed >= -SEED_MAX - 1n && seed <= SEED_MAX, SEED_WANTED).transform(toSeed);
const seedNumber = z.number().int(SEED_WANTED).transform(BigInt).transform(toSeed);

/** A bound on the answer's tokens. */
export const tokenCount: z.ZodNumber = z.number().int(`expected an integer from 1 to ${TOKENS_MAX}`)
  .min(1, "expected 1 or more").max(TOKENS_MAX, `expected at most ${TOKENS_MAX}`);

const stopString = z.string().min(1, "expected a stop string that is not empty")
  .max(STOP_LENGTH_MAX, `expected a stop string of at most ${STOP_LENGTH_MAX} characters`);

/** A list of stop strings. */
export const stopStrings: z.ZodArray<z.ZodString> = z.array(stopString).max(
  STOP_COUNT_MAX,
  `expected at most ${STOP_COUNT_MAX} stop strings`,
);

/** Schema of the shared fields, without nulls (`sortFields` drops them). */
export const SAMPLING_SHAPE = {
  temperature: z.number().min(0, "expected 0 to 2").max(2, "expected 0 to 2").optional(),
  top_p: z.number().min(0, "expected 0 to 1").max(1, "expected 0 to 1").optional(),
  top_k: z.number().int().min(-1, "expected 0 (off) or more").max(TOP_K_MAX).optional(),
  min_p: z.number().min(0, "expected 0 to 1").max(1, "expected 0 to 1").optional(),
  repetition_penalty: z.number().min(PENALTY_MIN, `expected ${PENALTY_MIN} to 2`).max(2, `expected ${PENALTY_MIN} to 2`)
    .optional(),
  presence_penalty: z.number().min(-2, "expected -2 to 2").max(2, "expected -2 to 2").optional(),
  frequency_penalty: z.number().min(-2, "expected -2 to 2").max(2, "expected -2 to 2").optional(),
  logit_bias: z.record(z.string(), z.number().min(-100, "expected -100 to 100").max(100, "expected -100 to 100"))
    .refine((bias) => Object.keys(bias).every((key) => /^\d{1,10}$/.test(key)), "expected token ids as keys")
    .refine(
      (bias) => Object.keys(bias).length <= LOGIT_BIAS_COUNT_MAX,
      `expected at most ${LOGIT_BIAS_COUNT_MAX} entries`,
    )
    .optional(),
  seed: z.union([seedNumber, seedText], {
    error: SEED_WANTED,
  }).optional(),
  stop: z.union([
    stopString,
    stopStrings,
  ], { error: "expected a string or a list of strings" }).optional(),
  n: z.number().int("expected an integer").min(1, `expected 1 to ${CHOICES_MAX}`).max(
    CHOICES_MAX,
    `expected 1 to ${CHOICES_MAX}`,
  ).optional(),
  max_tokens: tokenCount.optional(),
  ignore_eos: z.boolean().optional(),
  stream: z.boolean().optional(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).optional(),
} as const;

const SamplingFields = z.object(SAMPLING_SHAPE);

/** The shared fields as the schema leaves them. */
export type SamplingFields = z.output<typeof SamplingFields>;

/** What becomes of the shared fields. */
export const SAMPLING_FIELDS: FieldTable = Object.fromEntries(Object.keys(SAMPLING_SHAPE).map((name) => [name, WORKS]));

/** Fields of vLLM and llama.cpp that would change the answer and can't be honoured; other unknown ones are listed. */
export const EXTENSION_FIELDS: FieldTable = {
  stop_token_ids: { rule: "refused", why: "give stop strings in `stop`", judge: refusedUnlessEmpty },
  bad_words: { rule: "refused", why: "words can't be banned here", judge: refusedUnlessEmpty },
  min_tokens: { rule: "refused", why: "an answer can't be made longer here", judge: nothingIf(0) },
  prompt_logprobs: { rule: "refused", why: "the prompt's own probabilities are not available yet in this version" },
  typical_p: { rule: "refused", why: "this sampler is not available", judge: nothingIf(1) },
  mirostat: { rule: "refused", why: "this sampler is not available", judge: nothingIf(0) },
  dry_multiplier: { rule: "refused", why: "this sampler is not available", judge: nothingIf(0) },
  xtc_probability: { rule: "refused", why: "this sampler is not available", judge: nothingIf(0) },
};

/** What becomes of the fields inside `stream_options`. */
export const STREAM_OPTIONS_FIELDS: FieldTable = { include_usage: WORKS, include_obfuscation: LISTED };

/** Sorts the fields inside `stream_options`; without a stream it has no effect as a whole. */
export function sortStreamOptions(fields: SamplingFields, ignored: IgnoredFields): void {
  if (fields.stream_options === undefined) return;
  if (fields.stream === true) sortFields(STREAM_OPTIONS_FIELDS, fields.stream_options, ignored, "stream_options");
  else ignored.add("stream_options");
}

/**
 * Fills in what the request leaves open: request, then the model's defaults, then the server's.
 *
 * @param vocabularySize Rows of the model's logits: ids of `logit_bias` must be below.
 * @throws {RequestError} If `logit_bias` names a token that the model does not have.
 */
export function toSampling(
  fields: SamplingFields,
  defaults: SamplingDefaults,
  vocabularySize: number,
): Omit<Sampling, "seed"> {
  const base = { ...FALLBACK, ...defaults };
  return {
    temperature: fields.temperature ?? base.temperature,
    topP: Math.max(TOP_P_MIN, fields.top_p ?? base.topP), // OpenAI takes 0
    topK: Math.max(0, fields.top_k ?? base.topK), // -1 is vLLM's word for off
    minP: fields.min_p ?? base.minP,
    repetitionPenalty: Math.max(PENALTY_MIN, fields.repetition_penalty ?? base.repetitionPenalty),
    presencePenalty: fields.presence_penalty ?? base.presencePenalty,
    frequencyPenalty: fields.frequency_penalty ?? base.frequencyPenalty,
    logitBias: toLogitBias(fields.logit_bias ?? {}, vocabularySize),
  };
}

/** The stop strings as a list. */
export function toStop(stop: SamplingFields["stop"]): readonly string[] {
  return typeof stop === "string" ? [stop] : stop ?? [];
}

/** The limits of every choice of a request. */
export function toLimits(fields: SamplingFields, maxTokens: number, logprobsTop: number | undefined): GenerationLimits {
  return {
    maxTokens,
    stop: toStop(fields.stop),
    ...(logprobsTop !== undefined && { logprobsTop }),
    ignoreEnd: fields.ignore_eos ?? false,
  };
}

function refusedUnlessEmpty(value: unknown): Verdict {
  return isEmpty(value) ? "nothing" : "refused";
}

function toLogitBias(bias: Readonly<Record<string, number>>, vocabularySize: number): ReadonlyMap<number, number> {
  const map = new Map<number, number>();
  for (const [key, value] of Object.entries(bias)) {
    const token = Number(key);
    if (token >= vocabularySize) {
      throw new RequestError(
        "invalid_request",
        `Invalid request body: \`logit_bias\`: token ${token} does not exist, the model has tokens 0 to ` +
          `${vocabularySize - 1}.`,
        { param: "logit_bias" },
      );
    }
    map.set(token, value);
  }
  return map;
}
