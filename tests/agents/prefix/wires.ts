/**
 * What an agent's request says of the conversation, on each wire: which items are the model's, what they mean, and how
 * an agent puts the items of an answer that it got into its next request.
 *
 * @module
 */
import type { Said } from "./models.ts";

/** JSON of a wire. */
// deno-lint-ignore no-explicit-any -- recorded JSON of three wires
export type Json = any;

/** A wire. */
export interface PrefixWire {
  /** Field of the conversation. */
  field: "messages" | "input";
  /** The model's part of a conversation. */
  isAnswer: (item: Json) => boolean;
  /** Adds what an item of it says. */
  read: (item: Json, said: Said) => void;
  /** Ids of the calls of an item, in order. */
  callIds: (item: Json) => string[];
  /** Ids of the calls of an answer, in order. */
  answeredIds: (answer: Json) => string[];
  /** An item of an answer with what only its server can have made; none where the model does not think. */
  refill: (item: Json, answer: Json) => Json[];
}

/** What the recorded programs' model thinks. */
const THOUGHT = "I should look at it.";

const CHAT: PrefixWire = {
  field: "messages",
  isAnswer: ({ role }) => role === "assistant",
  read: ({ content, reasoning_content, tool_calls }, said) => {
    said.content += content ?? "";
    said.reasoning += reasoning_content ?? "";
    for (const call of tool_calls ?? []) {
      said.calls.push({ name: call.function.name, arguments: JSON.parse(call.function.arguments) });
    }
  },
  callIds: ({ tool_calls }) => (tool_calls ?? []).map(({ id }: Json) => id),
  answeredIds: ({ choices }) => (choices[0].message.tool_calls ?? []).map(({ id }: Json) => id),
  refill: ({ reasoning_content, ...item }, answer) => {
    const thinks = reasoning_content !== undefined && answer.choices[0].message.reasoning_content !== undefined;
    return [thinks ? { ...item, reasoning_content } : item];
  },
};

const MESSAGES: PrefixWire = {
  field: "messages",
  isAnswer: ({ role }) => role === "assistant",
  read: ({ content }, said) => {
    for (const block of typeof content === "string" ? [{ type: "text", text: content }] : content) {
      if (block.type === "text") said.content += block.text;
      if (block.type === "thinking") said.reasoning += block.thinking === "" ? THOUGHT : block.thinking;
      if (block.type === "tool_use") said.calls.push({ name: block.name, arguments: block.input });
    }
  },
  callIds: ({ content }) => content.flatMap((block: Json) => block.type === "tool_use" ? [block.id] : []),
  answeredIds: ({ content }) => content.flatMap((block: Json) => block.type === "tool_use" ? [block.id] : []),
  refill: (item, answer) => {
    const thinking = answer.content.filter(({ type }: Json) => type === "thinking");
    const content = item.content.flatMap((block: Json) => block.type === "thinking" ? thinking : [block]);
    return [{ ...item, content }];
  },
};

const ANSWER_ITEMS: ReadonlySet<string> = new Set(["reasoning", "function_call", "custom_tool_call"]);

const RESPONSES: PrefixWire = {
  field: "input",
  isAnswer: ({ type, role }) => role === "assistant" || ANSWER_ITEMS.has(type),
  read: (item, said) => {
    if (item.type === "reasoning") said.reasoning += item.content?.[0]?.text ?? THOUGHT;
    if (item.type === "function_call") said.calls.push({ name: item.name, arguments: JSON.parse(item.arguments) });
    if (item.type === "custom_tool_call") said.calls.push({ name: item.name, arguments: { input: item.input } });
    if (item.role === "assistant") said.content += item.content.map(({ text }: Json) => text).join("");
  },
  callIds: ({ call_id }) => call_id === undefined ? [] : [call_id],
  answeredIds: ({ output }) => output.flatMap(({ call_id }: Json) => call_id === undefined ? [] : [call_id]),
  refill: (item, answer) => {
    if (item.type !== "reasoning") return [item];
    const own = answer.output.find(({ type }: Json) => type === "reasoning");
    return own === undefined ? [] : [{ ...item, encrypted_content: own.encrypted_content }];
  },
};

/** By route. */
export const PREFIX_WIRES: Readonly<Record<string, PrefixWire>> = {
  "/v1/chat/completions": CHAT,
  "/v1/messages": MESSAGES,
  "/v1/responses": RESPONSES,
};
