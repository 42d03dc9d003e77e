// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Tools of a Messages request, and how they may be used.
 *
 * A deferred tool (`defer_loading`) is not shown in the head of the prompt: it is shown where a result refers to it and
 * may be called from then on, so that a search for tools leaves the cached prefix as it is. Tools that Anthropic's
 * servers run (`web_search_…` and the like) are left out and listed.
 *
 * @module
 */
import { z } from "zod";
import type { Tool } from "../../flow.ts";
import type { JsonObject } from "../body.ts";
import { ConversationTools, offerConversationTools } from "../conversation_tools.ts";
import { RequestError } from "../errors.ts";
import { type FieldTable, type IgnoredFields, LISTED, sortFields, WORKS } from "../fields.ts";
import { parseWith } from "../schema.ts";
import { requireNew, TOOL_LIST, type ToolChoice, type ToolUse } from "../tools.ts";

/** What becomes of a tool's fields. */
export const TOOL_FIELDS: FieldTable = {
  type: WORKS,
  name: WORKS,
  description: WORKS,
  input_schema: WORKS,
  strict: WORKS,
  defer_loading: WORKS,
  allowed_callers: LISTED,
  cache_control: LISTED,
  eager_input_streaming: LISTED,
  input_examples: LISTED,
};

/** What becomes of the fields of `tool_choice`. */
export const TOOL_CHOICE_FIELDS: FieldTable = { type: WORKS, name: WORKS, disable_parallel_tool_use: WORKS };

const toolType = z.string("expected the type of the tool");
const NAME_WANTED = "expected a name of 1 to 128 letters, digits, _ or -";
const ToolShape = z.object({
  type: z.string().optional(),
  name: z.string(NAME_WANTED).regex(/^[A-Za-z0-9_-]{1,128}$/, NAME_WANTED),
  description: z.string().optional(),
  input_schema: z.record(z.string(), z.unknown(), "expected a JSON Schema of an object").optional(),
  strict: z.boolean().optional(),
  defer_loading: z.boolean().optional(),
});
const ChoiceShape = z.object({
  type: z.enum(["auto", "any", "tool", "none"], "expected auto, any, tool or none"),
  name: z.string().optional(),
  disable_parallel_tool_use: z.boolean().optional(),
});

/** A tool as clients write it, without nulls. */
export type ToolBody = z.input<typeof ToolShape>;
/** `tool_choice` as clients write it, without nulls. */
export type ToolChoiceBody = z.input<typeof ChoiceShape>;

/** Reads `tools`. @throws {RequestError} For the first one that can't be used. */
export function toConversationTools(value: unknown, ignored: IgnoredFields): ConversationTools {
  const head: Tool[] = [];
  const deferred: Tool[] = [];
  const list = parseWith(TOOL_LIST, value, "tools");
  // A search that this server does not run can't bring them: then they are shown at once.
  const defers = !list.some(({ type }) => typeof type === "string" && type.startsWith("tool_search_tool"));
  const names = new Set<string>();
  for (const [index, item] of list.entries()) {
    const path = `tools[${index}]`;
    const tool = toTool(item, path, "tools[]", ignored);
    if (tool === undefined) continue;
    requireNew(tool.name, names, `${path}.name`);
    const isDeferred = item.defer_loading === true;
    if (isDeferred && !defers) ignored.add("tools[].defer_loading");
    (isDeferred && defers ? deferred : head).push(tool);
  }
  return new ConversationTools(head, deferred);
}

/**
 * Reads one tool.
 *
 * @returns Undefined for one that Anthropic defines or runs: it has a type of its own; listed.
 * @throws {RequestError} If it can't be used.
 */
export function toTool(item: JsonObject, path: string, listedPath: string, ignored: IgnoredFields): Tool | undefined {
  if (isHosted(item, path)) {
    ignored.add(`${listedPath}.type`);
    return undefined;
  }
  const { name, description, input_schema, strict } = parseWith(
    ToolShape,
    sortFields(TOOL_FIELDS, item, ignored, path, listedPath),
    path,
  );
  return {
    name,
    ...(description !== undefined && { description }),
    ...(input_schema !== undefined && { parameters: input_schema }),
    ...(strict === true && { strict }),
  };
}

function isHosted({ type }: JsonObject, path: string): boolean {
  if (type === undefined || type === null) return false;
  return parseWith(toolType, type, `${path}.type`) !== "custom";
}

/**
 * The tools that are shown in the head, and those that may be called.
 *
 * @param tools After the last turn was read.
 * @throws {RequestError} If the choice can't be honoured.
 */
export function toMessagesToolUse(
  tools: ConversationTools,
  value: unknown,
  ignored: IgnoredFields,
): { head: Tool[]; toolUse: ToolUse } {
  const { choice, callsMax } = toChoice(value, ignored);
  const { head, offered } = offerConversationTools(tools, choice, "messages");
  return {
    head,
    toolUse: {
      tools: offered,
      choice,
      ...(callsMax !== undefined && { callsMax }),
      legacy: false,
      schemaPath: "tools[].input_schema",
    },
  };
}

function toChoice(value: unknown, ignored: IgnoredFields): { choice: ToolChoice; callsMax?: number } {
  if (value === undefined) return { choice: { mode: "auto" } };
  const path = "tool_choice";
  const object = parseWith(z.looseObject({}, "expected an object with a type"), value, path);
  const { type, name, disable_parallel_tool_use } = parseWith(
    ChoiceShape,
    sortFields(TOOL_CHOICE_FIELDS, object, ignored, path),
    path,
  );
  const bound = disable_parallel_tool_use === true ? { callsMax: 1 } : {};
  if (type === "tool") {
    if (name !== undefined && name !== "") return { choice: { mode: "named", name }, ...bound };
    throw new RequestError(
      "tool_choice_missing_name",
      "Invalid request body: `tool_choice.name`: expected the name of a declared tool; found nothing.",
      { param: "tool_choice.name" },
    );
  }
  return { choice: { mode: type === "any" ? "required" : type }, ...bound };
}
