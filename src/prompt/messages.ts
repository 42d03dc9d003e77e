// deno-lint-ignore-file camelcase -- the names are those of checkpoints and templates
/**
 * A conversation in the form that chat templates are written for.
 *
 * Source: transformers v5.24 `utils/chat_template_utils.py` (`_normalize_chat_messages`, `_alias_reasoning_fields`):
 * keys without a value are left out, reasoning goes by three names, call arguments are objects. Text parts are joined
 * by a newline, as vLLM and llama.cpp do, since most templates take a string only.
 *
 * @module
 */
import type { Conversation, Message, Tool, ToolCall } from "../flow.ts";
import { parseJson } from "./jinja/json.ts";

/** One message as templates read it. */
export interface TemplateMessage {
  /** `system`, `user`, `assistant` or `tool`. */
  role: string;
  /** Parts joined; empty for a turn that only calls. */
  content: string;
  /** What the assistant thought; also under `thinking`, which gpt-oss templates read. */
  reasoning_content?: string;
  /** The same as `reasoning_content`. */
  thinking?: string;
  /** Calls of an assistant turn. */
  tool_calls?: TemplateToolCall[];
  /** The call that a tool message answers. */
  tool_call_id?: string;
  /** Author; of a tool message, the function called. */
  name?: string;
}

/** One call as templates read it. */
export interface TemplateToolCall {
  /** As the client knows it. */
  id: string;
  /** The only kind there is. */
  type: "function";
  /** `arguments`: the JSON as a value whose numbers and keys are as written, or the text as it is where it is none. */
  function: { name: string; arguments: unknown };
}

/** The variables `messages` and `tools` of a template. */
export function toTemplateMessages(
  conversation: Conversation,
  argumentsAsText = false,
): { messages: TemplateMessage[]; tools: unknown[] | null } {
  const names = new Map<string, string>();
  for (const message of conversation.messages) {
    for (const call of message.toolCalls ?? []) names.set(call.id, call.name);
  }
  return {
    messages: conversation.messages.map((message) => toTemplateMessage(message, names, argumentsAsText)),
    tools: conversation.tools.length === 0 ? null : conversation.tools.map(toTemplateTool),
  };
}

function toTemplateMessage(message: Message, names: Map<string, string>, argumentsAsText: boolean): TemplateMessage {
  const name = message.name ?? (message.toolCallId === undefined ? undefined : names.get(message.toolCallId));
  const calls = message.toolCalls ?? [];
  return {
    role: message.role,
    content: message.content.map((part) => part.text).join("\n"),
    ...(message.reasoning === undefined ? {} : { reasoning_content: message.reasoning, thinking: message.reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => toTemplateCall(call, argumentsAsText)) }),
    ...(message.toolCallId === undefined ? {} : { tool_call_id: message.toolCallId }),
    ...(name === undefined ? {} : { name }),
  };
}

function toTemplateCall({ id, name, arguments: json }: ToolCall, argumentsAsText: boolean): TemplateToolCall {
  return { id, type: "function", function: { name, arguments: argumentsAsText ? json : toArguments(json) } };
}

function toArguments(json: string): unknown {
  try {
    return parseJson(json);
  } catch {
    return json;
  }
}

function toTemplateTool(tool: Tool): unknown {
  return {
    type: "function",
    function: {
      name: tool.name,
      ...(tool.description === undefined ? {} : { description: tool.description }),
      ...(tool.parameters === undefined ? {} : { parameters: tool.parameters }),
    },
  };
}
