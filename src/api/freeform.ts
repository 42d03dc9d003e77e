/**
 * Freeform tools: the client gets one text, the model writes a call with the one argument `input`.
 *
 * Chat templates and dialects know calls with arguments only. The argument's description has the tool's grammar, since
 * templates show descriptions; where calls can be bound, the text is bound to it as well.
 *
 * @module
 */
import { z } from "zod";
import { FREEFORM_ARGUMENT, type FreeformInput, type Tool } from "../flow.ts";
import { SOURCE_CHARS_MAX } from "../grammar/limits.ts";
import { type FieldTable, type IgnoredFields, sortFields, WORKS } from "./fields.ts";
import { parseWith } from "./schema.ts";

/** What becomes of the fields of a format that is any text. */
export const TEXT_FORMAT_FIELDS: FieldTable = { type: WORKS };

/** What becomes of the fields of a format that has a grammar. */
export const GRAMMAR_FORMAT_FIELDS: FieldTable = { type: WORKS, syntax: WORKS, definition: WORKS };

const Format = z.looseObject(
  { type: z.enum(["text", "grammar"], "expected text or grammar") },
  "expected an object with a type",
);
const GrammarShape = z.object({
  syntax: z.enum(["lark", "regex"], "expected lark or regex"),
  definition: z.string("expected a grammar").max(SOURCE_CHARS_MAX, `expected at most ${SOURCE_CHARS_MAX} characters`),
});

/** `format` of a freeform tool. @throws {RequestError} If it can't be used. */
export function toFreeformInput(
  value: unknown,
  path: string,
  listedPath: string,
  ignored: IgnoredFields,
): FreeformInput {
  if (value === undefined) return {};
  const format = parseWith(Format, value, path);
  const table = format.type === "text" ? TEXT_FORMAT_FIELDS : GRAMMAR_FORMAT_FIELDS;
  const fields = sortFields(table, format, ignored, path, listedPath);
  return format.type === "text" ? {} : { grammar: parseWith(GrammarShape, fields, path) };
}

/** A freeform tool as the model sees it. */
export function toFreeformTool(name: string, description: string | undefined, freeform: FreeformInput): Tool {
  const { grammar } = freeform;
  const rule = grammar === undefined ? "" : ` It has to fit this ${NAMES[grammar.syntax]}:\n${grammar.definition}`;
  const input = { type: "string", description: `The whole input of the tool, as plain text.${rule}` };
  return {
    name,
    ...(description !== undefined && { description }),
    parameters: {
      type: "object",
      properties: { [FREEFORM_ARGUMENT]: input },
      required: [FREEFORM_ARGUMENT],
      additionalProperties: false,
    },
    ...(grammar && { strict: true }),
    freeform,
  };
}

const NAMES = { lark: "Lark grammar", regex: "regular expression" } as const;

/** A text as the arguments of the call that it is to the model. */
export function toFreeformArguments(input: string): string {
  return JSON.stringify({ [FREEFORM_ARGUMENT]: input });
}

/**
 * The text of a call, from its arguments as JSON: `input`, or what else is the only text there, since models that were
 * told of a patch call it `patch`; other arguments are given as they were written. Half a character, which JSON has
 * and no client could send back, becomes U+FFFD.
 */
export function toFreeformText(json: string): string {
  const value: unknown = JSON.parse(json);
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const [only] = entries;
  const found = entries.find(([name]) => name === FREEFORM_ARGUMENT) ?? (entries.length === 1 ? only : undefined);
  const text: unknown = found?.[1];
  return typeof text === "string" ? text.toWellFormed() : json;
}
