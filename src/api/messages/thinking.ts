// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * `thinking` and `output_config` of a Messages request → what the server knows of thinking and bounds.
 *
 * On this wire silence means no thinking, and thinking that was not asked for is not shown: clients written without it
 * read the first block as text. The fields of the other wires (`enable_thinking` …) are asking as well.
 *
 * @module
 */
import { z } from "zod";
import { bySchema, type Constraint } from "../constraint.ts";
import { RequestError } from "../errors.ts";
import { type FieldTable, type IgnoredFields, LISTED, sortFields, WORKS } from "../fields.ts";
import { parseWith } from "../schema.ts";
import { THINKING_SHAPE, type ThinkingRequest, toThinking } from "../thinking.ts";

/** What becomes of the fields of `thinking`. */
export const THINKING_CONFIG_FIELDS: FieldTable = {
  type: WORKS,
  budget_tokens: WORKS,
  display: WORKS,
  block_binding: LISTED,
};

/** What becomes of the fields of `output_config`. */
export const OUTPUT_CONFIG_FIELDS: FieldTable = { effort: WORKS, format: WORKS, task_budget: LISTED };

/** What becomes of the fields of a format. */
export const OUTPUT_FORMAT_FIELDS: FieldTable = { type: WORKS, schema: WORKS };

/** How thinking is shown: as text, as a sealed text that the client keeps, or not at all. */
export type ThinkingDisplay = "text" | "sealed" | "none";

/** What the wire knows of `thinking.display`; all but `omitted` show the text as it is. */
const DISPLAYS: readonly string[] = ["summarized", "updates", "omitted"];

const Config = z.object({
  type: z.enum(
    ["enabled", "disabled", "adaptive", "between_tools"],
    "expected enabled, disabled, adaptive or between_tools",
  ),
  budget_tokens: z.number().int("expected an integer").min(1, "expected 1 or more").max(2 ** 31 - 1).optional(),
  display: z.string("expected a word").max(32).optional(),
});
const OutputConfig = z.object({
  effort: z.string("expected a word").max(32, "expected a word of at most 32 characters").optional(),
  format: z.looseObject({}, "expected an object with a type").optional(),
});
const Format = z.object({ type: z.string("expected json_schema"), schema: z.unknown().optional() });

/** `thinking` as clients write it, without nulls. */
export type ThinkingConfigBody = z.input<typeof Config>;
/** `output_config` as clients write it, without nulls. */
export type OutputConfigBody = z.input<typeof OutputConfig>;
/** Its format. */
export type OutputFormatBody = z.input<typeof Format>;

/** The fields of a request that speak of thinking and of the answer's form, without nulls. */
export const THINKING_OUTPUT_SHAPE = {
  ...THINKING_SHAPE,
  thinking: z.looseObject({}, "expected an object with a type").optional(),
  output_config: z.looseObject({}, "expected an object").optional(),
  output_format: z.looseObject({}, "expected an object with a type").optional(),
} as const;

const Fields = z.object(THINKING_OUTPUT_SHAPE);

/** What they say. */
export interface ThinkingAndOutput {
  /** How the model is to think. */
  thinking: ThinkingRequest;
  /** What the client sees of it. */
  display: ThinkingDisplay;
  /** Which fields said so, as ConversationRequest has it. */
  argumentFields: Readonly<Record<string, string | null>>;
  /** What binds the text. */
  constraint?: Constraint;
}

/** Reads them. @param templateArguments `chat_template_kwargs`. @throws {RequestError} For what can't be used. */
export function toThinkingAndOutput(
  fields: z.output<typeof Fields>,
  templateArguments: Readonly<Record<string, unknown>>,
  ignored: IgnoredFields,
): ThinkingAndOutput {
  const config = fields.thinking &&
    parseWith(Config, sortFields(THINKING_CONFIG_FIELDS, fields.thinking, ignored, "thinking"), "thinking");
  const output = fields.output_config &&
    parseWith(
      OutputConfig,
      sortFields(OUTPUT_CONFIG_FIELDS, fields.output_config, ignored, "output_config"),
      "output_config",
    );
  const { thinking: _, ...others } = fields;
  // Of two fields that say the same, one has an effect.
  if (fields.reasoning_effort !== undefined && output?.effort !== undefined) ignored.add("output_config.effort");
  if (output?.format !== undefined && fields.output_format !== undefined) ignored.add("output_format");
  if (config?.display !== undefined && !DISPLAYS.includes(config.display)) ignored.add("thinking.display");
  const effort = fields.reasoning_effort ?? output?.effort;
  const said = {
    ...others,
    ...(config && { thinking: { type: toSwitch(config.type), budget_tokens: config.budget_tokens } }),
    ...(effort !== undefined && { reasoning_effort: effort }),
  };
  const asked = toThinking(said, templateArguments, ignored);
  const isSilent = asked.enabled === undefined && asked.budget === undefined;
  const thinking = isSilent ? { ...asked, enabled: false } : asked;
  const constraint = toFormat(output?.format, "output_config.format", ignored) ??
    toFormat(fields.output_format, "output_format", ignored);
  return {
    thinking,
    display: thinking.enabled === false ? "none" : config?.display === "omitted" ? "sealed" : "text",
    argumentFields: {
      enable_thinking: isSilent ? null : fields.enable_thinking === undefined ? "thinking.type" : "enable_thinking",
      reasoning_effort: fields.reasoning_effort === undefined ? "output_config.effort" : "reasoning_effort",
    },
    ...(constraint && { constraint }),
  };
}

/** Thinking is on or off here; how much of it an adaptive model does is the model's. */
function toSwitch(type: z.output<typeof Config>["type"]): "enabled" | "disabled" {
  return type === "disabled" ? "disabled" : "enabled";
}

function toFormat(value: unknown, path: string, ignored: IgnoredFields): Constraint | undefined {
  if (value === undefined) return undefined;
  const object = parseWith(z.looseObject({}, "expected an object with a type"), value, path);
  const format = parseWith(Format, sortFields(OUTPUT_FORMAT_FIELDS, object, ignored, path), path);
  if (format.type === "json_schema") return bySchema(format.schema, `${path}.schema`);
  const message = `Invalid request body: \`${path}.type\`: expected json_schema.`;
  throw new RequestError("invalid_request", message, { param: `${path}.type` });
}
