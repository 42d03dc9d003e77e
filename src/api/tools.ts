// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Tools of a chat completion request, and how they may be used: `tools` with `tool_choice`, or the legacy `functions`
 * with `function_call`.
 *
 * @module
 */
import { z } from "zod";
import type { Tool } from "../flow.ts";
import { RequestError } from "./errors.ts";
import { type FieldTable, type IgnoredFields, isEmpty, sortFields, WORKS } from "./fields.ts";
import { parseWith } from "./schema.ts";

/** Most tools of a request. */
export const TOOLS_MAX = 1024;

/** What becomes of a tool's fields. */
export const TOOL_FIELDS: FieldTable = { type: WORKS, function: WORKS };

/** What becomes of a function's fields. */
export const TOOL_FUNCTION_FIELDS: FieldTable = { name: WORKS, description: WORKS, parameters: WORKS, strict: WORKS };

/** Whether a call has to be made. */
export type ToolChoice = { mode: "auto" } | { mode: "none" } | { mode: "required" } | { mode: "named"; name: string };

/** Which tools a request offers, and how. */
export interface ToolUse {
  /** For the template and for the reading of calls; empty if none may be called. */
  tools: Tool[];
  /** Whether a call has to be made. */
  choice: ToolChoice;
  /** Calls of an answer; absent: any number. */
  callsMax?: number;
  /** The client knows `function_call` only, one an answer. */
  legacy: boolean;
  /** Where the wire has a tool's schema, for the list of keywords that are not kept; absent: as chat completions. */
  schemaPath?: string;
}

/** Whether an answer is calls and nothing else. */
export function mustCall({ choice }: ToolUse): boolean {
  return choice.mode === "required" || choice.mode === "named";
}

/** The fields of a request that speak of tools. */
export interface ToolFields {
  tools?: unknown;
  tool_choice?: unknown;
  functions?: unknown;
  function_call?: unknown;
  parallel_tool_calls?: boolean | undefined;
}

const FunctionShape = z.object({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "expected a name of 1 to 64 letters, digits, _ or -"),
  description: z.string().optional(),
  parameters: z.record(z.string(), z.unknown(), "expected a JSON Schema of an object").optional(),
  strict: z.boolean().optional(),
});

/** A list of tools, whatever the wire says of each. */
export const TOOL_LIST: z.ZodType<Record<string, unknown>[]> = z.array(
  z.looseObject({}),
  "expected a list of tools",
).max(TOOLS_MAX, `expected at most ${TOOLS_MAX} tools`);

const named = z.looseObject({ name: z.unknown().optional() });
const toolType = z.string("expected the type of the tool");
const functionObject = z.looseObject({}, "expected the function that the tool is");
const CHOICE_WANTED = "expected none, auto, required, or an object that names a function";

/** Reads them. @throws {RequestError} For the first one that can't be used. */
export function toToolUse(fields: ToolFields, ignored: IgnoredFields): ToolUse {
  const legacy = !isEmpty(fields.functions ?? []) || fields.function_call !== undefined;
  if (legacy && (fields.tools !== undefined || fields.tool_choice !== undefined)) {
    const param = fields.functions === undefined ? "function_call" : "functions";
    const message = `\`${param}\` is the old name of \`tools\` and \`tool_choice\`: send one of the two.`;
    throw new RequestError("unsupported_combination", message, { param });
  }
  const declared = legacy ? toFunctions(fields.functions ?? [], ignored) : toTools(fields.tools ?? [], ignored);
  const { choice, allowed } = legacy
    ? { choice: toLegacyChoice(fields.function_call), allowed: declared }
    : toChoice(fields.tool_choice, declared);
  const tools = offerTools(allowed, choice, legacy ? "function_call" : "tool_choice");
  if (fields.parallel_tool_calls !== undefined && tools.length === 0) ignored.add("parallel_tool_calls");
  if (choice.mode === "none" && declared.length > 0) ignored.add(legacy ? "functions" : "tools");
  const single = legacy || fields.parallel_tool_calls === false;
  return { tools, choice, legacy, ...(single && { callsMax: 1 }) };
}

function toTools(value: unknown, ignored: IgnoredFields): Tool[] {
  const tools = parseWith(TOOL_LIST, value, "tools").flatMap((tool, index): [string, Tool][] => {
    const path = `tools[${index}]`;
    const type = tool.type ?? "function";
    if (type === "custom") {
      const message = `\`${path}.type\` is not supported: custom tools are taken by /v1/responses alone.`;
      throw new RequestError("unsupported_field", message, { param: `${path}.type` });
    }
    if (type !== "function") {
      // A tool that another server runs: the model can do without.
      parseWith(toolType, type, `${path}.type`);
      ignored.add("tools[].type");
      return [];
    }
    const working = sortFields(TOOL_FIELDS, tool, ignored, path, "tools[]");
    return [[path, toTool(working.function, `${path}.function`, "tools[].function", ignored)]];
  });
  return distinct(tools);
}

function toFunctions(value: unknown, ignored: IgnoredFields): Tool[] {
  return distinct(
    parseWith(TOOL_LIST, value, "functions").map((one, index): [string, Tool] => {
      const path = `functions[${index}]`;
      return [path, toTool(one, path, "functions[]", ignored)];
    }),
  );
}

function toTool(value: unknown, path: string, listedPath: string, ignored: IgnoredFields): Tool {
  const object = parseWith(functionObject, value, path);
  const { name, description, parameters, strict } = parseWith(
    FunctionShape,
    sortFields(TOOL_FUNCTION_FIELDS, object, ignored, path, listedPath),
    path,
  );
  return {
    name,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters }),
    ...(strict === true && { strict }),
  };
}

function distinct(tools: readonly [path: string, tool: Tool][]): Tool[] {
  const seen = new Set<string>();
  for (const [path, { name }] of tools) {
    requireNew(name, seen, path.startsWith("tools") ? `${path}.function.name` : `${path}.name`);
  }
  return tools.map(([, tool]) => tool);
}

/** Adds a tool's name to those before it. @throws {RequestError} If it is one of them. */
export function requireNew(name: string, seen: Set<string>, param: string): void {
  if (seen.has(name)) {
    const message = `Invalid request body: \`${param}\`: ${name} is declared twice.`;
    throw new RequestError("invalid_request", message, { param });
  }
  seen.add(name);
}

function toLegacyChoice(value: unknown): ToolChoice {
  if (value === undefined || value === "auto") return { mode: "auto" };
  if (value === "none") return { mode: "none" };
  return { mode: "named", name: toName(value, "function_call") };
}

/** The choice, and the tools that it leaves. */
function toChoice(value: unknown, declared: Tool[]): { choice: ToolChoice; allowed: Tool[] } {
  if (value === undefined || value === "auto") return { choice: { mode: "auto" }, allowed: declared };
  if (value === "none" || value === "required") return { choice: { mode: value }, allowed: declared };
  // An old spelling of a call that has to be made, whichever it is.
  if (value === "function") return { choice: { mode: "required" }, allowed: declared };
  const object = parseWith(z.looseObject({ type: z.string(CHOICE_WANTED) }, CHOICE_WANTED), value, "tool_choice");
  if (object.type === "allowed_tools") return toAllowed(object.allowed_tools, declared);
  if (object.type !== "function") {
    const message = `Invalid request body: \`tool_choice.type\`: ${CHOICE_WANTED}.`;
    throw new RequestError("invalid_request", message, { param: "tool_choice.type" });
  }
  return { choice: { mode: "named", name: toName(object.function, "tool_choice.function") }, allowed: declared };
}

function toAllowed(value: unknown, declared: Tool[]): { choice: ToolChoice; allowed: Tool[] } {
  const path = "tool_choice.allowed_tools";
  const Allowed = z.object({
    mode: z.enum(["auto", "required"], "expected auto or required"),
    tools: z.array(z.looseObject({ function: z.unknown().optional() })),
  });
  const { mode, tools } = parseWith(Allowed, value, path);
  const names = tools.map((tool, index) => toName(tool.function, `${path}.tools[${index}].function`));
  for (const name of names) requireDeclared(name, declared, path);
  return { choice: { mode }, allowed: declared.filter((tool) => names.includes(tool.name)) };
}

function toName(value: unknown, path: string): string {
  const { name } = parseWith(named, value ?? {}, path);
  if (typeof name === "string" && name !== "") return name;
  throw new RequestError(
    "tool_choice_missing_name",
    `Invalid request body: \`${path}.name\`: expected the name of a declared function; found nothing.`,
    { param: `${path}.name` },
  );
}

/** The tools that the model is shown and may call. @throws {RequestError} If the choice can't be honoured. */
export function offerTools(declared: Tool[], choice: ToolChoice, param: string): Tool[] {
  switch (choice.mode) {
    case "auto":
      return declared;
    case "none":
      return [];
    case "named":
      requireDeclared(choice.name, declared, param);
      return declared.filter(({ name }) => name === choice.name);
    case "required":
      if (declared.length > 0) return declared;
      throw new RequestError(
        "tool_choice_required_without_tools",
        `\`${param}\` requires a call, and no tool is declared that could be called.`,
        { param },
      );
  }
}

/** @throws {RequestError} If no declared tool has the name. */
export function requireDeclared(name: string, declared: readonly Tool[], param: string): void {
  if (declared.some((tool) => tool.name === name)) return;
  const known = declared.map((tool) => tool.name).slice(0, 20).join(", ");
  throw new RequestError(
    "tool_choice_unknown_function",
    `\`${param}\` names a function that is not declared. Declared: ${known === "" ? "none" : known}.`,
    { param },
  );
}
