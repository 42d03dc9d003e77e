// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Tools of a Responses request, and how they may be used.
 *
 * | type | to the model | its calls leave as |
 * |---|---|---|
 * | `function` | a function | `function_call` |
 * | `custom` | a function with one text (freeform.ts) | `custom_tool_call` |
 * | `namespace` | its tools, as `namespace__name` | the same, `name` and `namespace` apart |
 * | `tool_search`, run by the client | a function | `tool_search_call` |
 * | any other: it is run by OpenAI's servers | nothing; listed | |
 *
 * A deferred tool is shown where a search's result has it. Without a search by the client nothing could bring it: then
 * it is shown at once.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Tool } from "../../flow.ts";
import type { JsonObject } from "../body.ts";
import { ConversationTools, offerConversationTools } from "../conversation_tools.ts";
import { RequestError } from "../errors.ts";
import { type FieldTable, type IgnoredFields, LISTED, sortFields, WORKS } from "../fields.ts";
import { toFreeformInput, toFreeformTool } from "../freeform.ts";
import { parseWith } from "../schema.ts";
import { requireDeclared, requireNew, TOOL_LIST, type ToolChoice, TOOLS_MAX, type ToolUse } from "../tools.ts";

/** A function never answers later than in the next request. */
const NOT_ASYNC = { rule: "listed", asksNothing: (value: unknown) => value === false } as const;

/** What becomes of the fields of a function. */
export const FUNCTION_TOOL_FIELDS: FieldTable = {
  type: WORKS,
  name: WORKS,
  description: WORKS,
  parameters: WORKS,
  strict: WORKS,
  defer_loading: WORKS,
  allowed_callers: LISTED,
  async: NOT_ASYNC,
  output_schema: LISTED,
};

/** What becomes of the fields of a custom tool. */
export const CUSTOM_TOOL_FIELDS: FieldTable = {
  type: WORKS,
  name: WORKS,
  description: WORKS,
  format: WORKS,
  defer_loading: WORKS,
  allowed_callers: LISTED,
  async: NOT_ASYNC,
};

/** What becomes of the fields of a namespace. */
export const NAMESPACE_FIELDS: FieldTable = { type: WORKS, name: WORKS, description: WORKS, tools: WORKS };

/** What becomes of the fields of a search for tools. */
export const TOOL_SEARCH_FIELDS: FieldTable = { type: WORKS, execution: WORKS, description: WORKS, parameters: WORKS };

/** What becomes of the fields of a `tool_choice` that names a tool. */
export const NAMED_CHOICE_FIELDS: FieldTable = { type: WORKS, name: WORKS, namespace: WORKS };

/** What becomes of the fields of one that lists those that may be called. */
export const ALLOWED_CHOICE_FIELDS: FieldTable = { type: WORKS, mode: WORKS, tools: WORKS };

const NAME_WANTED = "expected a name of 1 to 128 letters, digits, _ or -, with its namespace";
const name = z.string(NAME_WANTED).regex(/^[A-Za-z0-9_-]{1,128}$/, NAME_WANTED);
const parameters = z.record(z.string(), z.unknown(), "expected a JSON Schema of an object").optional();
const FunctionShape = z.object({
  name,
  description: z.string().optional(),
  parameters,
  strict: z.boolean().optional(),
});
const CustomShape = z.object({ name, description: z.string().optional(), format: z.unknown().optional() });
const NamespaceShape = z.object({ name, description: z.string().optional(), tools: TOOL_LIST });
const SearchShape = z.object({ description: z.string().optional(), parameters });
const CHOICE_WANTED = "expected none, auto, required, or an object that names a tool";
const ChoiceShape = z.object({
  type: z.string(CHOICE_WANTED),
  name: z.string().optional(),
  namespace: z.string().optional(),
});
const AllowedShape = z.object({ mode: z.enum(["auto", "required"], "expected auto or required"), tools: TOOL_LIST });

/** As what a call of a tool leaves. */
export type CallKind =
  | { type: "function" | "custom"; name: string; namespace?: string }
  | { type: "tool_search" };

/** What a search for tools is called towards the model. */
const SEARCH_NAME = "tool_search";

/** A tool in its place. */
interface DeclaredTool {
  tool: Tool;
  kind: CallKind;
  isDeferred: boolean;
  /** Of the name. */
  path: string;
}

/** The tools of a conversation, and as what their calls leave. */
export class ResponsesTools {
  readonly #kinds = new Map<string, CallKind>();
  readonly #conversation: ConversationTools;
  readonly #ignored: IgnoredFields;

  /** @param declared Those of the head. @param ignored Gets what has no effect. */
  constructor(declared: readonly DeclaredTool[], ignored: IgnoredFields) {
    this.#ignored = ignored;
    for (const { tool, kind } of declared) this.#kinds.set(tool.name, kind);
    const defers = declared.some(({ kind }) => kind.type === "tool_search");
    if (!defers && declared.some(({ isDeferred }) => isDeferred)) ignored.add("tools[].defer_loading");
    const isDeferred = (one: DeclaredTool): boolean => defers && one.isDeferred;
    this.#conversation = new ConversationTools(
      declared.filter((one) => !isDeferred(one)).map(({ tool }) => tool),
      declared.filter(isDeferred).map(({ tool }) => tool),
    );
  }

  /**
   * An item brings tools. @returns All of them; `isNew`: nothing before has shown it.
   *
   * @throws {RequestError} For the first one that can't be used.
   */
  bring(value: unknown, path: string, listedPath: string): { tool: Tool; isNew: boolean }[] {
    return readList(value, path, listedPath, this.#ignored).map(({ tool: brought, kind }) => {
      const known = this.#conversation.find(brought.name);
      const same = known !== undefined && isDeepStrictEqual(this.#kinds.get(brought.name), kind) &&
        isAlike(known, brought);
      // The same tool again, as a search's result has it, is the tool that was declared; another one takes its place.
      const tool = same ? known : brought;
      this.#kinds.set(tool.name, kind);
      return { tool, isNew: this.#conversation.bring(tool) };
    });
  }

  /** As what a call leaves, by the name that the model calls. */
  kindOf(name: string): CallKind {
    return this.#kinds.get(name) ?? { type: "function", name };
  }

  /** What the head shows, and what may be called, once every item is read. @throws {RequestError} For a bad choice. */
  offer(value: unknown, parallel: boolean | undefined): { head: Tool[]; toolUse: ToolUse } {
    const { choice, allowed } = toChoice(value, this.#conversation, this.#ignored);
    const { head, offered } = offerConversationTools(this.#conversation, choice, "input");
    const isAllowed = ({ name }: Tool): boolean => allowed === undefined || allowed.includes(name);
    const tools = offered.filter(isAllowed);
    if (choice.mode === "required" && tools.length === 0) {
      const message = "`tool_choice` requires a call, and none of the tools that it allows can be called yet.";
      throw new RequestError("tool_choice_required_without_tools", message, { param: "tool_choice" });
    }
    if (parallel !== undefined && tools.length === 0 && !parallel) this.#ignored.add("parallel_tool_calls");
    if (choice.mode === "none" && this.#kinds.size > 0) this.#ignored.add("tools");
    return {
      head: head.filter(isAllowed),
      toolUse: {
        tools,
        choice,
        ...(parallel === false && { callsMax: 1 }),
        legacy: false,
        schemaPath: "tools[].parameters",
      },
    };
  }
}

/** The name by which a model calls a tool of a namespace. */
export function toFlatName(name: string, namespace: string | undefined): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}__${name}`;
}

/**
 * Reads `tools`, and the items that add to them before anything is said.
 *
 * @param lists Each with its path.
 * @throws {RequestError} For the first one that can't be used.
 */
export function toResponsesTools(
  lists: readonly { value: unknown; path: string; listedPath: string }[],
  ignored: IgnoredFields,
): ResponsesTools {
  const names = new Set<string>();
  const declared = lists.flatMap(({ value, path, listedPath }) => readList(value, path, listedPath, ignored));
  for (const { tool, path } of declared) requireNew(tool.name, names, path);
  // One list has few, but namespaces have lists.
  if (declared.length > TOOLS_MAX) {
    const message =
      `Invalid request body: \`tools\`: expected at most ${TOOLS_MAX} tools, those of namespaces included.`;
    throw new RequestError("invalid_request", message, { param: "tools" });
  }
  return new ResponsesTools(declared, ignored);
}

function readList(value: unknown, path: string, listedPath: string, ignored: IgnoredFields): DeclaredTool[] {
  return parseWith(TOOL_LIST, value, path).flatMap((item, index) =>
    readTool(item, { path: `${path}[${index}]`, listedPath: `${listedPath}[]`, ignored })
  );
}

/** Where a tool stands. */
interface ToolPlace {
  path: string;
  listedPath: string;
  ignored: IgnoredFields;
  namespace?: string;
}

function readTool(item: JsonObject, place: ToolPlace): DeclaredTool[] {
  const { path, listedPath, ignored, namespace } = place;
  const type = parseWith(z.string("expected the type of the tool"), item.type ?? "function", `${path}.type`);
  const sort = (table: FieldTable): JsonObject => sortFields(table, item, ignored, path, listedPath);
  const isDeferred = item.defer_loading === true;
  const declare = (kind: CallKind, tool: Tool): DeclaredTool[] => {
    parseWith(name, tool.name, `${path}.name`);
    return [{ tool, kind, isDeferred, path: `${path}.name` }];
  };
  const inNamespace = namespace === undefined ? {} : { namespace };
  if (type === "function") {
    const { strict, ...shape } = parseWith(FunctionShape, sort(FUNCTION_TOOL_FIELDS), path);
    const tool = { ...dropAbsent(shape), name: toFlatName(shape.name, namespace), ...(strict === true && { strict }) };
    return declare({ type, name: shape.name, ...inNamespace }, tool);
  }
  if (type === "custom") {
    const shape = parseWith(CustomShape, sort(CUSTOM_TOOL_FIELDS), path);
    const freeform = toFreeformInput(shape.format, `${path}.format`, `${listedPath}.format`, ignored);
    const tool = toFreeformTool(toFlatName(shape.name, namespace), shape.description, freeform);
    return declare({ type, name: shape.name, ...inNamespace }, tool);
  }
  if (type === "namespace" && namespace === undefined) {
    const group = parseWith(NamespaceShape, sort(NAMESPACE_FIELDS), path);
    const tools = group.tools.flatMap((one, index) =>
      readTool(one, {
        path: `${path}.tools[${index}]`,
        listedPath: `${listedPath}.tools[]`,
        ignored,
        namespace: group.name,
      })
    );
    return withDescription(tools, group.description ?? "");
  }
  if (type === SEARCH_NAME && item.execution === "client") {
    const shape = parseWith(SearchShape, sort(TOOL_SEARCH_FIELDS), path);
    return declare({ type }, { ...dropAbsent(shape), name: SEARCH_NAME });
  }
  ignored.add(`${listedPath}.type`);
  return [];
}

/** Whether calls of both are the same; descriptions differ by where a tool stands in its namespace. */
function isAlike(one: Tool, other: Tool): boolean {
  return isDeepStrictEqual([one.parameters, one.freeform, one.strict], [
    other.parameters,
    other.freeform,
    other.strict,
  ]);
}

/** Templates know no groups: what is said of one is said with its first tool. */
function withDescription([first, ...rest]: DeclaredTool[], text: string): DeclaredTool[] {
  if (first === undefined) return [];
  const description = [text, first.tool.description ?? ""].filter((part) => part !== "").join("\n\n");
  return [{ ...first, tool: { ...first.tool, ...(description !== "" && { description }) } }, ...rest];
}

function dropAbsent<T extends object>(shape: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(shape).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** The choice; and, of those that may be called, the only ones that may. */
function toChoice(
  value: unknown,
  tools: ConversationTools,
  ignored: IgnoredFields,
): { choice: ToolChoice; allowed?: string[] } {
  const path = "tool_choice";
  if (value === undefined || value === "auto") return { choice: { mode: "auto" } };
  if (value === "none" || value === "required") return { choice: { mode: value } };
  const object = parseWith(z.looseObject({ type: z.string(CHOICE_WANTED) }, CHOICE_WANTED), value, path);
  if (object.type !== "allowed_tools") {
    return { choice: toNamed(sortFields(NAMED_CHOICE_FIELDS, object, ignored, path), path) };
  }
  const fields = sortFields(ALLOWED_CHOICE_FIELDS, object, ignored, path);
  const { mode, tools: list } = parseWith(AllowedShape, fields, path);
  const allowed = list.flatMap((one, index): string[] => {
    const at = `${path}.tools[${index}]`;
    if (!isCallable(one.type)) {
      ignored.add(`${path}.tools[].type`);
      return [];
    }
    const found = toNamed(sortFields(NAMED_CHOICE_FIELDS, one, ignored, at, `${path}.tools[]`), at);
    if (tools.find(found.name) === undefined) requireDeclared(found.name, tools.callable, path);
    return [found.name];
  });
  return { choice: { mode }, allowed };
}

function isCallable(type: unknown): boolean {
  return type === "function" || type === "custom" || type === SEARCH_NAME;
}

function toNamed(value: JsonObject, path: string): { mode: "named"; name: string } {
  const { type, name = "", namespace } = parseWith(ChoiceShape, value, path);
  if (!isCallable(type)) {
    const message =
      `\`${path}.type\` is not supported: a call of a function, a custom tool or the tool search can be ` +
      "required; tools that other servers run are not here.";
    throw new RequestError("unsupported_field", message, { param: `${path}.type` });
  }
  if (type === SEARCH_NAME) return { mode: "named", name: SEARCH_NAME };
  if (name !== "") return { mode: "named", name: toFlatName(name, namespace) };
  throw new RequestError(
    "tool_choice_missing_name",
    `Invalid request body: \`${path}.name\`: expected the name of a declared tool; found nothing.`,
    { param: `${path}.name` },
  );
}
