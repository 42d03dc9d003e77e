// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * `instructions` and `input` of a Responses request → turns of a conversation.
 *
 * Items of the model between two others are one turn: its thinking, its text, its calls. What only other servers know
 * how to run (`web_search_call`, `compaction` …) is left out and listed. Ids of items are never rendered; those that
 * this server did not make are as good as its own.
 *
 * @module
 */
import { z } from "zod";
import type { Message, TextPart } from "../../flow.ts";
import { type JsonObject, toJsonText, toSafeName } from "../body.ts";
import { toDefinition } from "../conversation_tools.ts";
import { RequestError } from "../errors.ts";
import { type FieldTable, type IgnoredFields, isEmpty, LISTED, sortFields, WORKS } from "../fields.ts";
import { toFreeformArguments } from "../freeform.ts";
import { CALLS_MAX } from "../messages.ts";
import { parseWith } from "../schema.ts";
import type { Seal } from "../seal.ts";
import { CONTENT, isPartType, toTexts } from "./content.ts";
import { type ResponsesTools, toFlatName } from "./tools.ts";

/** Most items of a conversation, those of the responses before it included. */
export const ITEMS_MAX = 10_000;

/** Items that come back have an id and a state, which say nothing to a model. */
const SILENT: FieldTable = { type: WORKS, id: WORKS, status: WORKS };

/** What becomes of the fields of a message. */
export const MESSAGE_FIELDS: FieldTable = { ...SILENT, role: WORKS, content: WORKS, phase: LISTED };

/** As this server gives it; another calls from code that it ran. */
const CALLER = {
  rule: "listed",
  asksNothing: (caller: unknown) => Reflect.get(Object(caller), "type") === "direct",
} as const;
const NOT_ASYNC = { rule: "listed", asksNothing: (value: unknown) => value === false } as const;

/** What is common to calls and results. */
const CALLED: FieldTable = { ...SILENT, call_id: WORKS, async: NOT_ASYNC, caller: CALLER, created_by: LISTED };

/** What becomes of the fields of a function's call. */
export const FUNCTION_CALL_FIELDS: FieldTable = { ...CALLED, name: WORKS, namespace: WORKS, arguments: WORKS };

/** What becomes of the fields of a freeform tool's call. */
export const CUSTOM_CALL_FIELDS: FieldTable = { ...CALLED, name: WORKS, namespace: WORKS, input: WORKS };

/** What becomes of the fields of a search: only the client's are known. */
export const SEARCH_CALL_FIELDS: FieldTable = { ...CALLED, execution: WORKS, arguments: WORKS };

/** What becomes of the fields of a result; the call's id tells whose it is. */
export const OUTPUT_FIELDS: FieldTable = { ...CALLED, output: WORKS, name: WORKS, namespace: WORKS };

/** What becomes of the fields of found tools. */
export const SEARCH_OUTPUT_FIELDS: FieldTable = { ...CALLED, execution: WORKS, tools: WORKS };

/** What becomes of the fields of thinking. */
export const REASONING_FIELDS: FieldTable = {
  ...SILENT,
  summary: WORKS,
  content: WORKS,
  encrypted_content: WORKS,
};

/** What becomes of the fields of tools that an item adds. */
export const ADDITIONAL_TOOLS_FIELDS: FieldTable = { ...SILENT, role: WORKS, tools: WORKS };

/** Name under which thinking of another server's sealing is listed. */
export const FOREIGN_CONTENT = "input[].encrypted_content";

/** An item with its place in the request. */
export interface PlacedItem {
  /** As the client wrote it, or as this server gave it. */
  item: JsonObject;
  /** e.g. `input[3]`. */
  path: string;
}

const id = z.string("expected the id of the call").min(1, "expected the id of the call").max(256);
const ROLES = ["user", "assistant", "system", "developer"] as const;
const MessageItem = z.object({
  role: z.enum(ROLES, `expected one of ${ROLES.join(", ")}`),
  content: CONTENT.optional(),
});
const CallItem = z.object({
  call_id: id,
  name: z.string("expected the name of the tool").min(1).max(256),
  namespace: z.string().max(256).optional(),
  arguments: z.string("expected JSON text").optional(),
  input: z.string("expected a string").optional(),
});
const SearchCall = z.object({ call_id: id.optional(), arguments: z.unknown().optional() });
const OutputItem = z.object({ call_id: id, output: CONTENT.optional() });
const SearchOutput = z.object({ call_id: id.optional(), tools: z.unknown().optional() });
const Reasoning = z.object({
  summary: CONTENT.optional(),
  content: CONTENT.optional(),
  encrypted_content: z.string("expected a string").optional(),
});

/** What reading items needs. */
export interface ItemReading {
  /** Items bring some. */
  tools: ResponsesTools;
  /** Opens thinking of this server. */
  seal: Seal;
  /** Gets what has no effect. */
  ignored: IgnoredFields;
}

/** The items of `input`. @throws {RequestError} If it is no list of items. */
export function toItems(value: unknown): PlacedItem[] {
  if (value === undefined) return [];
  // Some clients send an empty text to have the model loaded.
  if (typeof value === "string") return [{ item: { role: "user", content: value }, path: "input" }];
  const Items = z.array(z.looseObject({}), "expected a string or a list of items");
  return parseWith(Items, value, "input").map((item, index) => ({ item, path: `input[${index}]` }));
}

/** The type of an item; one with a role is a message. */
export function typeOf({ type, role, id }: JsonObject): string {
  if (typeof type === "string") return type;
  return role === undefined && typeof id === "string" ? "item_reference" : "message";
}

/** Items → turns. @throws {RequestError} With the path of the field at fault. */
export function toTurns(items: readonly PlacedItem[], reading: ItemReading): Message[] {
  const turns = new Turns();
  const newest = findNewest(items);
  items.forEach(({ item, path }, index) => {
    readItem(item, { path, isNewest: index === newest }, turns, reading);
  });
  return turns.end();
}

/** What the user asks now; -1: none. One right behind a result shows what the tool found. */
function findNewest(items: readonly PlacedItem[]): number {
  const newest = items.findLastIndex(({ item }) => typeOf(item) === "message" && item.role === "user");
  const before = items[newest - 1];
  return before !== undefined && typeOf(before.item).endsWith("_output") ? -1 : newest;
}

/** Turns so far; the assistant's grows until another's comes. */
class Turns {
  readonly #messages: Message[] = [];
  #assistant: Message | undefined;

  /** The assistant's turn. */
  get assistant(): Message {
    return this.#assistant ??= { role: "assistant", content: [] };
  }

  /** Another's turn. */
  push(message: Message): void {
    this.end();
    this.#messages.push(message);
  }

  /** All of them. */
  end(): Message[] {
    if (this.#assistant !== undefined) this.#messages.push(this.#assistant);
    this.#assistant = undefined;
    return this.#messages;
  }
}

interface ItemPlace {
  path: string;
  isNewest: boolean;
}

function readItem(item: JsonObject, place: ItemPlace, turns: Turns, reading: ItemReading): void {
  const { path } = place;
  const { ignored } = reading;
  parseWith(z.string("expected the type of the item").nullish(), item.type, `${path}.type`);
  const type = typeOf(item);
  const sort = (table: FieldTable): JsonObject => sortFields(table, item, ignored, path, "input[]");
  switch (type) {
    case "message":
      return readMessage(parseWith(MessageItem, sort(MESSAGE_FIELDS), path), place, turns, ignored);
    case "function_call":
      return readCall(type, parseWith(CallItem, sort(FUNCTION_CALL_FIELDS), path), path, turns);
    case "custom_tool_call":
      return readCall(type, parseWith(CallItem, sort(CUSTOM_CALL_FIELDS), path), path, turns);
    case "tool_search_call": {
      const { call_id = "", arguments: given = {} } = parseWith(SearchCall, sort(SEARCH_CALL_FIELDS), path);
      const json = typeof given === "string" ? given : toJsonText(given);
      return addCall(turns, { id: call_id, name: "tool_search", arguments: json }, path);
    }
    case "function_call_output":
    case "custom_tool_call_output": {
      const { call_id, output = "" } = parseWith(OutputItem, sort(OUTPUT_FIELDS), path);
      const inside = { path: `${path}.output`, listedPath: "input[].output", isNewest: false };
      return turns.push({ role: "tool", content: toTexts(output, inside, ignored), toolCallId: call_id });
    }
    case "tool_search_output": {
      const { call_id = "", tools = [] } = parseWith(SearchOutput, sort(SEARCH_OUTPUT_FIELDS), path);
      return turns.push({
        role: "tool",
        content: showFound(tools, path, reading),
        toolCallId: call_id,
      });
    }
    case "additional_tools": {
      const brought = reading.tools.bring(sort(ADDITIONAL_TOOLS_FIELDS).tools ?? [], `${path}.tools`, "input[].tools");
      const content = brought.filter(({ isNew }) => isNew).map(({ tool }) => toDefinition(tool));
      return content.length === 0 ? undefined : turns.push({ role: "system", content });
    }
    case "reasoning": {
      const text = toReasoning(parseWith(Reasoning, sort(REASONING_FIELDS), path), path, reading);
      if (text !== "") turns.assistant.reasoning = (turns.assistant.reasoning ?? "") + text;
      return;
    }
    default:
      return leaveOut(type, path, ignored);
  }
}

function readMessage(
  { role, content = "" }: z.output<typeof MessageItem>,
  { path, isNewest }: ItemPlace,
  turns: Turns,
  ignored: IgnoredFields,
): void {
  const texts = toTexts(content, { path: `${path}.content`, listedPath: "input[].content", isNewest }, ignored);
  if (role === "user") return turns.push({ role, content: texts });
  if (role !== "assistant") return texts.length === 0 ? undefined : turns.push({ role: "system", content: texts });
  // Where the model wrote them in one piece, it was one piece. Added, not joined: of many pieces none is copied twice.
  const text = (turns.assistant.content[0]?.text ?? "") + texts.map((part) => part.text).join("");
  turns.assistant.content = text === "" ? [] : [{ type: "text", text }];
}

function readCall(
  type: "function_call" | "custom_tool_call",
  call: z.output<typeof CallItem>,
  path: string,
  turns: Turns,
): void {
  const { call_id, namespace, arguments: json = "", input = "" } = call;
  const name = toFlatName(call.name, namespace);
  const text = type === "custom_tool_call" ? toFreeformArguments(input) : json.trim() === "" ? "{}" : json;
  addCall(turns, { id: call_id, name, arguments: text }, path);
}

function addCall(turns: Turns, call: { id: string; name: string; arguments: string }, path: string): void {
  const calls = turns.assistant.toolCalls ??= [];
  calls.push(call);
  if (calls.length <= CALLS_MAX) return;
  const message = `Invalid request body: \`${path}\`: expected at most ${CALLS_MAX} calls of one turn.`;
  throw new RequestError("invalid_request", message, { param: path });
}

/** A search's result shows what it found: what the head shows already by its name alone. */
function showFound(value: unknown, path: string, { tools }: ItemReading): TextPart[] {
  const found = tools.bring(value, `${path}.tools`, "input[].tools").map(({ tool, isNew }): TextPart =>
    isNew ? toDefinition(tool) : { type: "text", text: tool.name }
  );
  return found.length > 0 ? found : [{ type: "text", text: "No tool was found." }];
}

/** Thinking: what this server sealed, else what is there to read. */
function toReasoning(item: z.output<typeof Reasoning>, path: string, { seal, ignored }: ItemReading): string {
  const { content = [], summary = [], encrypted_content = "" } = item;
  const read = (value: string | JsonObject[], field: string): string =>
    toTexts(value, { path: `${path}.${field}`, listedPath: `input[].${field}`, isNewest: false }, ignored)
      .map(({ text }) => text).join("");
  if (encrypted_content !== "") {
    const opened = seal.open(encrypted_content, "");
    if (opened.state === "sealed") return opened.text;
    if (opened.state !== "foreign") {
      const param = `${path}.encrypted_content`;
      const message =
        `Invalid request body: \`${param}\` was altered: send reasoning as it was given, or leave it out.`;
      throw new RequestError("invalid_request", message, { param });
    }
    ignored.add(FOREIGN_CONTENT);
  }
  return isEmpty(content) || content === "" ? read(summary, "summary") : read(content, "content");
}

/** What other servers ran, or know to read. */
function leaveOut(type: string, path: string, ignored: IgnoredFields): void {
  if (isPartType(type)) {
    const message = `Invalid request body: \`${path}.type\`: expected an item, found a part of one: send it as the ` +
      'content of a message, {"role": "user", "content": [...]}.';
    throw new RequestError("invalid_request", message, { param: `${path}.type` });
  }
  ignored.add(`input[].${toSafeName(type)}`);
}
