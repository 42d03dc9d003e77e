// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Blocks of content → text: what a text-only model is shown of each type of block.
 *
 * A block that can't be shown leaves a text that says so, and is listed; only what the newest message of the user asks
 * about is refused.
 *
 * @module
 */
import { z } from "zod";
import type { TextPart, Tool } from "../../flow.ts";
import { type JsonObject, toSafeName } from "../body.ts";
import { type ConversationTools, toDefinition } from "../conversation_tools.ts";
import { type FieldTable, type IgnoredFields, LISTED, sortFields, WORKS } from "../fields.ts";
import { toImageText, toUnreadText } from "../images.ts";
import { parseWith } from "../schema.ts";
import type { Seal } from "../seal.ts";
import { toTool } from "./tools.ts";

/** What reading a conversation needs, and finds. */
export interface Reading {
  /** Turns bring and withdraw some. */
  tools: ConversationTools;
  /** Knows the signatures of this server. */
  seal: Seal;
  /** Gets what has no effect. */
  ignored: IgnoredFields;
}

/** Where a block stands. */
export interface BlockPlace {
  /** e.g. `messages[3].content[0]`. */
  path: string;
  /** The same for lists, e.g. `messages[].content[]`. */
  listedPath: string;
  /** In the newest message of the user, with no result in it. */
  isNewest: boolean;
}

/** What becomes of the fields of a text block. */
export const TEXT_FIELDS: FieldTable = { type: WORKS, text: WORKS, cache_control: LISTED, citations: LISTED };

/** What becomes of the fields of an image block. */
export const IMAGE_FIELDS: FieldTable = { type: WORKS, source: WORKS, cache_control: LISTED, transformations: LISTED };

/** What becomes of the fields of a document block. */
export const DOCUMENT_FIELDS: FieldTable = {
  type: WORKS,
  source: WORKS,
  title: WORKS,
  context: WORKS,
  cache_control: LISTED,
  citations: LISTED,
};

/** What becomes of the fields of a search result. */
export const SEARCH_RESULT_FIELDS: FieldTable = {
  type: WORKS,
  title: WORKS,
  source: WORKS,
  content: WORKS,
  cache_control: LISTED,
  citations: LISTED,
};

/** What becomes of the fields of a tool that a turn brings or withdraws. */
export const TOOL_CHANGE_FIELDS: FieldTable = { type: WORKS, tool: WORKS, cache_control: LISTED };

/** What becomes of the fields of a reference to a tool. */
export const TOOL_REFERENCE_FIELDS: FieldTable = { type: WORKS, tool_name: WORKS, cache_control: LISTED };

const Block = z.looseObject({ type: z.string("expected the type of the block") });

/** Content: a text, or a list of blocks. */
export const CONTENT = z.union([z.string(), z.array(Block)], {
  error: "expected a string or a list of blocks",
});

/** A block before its type is looked at. */
export type RawBlock = z.output<typeof Block>;

const Text = z.object({ text: z.string("expected a string") });
const Document = z.object({
  title: z.string().optional(),
  context: z.string().optional(),
  source: z.looseObject({ type: z.string("expected the type of the source") }, "expected the document's source"),
});
const SearchResult = z.object({ title: z.string().optional(), source: z.string().optional(), content: CONTENT });
const Reference = z.object({ tool_name: z.string("expected the name of a tool") });
const ToolChange = z.object({
  tool: z.looseObject({
    type: z.string("expected the type of the reference"),
    name: z.string().optional(),
    definition: z.looseObject({}).optional(),
  }, "expected a reference to a tool"),
});

/** The texts of content. An empty one is none. */
export function toTexts(content: string | readonly RawBlock[], place: BlockPlace, reading: Reading): TextPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  const texts = content.map((block, index) =>
    toText(block, { ...place, path: `${place.path}[${index}]`, listedPath: `${place.listedPath}[]` }, reading)
  );
  return texts.filter(({ text }) => text !== "");
}

/** What is shown of a block. @throws {RequestError} If the block is malformed, or asked about and not readable. */
export function toText(block: RawBlock, place: BlockPlace, reading: Reading): TextPart {
  const { path, listedPath } = place;
  const sort = (table: FieldTable): JsonObject => sortFields(table, block, reading.ignored, path, listedPath);
  switch (block.type) {
    case "text":
      return { type: "text", text: parseWith(Text, sort(TEXT_FIELDS), path).text };
    case "image":
      sort(IMAGE_FIELDS);
      return toImageText({ ...place, listedPath: `${listedPath}.image` }, reading.ignored);
    case "document":
      return toDocumentText(parseWith(Document, sort(DOCUMENT_FIELDS), path), place, reading);
    case "search_result": {
      const { title, source, content } = parseWith(SearchResult, sort(SEARCH_RESULT_FIELDS), path);
      const texts = toTexts(
        content,
        { ...place, path: `${path}.content`, listedPath: `${listedPath}.content` },
        reading,
      );
      return joined([title, source, ...texts.map(({ text }) => text)]);
    }
    case "tool_reference": {
      const { tool_name } = parseWith(Reference, sort(TOOL_REFERENCE_FIELDS), path);
      return toBroughtText(tool_name, reading.tools.find(tool_name), place, reading);
    }
    case "tool_addition":
    case "tool_removal":
      return toChangeText(block.type, parseWith(ToolChange, sort(TOOL_CHANGE_FIELDS), path).tool, place, reading);
    default:
      return toUnreadText(toSafeName(block.type), place, reading.ignored);
  }
}

/** A document is shown where its source is text. */
function toDocumentText(document: z.output<typeof Document>, place: BlockPlace, reading: Reading): TextPart {
  const { title, context, source } = document;
  const path = `${place.path}.source`;
  if (source.type === "text") {
    const { data } = parseWith(z.looseObject({ data: z.string("expected a string") }), source, path);
    return joined([title, context, data]);
  }
  if (source.type !== "content") return toUnreadText("document", place, reading.ignored);
  const { content } = parseWith(z.looseObject({ content: CONTENT }), source, path);
  const listedPath = `${place.listedPath}.source.content`;
  const texts = toTexts(content, { ...place, path: `${path}.content`, listedPath }, reading);
  return joined([title, context, ...texts.map(({ text }) => text)]);
}

/** A tool that a turn brings: its whole definition, unless the head has shown it. From here on it may be called. */
function toBroughtText(name: string, tool: Tool | undefined, { listedPath }: BlockPlace, reading: Reading): TextPart {
  if (tool === undefined) {
    reading.ignored.add(`${listedPath}.tool_reference`);
    return { type: "text", text: name };
  }
  if (!reading.tools.bring(tool)) return { type: "text", text: name };
  return toDefinition(tool);
}

function toChangeText(
  type: "tool_addition" | "tool_removal",
  change: z.output<typeof ToolChange>["tool"],
  place: BlockPlace,
  reading: Reading,
): TextPart {
  const { name = "", definition } = change;
  if (type === "tool_removal") {
    reading.tools.withdraw(name);
    return { type: "text", text: `The tool ${name} is no longer available.` };
  }
  const { path, listedPath } = place;
  if (change.type !== "tool_definition") return toBroughtText(name, reading.tools.find(name), place, reading);
  const tool = toTool(definition ?? {}, `${path}.tool.definition`, `${listedPath}.tool.definition`, reading.ignored);
  return toBroughtText(tool?.name ?? "tool", tool, place, reading);
}

function joined(texts: readonly (string | undefined)[]): TextPart {
  return { type: "text", text: texts.filter((text) => text !== undefined && text !== "").join("\n") };
}
