// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Parts of an item's content → text: what a text-only model is shown of each type of part.
 *
 * @module
 */
import { z } from "zod";
import type { TextPart } from "../../flow.ts";
import { type JsonObject, toSafeName } from "../body.ts";
import { type FieldTable, type IgnoredFields, isEmpty, LISTED, sortFields, WORKS } from "../fields.ts";
import { type ImagePlace, toImageText, toUnreadText } from "../images.ts";
import { parseWith } from "../schema.ts";

/** Answers that come back have empty lists of what other servers add. */
const LISTED_IF_ANY = { rule: "listed", asksNothing: isEmpty } as const;

/** What becomes of the fields of a text, whoever wrote it. */
export const TEXT_PART_FIELDS: FieldTable = {
  type: WORKS,
  text: WORKS,
  refusal: WORKS,
  annotations: LISTED_IF_ANY,
  logprobs: LISTED_IF_ANY,
  prompt_cache_breakpoint: LISTED,
};

/** What becomes of the fields of an image. */
export const IMAGE_PART_FIELDS: FieldTable = {
  type: WORKS,
  image_url: WORKS,
  file_id: WORKS,
  detail: WORKS,
  prompt_cache_breakpoint: LISTED,
};

/** What becomes of the fields of a file. */
export const FILE_PART_FIELDS: FieldTable = {
  type: WORKS,
  file_data: WORKS,
  file_id: WORKS,
  file_url: WORKS,
  filename: WORKS,
  detail: WORKS,
  prompt_cache_breakpoint: LISTED,
};

/** Types of parts that are text. */
const TEXT_TYPES: readonly string[] = ["input_text", "output_text", "text", "summary_text", "reasoning_text"];

const Part = z.looseObject({ type: z.string("expected the type of the part") });

/** Content: a text, or a list of parts. */
export const CONTENT: z.ZodType<string | JsonObject[]> = z.union([z.string(), z.array(Part)], {
  error: "expected a string or a list of parts",
});

/** Whether this is a type of part, and so no item. */
export function isPartType(type: string): boolean {
  return TEXT_TYPES.includes(type) || ["input_image", "input_file", "refusal"].includes(type);
}

/** The texts of content. An empty one is none. @throws {RequestError} For a part that can't be used. */
export function toTexts(
  content: string | readonly JsonObject[],
  place: ImagePlace,
  ignored: IgnoredFields,
): TextPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return content.map((part, index) =>
    toText(part, { ...place, path: `${place.path}[${index}]`, listedPath: `${place.listedPath}[]` }, ignored)
  ).filter(({ text }) => text !== "");
}

function toText(part: JsonObject, place: ImagePlace, ignored: IgnoredFields): TextPart {
  const { path, listedPath } = place;
  const type = String(part.type);
  const sort = (table: FieldTable): Record<string, unknown> => sortFields(table, part, ignored, path, listedPath);
  if (type === "input_image") {
    sort(IMAGE_PART_FIELDS);
    return toImageText({ ...place, listedPath: `${listedPath}.${type}` }, ignored);
  }
  if (type === "input_file") {
    sort(FILE_PART_FIELDS);
    return toUnreadText(type, place, ignored);
  }
  const key = type === "refusal" ? "refusal" : "text";
  if (key === "text" && !TEXT_TYPES.includes(type)) return toUnreadText(toSafeName(type), place, ignored);
  return {
    type: "text",
    text: parseWith(z.string("expected a string"), sort(TEXT_PART_FIELDS)[key], `${path}.${key}`),
  };
}
