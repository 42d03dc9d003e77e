/**
 * Finds the turns of a conversation that this server answered, and gives them back what clients lose: the reasoning,
 * and calls as they were written. What a client has changed stays as the client has it.
 *
 * @module
 */
import type { Conversation, Message, Tool, ToolCall } from "../../flow.ts";
import { isSameArguments } from "./same_arguments.ts";
import { ConversationKey, type OwnTurns, toCallKey } from "./store.ts";
import type { KeptTurn } from "./turn.ts";

/** A conversation with its own turns. */
export interface RestoredConversation {
  /** To be rendered. */
  conversation: Conversation;
  /** The turns that came back whole, in order. */
  turns: KeptTurn[];
  /** Key of the answer, if it makes no calls. */
  answerKey: (content: string) => string;
}

/** Restores a conversation; the given one is not changed. @param tools Those that may be called. */
export function restoreTurns(
  conversation: Conversation,
  tools: readonly Tool[],
  own: OwnTurns,
): RestoredConversation {
  const schemas = new Map(tools.map(({ name, parameters }) => [name, parameters]));
  const turns: KeptTurn[] = [];
  const key = new ConversationKey();
  const last = conversation.messages.length - 1;
  const messages = conversation.messages.map((message, at): Message => {
    key.add(message);
    // A turn that is to be gone on with is not whole.
    if (message.role !== "assistant" || (at === last && !conversation.addGenerationPrompt)) return message;
    const [first] = message.toolCalls ?? [];
    const turn = own.get(first === undefined ? key.toString() : toCallKey(first.id));
    if (turn === undefined || !isSameTurn(turn, message, schemas)) return restoreCalls(message, schemas, own);
    turns.push(turn);
    return toMessage(turn, message);
  });
  return {
    conversation: { ...conversation, messages },
    turns,
    answerKey: (content) => key.with({ role: "assistant", content: [{ type: "text", text: content }] }),
  };
}

type Schemas = ReadonlyMap<string, Record<string, unknown> | undefined>;

function isSameTurn(turn: KeptTurn, message: Message, schemas: Schemas): boolean {
  const { content, reasoning = "", toolCalls = [] } = message;
  const text = content.map((part) => part.text).join("\n");
  const thinksTheSame = reasoning.trim() === "" || reasoning.trim() === turn.reasoning.trim();
  return thinksTheSame && text.trim() === turn.content.trim() && toolCalls.length === turn.calls.length &&
    toolCalls.every((call, at) => isSameCall(turn.calls[at], call, schemas));
}

function isSameCall(kept: ToolCall | undefined, call: ToolCall, schemas: Schemas): kept is ToolCall {
  return kept !== undefined && kept.id === call.id && kept.name === call.name &&
    isSameArguments(kept.arguments, call.arguments, schemas.get(call.name));
}

function toMessage({ content, reasoning, calls }: KeptTurn, message: Message): Message {
  const { reasoning: _, ...turn } = message;
  return {
    ...turn,
    content: content === "" ? [] : [{ type: "text", text: content }],
    ...(reasoning !== "" && { reasoning }),
    ...(calls.length > 0 && { toolCalls: [...calls] }),
  };
}

/** A turn that came back in parts or with another text: its calls are still ours, one by one. */
function restoreCalls(message: Message, schemas: Schemas, own: OwnTurns): Message {
  if (message.toolCalls === undefined) return message;
  const toolCalls = message.toolCalls.map((call) => {
    const kept = own.get(toCallKey(call.id))?.calls.find(({ id }) => id === call.id);
    return isSameCall(kept, call, schemas) ? kept : call;
  });
  return { ...message, toolCalls };
}
