// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * `text` and `reasoning` of a Responses request → what binds the answer, how the model thinks and how that is shown.
 *
 * Thinking is shown as it comes. A client that asks for a summary gets it in the summary's place, which is what such
 * clients show: there is no second model here that would sum it up.
 *
 * @module
 */
import { z } from "zod";
import { anyObject } from "../../grammar/schema/compile.ts";
import { bySchema, type Constraint, toConstraint } from "../constraint.ts";
import { RequestError } from "../errors.ts";
import { type FieldTable, type IgnoredFields, LISTED, sortFields, WORKS } from "../fields.ts";
import { parseWith } from "../schema.ts";
import { THINKING_SHAPE, type ThinkingRequest, toThinking } from "../thinking.ts";

/** What becomes of the fields of `text`. */
export const TEXT_FIELDS: FieldTable = { format: WORKS, verbosity: LISTED };

/** What becomes of the fields of a format. */
export const TEXT_FORMAT_FIELDS: FieldTable = {
  type: WORKS,
  schema: WORKS,
  name: WORKS,
  description: WORKS,
  strict: WORKS,
};

/** What becomes of the fields of `reasoning`; `max_tokens`, `enabled` and `exclude` are OpenRouter's. */
export const REASONING_CONFIG_FIELDS: FieldTable = {
  effort: WORKS,
  summary: WORKS,
  generate_summary: WORKS,
  max_tokens: WORKS,
  enabled: WORKS,
  context: { rule: "listed", asksNothing: (value) => value === "auto" || value === "all_turns" },
  mode: { rule: "listed", asksNothing: (value) => value === "standard" },
};

/** Where in its item thinking is shown: as its content, or as its summary. */
export type ReasoningDisplay = "content" | "summary";

const word = z.string("expected a word").max(32, "expected a word of at most 32 characters").optional();
const Reasoning = z.object({
  effort: word,
  summary: word,
  generate_summary: word,
  max_tokens: z.number().int("expected an integer").min(1, "expected 1 or more").max(2 ** 31 - 1).optional(),
  enabled: z.boolean("expected true or false").optional(),
});
const Format = z.object({
  type: z.enum(["text", "json_object", "json_schema"], "expected text, json_object or json_schema"),
  schema: z.unknown().optional(),
});

/** The fields of a request that speak of them, without nulls. */
export const TEXT_SHAPE = {
  ...THINKING_SHAPE,
  reasoning: z.looseObject({}, "expected an object").optional(),
  text: z.looseObject({}, "expected an object").optional(),
} as const;

const Fields = z.object(TEXT_SHAPE);

/** What they say of thinking. */
export interface ReasoningAsked {
  /** How the model is to think. */
  thinking: ThinkingRequest;
  /** Where it is shown. */
  display: ReasoningDisplay;
  /** The word that asked for a summary, as the answer repeats it. */
  summary: string | null;
}

/** Reads `reasoning`, and the fields by which the other wires say the same. @throws {RequestError} For a bad one. */
export function toReasoningAsked(
  fields: z.output<typeof Fields>,
  templateArguments: Readonly<Record<string, unknown>>,
  ignored: IgnoredFields,
): ReasoningAsked {
  const { reasoning, ...others } = fields;
  const sorted = sortFields(REASONING_CONFIG_FIELDS, reasoning ?? {}, ignored, "reasoning");
  const { summary, generate_summary, ...asked } = parseWith(Reasoning, sorted, "reasoning");
  const said = summary ?? generate_summary ?? null;
  return {
    thinking: toThinking({ ...others, ...(reasoning && { reasoning: asked }) }, templateArguments, ignored),
    display: said === null || said === "none" ? "content" : "summary",
    summary: said,
  };
}

/** What binds the text: `text.format`, or the fields of other servers. @throws {RequestError} If it can't be kept. */
export function toTextConstraint(
  { text, ...fields }: Readonly<Record<string, unknown>> & { text?: Readonly<Record<string, unknown>> | undefined },
  ignored: IgnoredFields,
): Constraint | undefined {
  const { format } = sortFields(TEXT_FIELDS, text ?? {}, ignored, "text");
  const bound = format === undefined ? undefined : toFormat(format, ignored);
  const other = toConstraint(fields, ignored);
  if (bound === undefined || other === undefined) return bound ?? other;
  throw new RequestError(
    "unsupported_combination",
    `\`${bound.param}\` and \`${other.param}\` both bind the answer: send one of the two.`,
    { param: other.param },
  );
}

function toFormat(value: unknown, ignored: IgnoredFields): Constraint | undefined {
  const path = "text.format";
  const object = parseWith(z.looseObject({}, "expected an object with a type"), value, path);
  const { type, schema } = parseWith(Format, sortFields(TEXT_FORMAT_FIELDS, object, ignored, path), path);
  if (type === "text") return undefined;
  if (type === "json_object") return { kind: "json_object", grammar: anyObject(), param: path };
  return bySchema(schema, `${path}.schema`);
}
