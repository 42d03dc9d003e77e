/**
 * What a profile may say. A line is how to talk with a family of checkpoints, a model is what to load.
 *
 * Objects are strict: a misspelt key is an error with its path, never a setting that does nothing.
 *
 * @module
 */
import { z } from "zod";
import { REASONING_PARSERS } from "../output/reasoning/mod.ts";
import { ANSWER_PARSERS } from "../output/decoder.ts";

/** Ids of lines and models: the file name without `.json`. */
export const ProfileId = z.string().regex(/^[a-z0-9][a-z0-9._-]*$/).max(100).describe("File name without .json");

const Sources = z.array(z.string().min(1)).min(1)
  .describe("Where the values come from: a link, and what is found there. A profile without one is a guess");

const Glob = z.string().min(1).max(200)
  .describe("Pattern over the checkpoint's id or folder, * stands for anything; upper and lower case are the same");

const Condition = z.strictObject({
  model_type: z.array(z.string().min(1)).min(1).optional().describe("One of these is config.json's model_type"),
  name: z.array(Glob).min(1).optional().describe("One of these fits the checkpoint's id or folder"),
  template: z.array(z.string().min(1)).min(1).optional().describe("All of these stand in its chat template"),
}).refine(
  (condition) => Object.values(condition).some((value) => value !== undefined),
  "must name something to look at",
)
  .describe("Holds if all that it names holds");

const Sampling = z.strictObject({
  temperature: z.number().min(0).max(2).optional().describe("0: greedy"),
  top_p: z.number().gt(0).max(1).optional().describe("1: off"),
  top_k: z.int().min(0).max(1_000_000).optional().describe("0: off"),
  min_p: z.number().min(0).max(1).optional().describe("0: off"),
  repetition_penalty: z.number().gt(0).max(2).optional().describe("1: off"),
  presence_penalty: z.number().min(-2).max(2).optional().describe("0: off"),
  frequency_penalty: z.number().min(-2).max(2).optional().describe("0: off"),
}).describe("How to draw where a request says nothing");

/** Most tokens that a line's tools may bias. */
const TOOL_BIAS_MAX = 64;

/** How to talk with a line of models. */
export const LineProfile = z.strictObject({
  $schema: z.string().optional(),
  id: ProfileId,
  title: z.string().min(1).describe("For people"),
  match: z.array(Condition).describe("The line covers a checkpoint if one of these holds; none: only by its id"),
  prompt: z.strictObject({
    arguments: z.record(z.string(), z.unknown()).default({})
      .describe("Variables of the chat template where a request says nothing"),
  }).prefault({}),
  tools: z.strictObject({
    parser: z.enum(ANSWER_PARSERS).default("none").describe("How calls are written; none: the line can't call"),
    logit_bias: z.record(z.string().min(1).max(100), z.number().min(-100).max(100))
      .refine((bias) => Object.keys(bias).length <= TOOL_BIAS_MAX, `at most ${TOOL_BIAS_MAX} tokens`).optional()
      .describe("Token's text → what is added to its logit where tools may be called and calls are not bound"),
  }).prefault({}),
  reasoning: z.strictObject({
    parser: z.enum(REASONING_PARSERS).default("none").describe("How reasoning is written; none: the line has none"),
  }).prefault({}),
  sampling: Sampling.prefault({}),
  sources: Sources,
});

/** How to talk with a line of models. */
export type LineProfile = z.infer<typeof LineProfile>;

/** What to load. */
export const ModelProfile = z.strictObject({
  $schema: z.string().optional(),
  id: ProfileId,
  title: z.string().min(1).describe("For people"),
  line: ProfileId.describe("The line that covers it"),
  source: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("embedded") }).describe("Set-up brings it"),
    z.strictObject({
      kind: z.literal("huggingface"),
      repository: z.string().regex(/^[\w.-]+\/[\w.-]+$/).describe("owner/name"),
      revision: z.string().min(1).describe("Commit, tag or branch"),
    }),
  ]),
  download_bytes: z.int().positive().describe("What `pull` fetches"),
  memory_bytes: z.int().positive().describe("Smallest memory of the machine that it is meant for"),
  sources: Sources,
});

/** What to load. */
export type ModelProfile = z.infer<typeof ModelProfile>;

/** Short names of models on the hub. */
export const ModelAliases = z.strictObject({
  $schema: z.string().optional(),
  aliases: z.record(ProfileId, z.string().regex(/^[\w.-]+\/[\w.-]+$/).describe("owner/name on the hub")),
  sources: Sources,
}).describe("Short names of models on the hub; how to talk with one says the line that its repository's name fits");
