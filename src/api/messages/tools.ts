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
import { RequestError } from "../errors.ts";
import { type FieldTable, type IgnoredFields, LISTED, sortFields, WORKS } from "../fields.ts";
import { parseWith } from "../schema.ts";
import { offerTools, type ToolChoice, TOOLS_MAX, type ToolUse } from "../tools.ts";

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

const List = z.array(z.looseObject({}), "expected a list of tools").max(
  TOOLS_MAX,
  `expected at most ${TOOLS_MAX} tools`,
);
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

/** Declared tools, by when they are shown. */
export interface DeclaredTools {
  /** In the head of the prompt, in the client's order. */
  head: Tool[];
  /** Where a result refers to them. */
  deferred: ReadonlyMap<string, Tool>;
}

/** Reads `tools`. @throws {RequestError} For the first one that can't be used. */
export function toDeclaredTools(value: unknown, ignored: IgnoredFields): DeclaredTools {
  const head: Tool[] = [];
  const deferred = new Map<string, Tool>();
  const tools = parseWith(List, value, "tools");
  // A search that this server does not run can't bring them: then they are shown at once.
  const defers = !tools.some(({ type }) => typeof type === "string" && type.startsWith("tool_search_tool"));
  for (const [index, tool] of tools.entries()) {
    const path = `tools[${index}]`;
    if (isHosted(tool, path)) {
      ignored.add("tools[].type");
      continue;
    }
    const fields = parseWith(ToolShape, sortFields(TOOL_FIELDS, tool, ignored, path, "tools[]"), path);
    if (deferred.has(fields.name) || head.some(({ name }) => name === fields.name)) {
      const message = `Invalid request body: \`${path}.name\`: ${fields.name} is declared twice.`;
      throw new RequestError("invalid_request", message, { param: `${path}.name` });
    }
    if (fields.defer_loading === true && defers) deferred.set(fields.name, toTool(fields));
    else head.push(toTool(fields));
    if (fields.defer_loading === true && !defers) ignored.add("tools[].defer_loading");
  }
  return { head, deferred };
}

/** Whether a tool is one that Anthropic defines: it has a type of its own and no schema. */
function isHosted({ type }: Readonly<Record<string, unknown>>, path: string): boolean {
  if (type === undefined || type === null) return false;
  return parseWith(z.string("expected the type of the tool"), type, `${path}.type`) !== "custom";
}

function toTool({ name, description, input_schema, strict }: z.output<typeof ToolShape>): Tool {
  return {
    name,
    ...(description !== undefined && { description }),
    ...(input_schema !== undefined && { parameters: input_schema }),
    ...(strict === true && { strict }),
  };
}

/**
 * The tools that are shown in the head, and those that may be called.
 *
 * @param referenced Deferred tools that the conversation has brought, in its order.
 * @throws {RequestError} If the choice can't be honoured.
 */
export function toMessagesToolUse(
  { head, deferred }: DeclaredTools,
  referenced: readonly Tool[],
  value: unknown,
  ignored: IgnoredFields,
): { head: Tool[]; toolUse: ToolUse } {
  const { choice, callsMax } = toChoice(value, ignored);
  // A tool that is named is shown, deferred or not.
  const named = choice.mode === "named" ? deferred.get(choice.name) : undefined;
  const shown = named ? [...head, named] : head;
  const tools = offerTools([...shown, ...referenced.filter((tool) => tool !== named)], choice, "tool_choice");
  return {
    head: shown.filter((tool) => tools.includes(tool)),
    toolUse: { tools, choice, ...(callsMax !== undefined && { callsMax }), legacy: false },
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
