// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Chat messages of the OpenAI wire → turns of a conversation.
 *
 * Content may be a string, a list of parts, null or absent (the last two where a turn can be without text). Media parts
 * are refused by name. Fields that change nothing (`cache_control`, ids of other servers …) are listed.
 *
 * @module
 */
import { z } from "zod";
import type { Message, TextPart, ToolCall } from "../flow.ts";
import type { JsonObject } from "./body.ts";
import { RequestError } from "./errors.ts";
import { type FieldTable, type IgnoredFields, isEmpty, LISTED, sortFields, WORKS } from "./fields.ts";
import { parseWith } from "./schema.ts";

/** Most messages of a request. */
export const MESSAGES_MAX = 10_000;

const ROLES = ["system", "developer", "user", "assistant", "tool"] as const;

/** What becomes of a message's fields. */
export const MESSAGE_FIELDS: FieldTable = {
  role: WORKS,
  content: WORKS,
  name: WORKS,
  tool_call_id: WORKS,
  tool_calls: WORKS,
  reasoning_content: WORKS,
  audio: { rule: "refused", why: "audio is not available yet in this version" },
  function_call: {
    rule: "refused",
    why: "send the call as `tool_calls`",
    judge: (call) => isEmpty(call) ? "nothing" : "refused",
  },
  refusal: LISTED,
};

/** What becomes of a text part's fields. */
export const PART_FIELDS: FieldTable = { type: WORKS, text: WORKS, refusal: WORKS, prompt_cache_breakpoint: LISTED };

/** What becomes of the fields of an assistant's call. */
export const TOOL_CALL_FIELDS: FieldTable = { id: WORKS, type: WORKS, function: WORKS, index: LISTED };

/** What becomes of the fields of a call's function. */
export const FUNCTION_FIELDS: FieldTable = { name: WORKS, arguments: WORKS };

const Messages = z.array(z.looseObject({ role: z.enum(ROLES, `expected one of ${ROLES.join(", ")}`) }))
  .min(1, "expected at least one message").max(MESSAGES_MAX, `expected at most ${MESSAGES_MAX} messages`);

const content = z.union([z.string(), z.array(z.looseObject({ type: z.string("expected the type of the part") }))], {
  error: "expected a string or a list of parts",
});
const toolCall = z.looseObject({
  id: z.string().min(1).max(256),
  type: z.literal("function", { error: "expected function, the one type of call that is available" }).optional(),
  function: z.looseObject({ name: z.string().min(1).max(256), arguments: z.string() }),
});
const name = z.string().min(1).max(256).optional();

const SystemMessage = z.object({ role: z.enum(["system", "developer"]), content, name });
const UserMessage = z.object({ role: z.literal("user"), content, name });
const AssistantMessage = z.object({
  role: z.literal("assistant"),
  content: content.optional(),
  name,
  tool_calls: z.array(toolCall).max(128).optional(),
  reasoning_content: z.string().optional(),
});
const ToolMessage = z.object({
  role: z.literal("tool"),
  content: content.optional(),
  name,
  tool_call_id: z.string("expected the id of the call that this message answers").min(1).max(256),
});

type Content = z.output<typeof content>;

/**
 * Reads the `messages` field.
 *
 * @throws {RequestError} With the path of the field at fault.
 */
export function toMessages(value: unknown, ignored: IgnoredFields): Message[] {
  return parseWith(Messages, value, "messages").map((message, index) => {
    const path = `messages[${index}]`;
    const fields = sortFields(MESSAGE_FIELDS, message, ignored, path, "messages[]");
    switch (message.role) {
      case "system":
      case "developer": {
        const parsed = parseWith(SystemMessage, fields, path);
        return { role: "system", content: toParts(parsed.content, path, ignored), ...named(parsed.name) };
      }
      case "user": {
        const parsed = parseWith(UserMessage, fields, path);
        return { role: "user", content: toParts(parsed.content, path, ignored), ...named(parsed.name) };
      }
      case "assistant":
        return toAssistant(fields, path, ignored);
      case "tool": {
        const parsed = parseWith(ToolMessage, fields, path);
        const parts = toParts(parsed.content ?? "", path, ignored);
        return { role: "tool", content: parts, toolCallId: parsed.tool_call_id, ...named(parsed.name) };
      }
    }
  });
}

function toAssistant(fields: JsonObject, path: string, ignored: IgnoredFields): Message {
  const parsed = parseWith(AssistantMessage, fields, path);
  const calls = (parsed.tool_calls ?? []).map((call, index): ToolCall => {
    const callPath = `${path}.tool_calls[${index}]`;
    sortFields(TOOL_CALL_FIELDS, call, ignored, callPath, "messages[].tool_calls[]");
    sortFields(FUNCTION_FIELDS, call.function, ignored, `${callPath}.function`, "messages[].tool_calls[].function");
    return { id: call.id, name: call.function.name, arguments: call.function.arguments };
  });
  return {
    role: "assistant",
    content: toParts(parsed.content ?? "", path, ignored),
    ...named(parsed.name),
    ...(parsed.reasoning_content !== undefined && { reasoning: parsed.reasoning_content }),
    ...(calls.length > 0 && { toolCalls: calls }),
  };
}

/** An empty string is a turn without parts. */
function toParts(value: Content, path: string, ignored: IgnoredFields): TextPart[] {
  if (typeof value === "string") return value === "" ? [] : [{ type: "text", text: value }];
  return value.map((part, index) => {
    const partPath = `${path}.content[${index}]`;
    const key = part.type === "refusal" ? "refusal" : "text";
    if (part.type !== "text" && part.type !== "refusal") {
      throw new RequestError(
        "unsupported_field",
        `\`${partPath}.type\` is not supported: this version reads parts of type text only.`,
        { param: `${partPath}.type` },
      );
    }
    const fields = sortFields(PART_FIELDS, part, ignored, partPath, "messages[].content[]");
    return { type: "text", text: parseWith(z.string(`expected a string`), fields[key], `${partPath}.${key}`) };
  });
}

function named(name: string | undefined): { name?: string } {
  return name === undefined ? {} : { name };
}
