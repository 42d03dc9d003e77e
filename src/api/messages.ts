// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Chat messages of the OpenAI wire → turns of a conversation.
 *
 * Content may be a string, a list of parts, null or absent: the last two are turns without text. Images are shown as
 * images.ts says, other media parts are refused by name. Fields that change nothing (`cache_control`, ids of other
 * servers …) are listed.
 *
 * @module
 */
import { z } from "zod";
import type { Message, TextPart, ToolCall } from "../flow.ts";
import { type JsonObject, toJsonText } from "./body.ts";
import { RequestError } from "./errors.ts";
import { type FieldTable, type IgnoredFields, LISTED, sortFields, WORKS } from "./fields.ts";
import { toImageText } from "./images.ts";
import { parseWith } from "./schema.ts";

/** Most messages of a request. */
export const MESSAGES_MAX = 10_000;

/** Most calls of one message. */
export const CALLS_MAX = 128;

const ROLES = ["system", "developer", "user", "assistant", "tool", "function"] as const;

/** What becomes of a message's fields. */
export const MESSAGE_FIELDS: FieldTable = {
  role: WORKS,
  content: WORKS,
  name: WORKS,
  tool_call_id: WORKS,
  tool_calls: WORKS,
  reasoning_content: WORKS,
  audio: { rule: "refused", why: "audio is not available yet in this version" },
  function_call: WORKS,
  refusal: LISTED,
};

/** What becomes of a text part's fields. */
export const PART_FIELDS: FieldTable = { type: WORKS, text: WORKS, refusal: WORKS, prompt_cache_breakpoint: LISTED };

/** What becomes of the fields of an image part, whatever it is called. */
export const IMAGE_PART_FIELDS: FieldTable = {
  type: WORKS,
  image_url: WORKS,
  image: WORKS,
  source: WORKS,
  prompt_cache_breakpoint: LISTED,
};

/** What becomes of the fields of an assistant's call. */
export const TOOL_CALL_FIELDS: FieldTable = { id: WORKS, type: WORKS, function: WORKS, index: LISTED };

/** What becomes of the fields of a call's function. */
export const FUNCTION_FIELDS: FieldTable = { name: WORKS, arguments: WORKS };

const Messages = z.array(z.looseObject({ role: z.enum(ROLES, `expected one of ${ROLES.join(", ")}`) }))
  .min(1, "expected at least one message").max(MESSAGES_MAX, `expected at most ${MESSAGES_MAX} messages`);

const content = z.union([z.string(), z.array(z.looseObject({ type: z.string("expected the type of the part") }))], {
  error: "expected a string or a list of parts",
});
const id = z.string().min(1).max(256);
const text = z.string("expected a string");
// An empty one is none, as with OpenAI.
const name = z.string().max(256).transform((text) => text === "" ? undefined : text).optional();
// The object itself and no copy of it: toJsonText knows its numbers by what holds them.
const argumentsObject = z.custom<JsonObject>((value) =>
  typeof value === "object" && value !== null && !Array.isArray(value)
);
const called = z.looseObject({
  name: z.string().min(1).max(256),
  // Some clients send the object itself; no text at all is what a call without arguments is to others.
  arguments: z.union([z.string(), argumentsObject], { error: "expected JSON text" }).optional(),
});
const toolCall = z.looseObject({
  id: id.nullish(),
  type: z.literal("function", { error: "expected function, the one type of call that is available" }).optional(),
  function: called,
});

const SystemMessage = z.object({ role: z.enum(["system", "developer"]), content: content.optional(), name });
const UserMessage = z.object({ role: z.literal("user"), content: content.optional(), name });
const AssistantMessage = z.object({
  role: z.literal("assistant"),
  content: content.optional(),
  name,
  tool_calls: z.array(toolCall).max(CALLS_MAX, `expected at most ${CALLS_MAX} calls`).optional(),
  function_call: called.optional(),
  reasoning_content: z.string().optional(),
});
const ToolMessage = z.object({
  role: z.literal("tool"),
  content: content.optional(),
  name,
  tool_call_id: id.optional(),
});
const FunctionMessage = z.object({
  role: z.literal("function"),
  content: content.optional(),
  name: z.string("expected the name of the function that was called").min(1).max(256),
});

type Content = z.output<typeof content>;

/**
 * Reads the `messages` field.
 *
 * @throws {RequestError} With the path of the field at fault.
 */
export function toMessages(value: unknown, ignored: IgnoredFields): Message[] {
  const pending = new PendingCalls();
  const messages = parseWith(Messages, value, "messages");
  const newest = findNewest(messages.map(({ role }) => role));
  return messages.map((message, index) => {
    const path = `messages[${index}]`;
    const place = { path, isNewest: index === newest, ignored };
    const fields = sortFields(MESSAGE_FIELDS, message, ignored, path, "messages[]");
    switch (message.role) {
      case "system":
      case "developer": {
        const parsed = parseWith(SystemMessage, fields, path);
        return { role: "system", content: toParts(parsed.content ?? "", place), ...named(parsed.name) };
      }
      case "user": {
        const parsed = parseWith(UserMessage, fields, path);
        return { role: "user", content: toParts(parsed.content ?? "", place), ...named(parsed.name) };
      }
      case "assistant":
        return pending.add(toAssistant(fields, index, place));
      case "tool":
      case "function":
        return toResult(message.role, fields, pending, place);
    }
  });
}

/**
 * The message of the user that asks; -1: none. One right behind a result shows what the tool found: that is how agents
 * pass on the images that a tool has read.
 */
function findNewest(roles: readonly string[]): number {
  const newest = roles.lastIndexOf("user");
  const before = roles[newest - 1];
  return before === "tool" || before === "function" ? -1 : newest;
}

/**
 * Calls without a result so far, in order. Ids are taken as they are, those that this server never gave included; a
 * result without an id answers the oldest call, one of a legacy function the oldest of that name.
 */
class PendingCalls {
  readonly #calls: ToolCall[] = [];

  add(message: Message): Message {
    this.#calls.push(...message.toolCalls ?? []);
    return message;
  }

  take(id: string | undefined, name: string | undefined, path: string): string {
    const fits = (call: ToolCall): boolean =>
      id === undefined ? name === undefined || call.name === name : call.id === id;
    const at = this.#calls.findIndex(fits);
    const found = at < 0 ? undefined : this.#calls.splice(at, 1)[0];
    const answered = id ?? found?.id;
    if (answered !== undefined) return answered;
    const param = `${path}.${name === undefined ? "tool_call_id" : "name"}`;
    const message = `Invalid request body: \`${param}\`: no call before this message is without a result.`;
    throw new RequestError("invalid_request", message, { param });
  }
}

/** A result, of a tool or of a legacy function. */
function toResult(
  role: "tool" | "function",
  fields: JsonObject,
  pending: PendingCalls,
  place: ContentPlace,
): Message {
  const { path } = place;
  if (role === "function") {
    const parsed = parseWith(FunctionMessage, fields, path);
    const parts = toParts(parsed.content ?? "", place);
    return { role: "tool", content: parts, toolCallId: pending.take(undefined, parsed.name, path), name: parsed.name };
  }
  const parsed = parseWith(ToolMessage, fields, path);
  const parts = toParts(parsed.content ?? "", place);
  const toolCallId = pending.take(parsed.tool_call_id, undefined, path);
  return { role: "tool", content: parts, toolCallId, ...named(parsed.name) };
}

function toAssistant(fields: JsonObject, at: number, place: ContentPlace): Message {
  const { path, ignored } = place;
  const parsed = parseWith(AssistantMessage, fields, path);
  const calls = (parsed.tool_calls ?? []).map((call, index): ToolCall => {
    const callPath = `${path}.tool_calls[${index}]`;
    sortFields(TOOL_CALL_FIELDS, call, ignored, callPath, "messages[].tool_calls[]");
    sortFields(FUNCTION_FIELDS, call.function, ignored, `${callPath}.function`, "messages[].tool_calls[].function");
    return toCall(call.id ?? `call_${at}_${index}`, call.function);
  });
  if (parsed.function_call !== undefined) {
    sortFields(FUNCTION_FIELDS, parsed.function_call, ignored, `${path}.function_call`, "messages[].function_call");
    calls.push(toCall(`call_${at}`, parsed.function_call));
  }
  return {
    role: "assistant",
    content: toParts(parsed.content ?? "", place),
    ...named(parsed.name),
    ...(parsed.reasoning_content !== undefined && { reasoning: parsed.reasoning_content }),
    ...(calls.length > 0 && { toolCalls: calls }),
  };
}

function toCall(id: string, { name, arguments: given = "" }: z.output<typeof called>): ToolCall {
  const text = typeof given === "string" ? given : toJsonText(given);
  return { id, name, arguments: text.trim() === "" ? "{}" : text };
}

/** Types of parts that are images: OpenAI's, and those that clients of other wires send here. */
const IMAGE_TYPES: readonly string[] = ["image_url", "input_image", "image"];

/** Where content stands. */
interface ContentPlace {
  /** Of its message. */
  path: string;
  /** The message is what the user asks now. */
  isNewest: boolean;
  /** Gets what has no effect. */
  ignored: IgnoredFields;
}

/** An empty string is a turn without parts. */
function toParts(value: Content, { path, isNewest, ignored }: ContentPlace): TextPart[] {
  if (typeof value === "string") return value === "" ? [] : [{ type: "text", text: value }];
  return value.map((part, index) => {
    const partPath = `${path}.content[${index}]`;
    if (IMAGE_TYPES.includes(part.type)) {
      sortFields(IMAGE_PART_FIELDS, part, ignored, partPath, "messages[].content[]");
      return toImageText({ path: partPath, listedPath: `messages[].content[].${part.type}`, isNewest }, ignored);
    }
    const key = part.type === "refusal" ? "refusal" : "text";
    if (part.type !== "text" && part.type !== "refusal") {
      throw new RequestError(
        "unsupported_field",
        `\`${partPath}.type\` is not supported: this model reads parts of type text only.`,
        { param: `${partPath}.type` },
      );
    }
    const fields = sortFields(PART_FIELDS, part, ignored, partPath, "messages[].content[]");
    return { type: "text", text: parseWith(text, fields[key], `${partPath}.${key}`) };
  });
}

function named(name: string | undefined): { name?: string } {
  return name === undefined ? {} : { name };
}
