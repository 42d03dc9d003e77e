/**
 * Makes a conversation one that the model's template takes and shows whole. The rules are in docs/design/0015, in this
 * order; each is named when it changed something. A conversation that fits is passed on as it is.
 *
 * @module
 */
import { createHash } from "node:crypto";
import type { Conversation, Message, TextPart } from "../flow.ts";
import { toToolText, withCallsAsText, withResultAsText } from "./tool_text.ts";
import type { TemplateTraits } from "./template_traits.ts";

/** Names of the rules. */
export type PromptRepairName =
  | "results_moved_to_their_call"
  | "empty_assistant_turn_dropped"
  | "tools_written_as_text"
  | "calls_written_as_text"
  | "results_written_as_text"
  | "calls_parted"
  | "systems_merged"
  | "system_shown_as_user_text"
  | "turns_merged"
  | "opening_user_turn_added"
  | "assistant_turn_added"
  | "call_ids_shortened";

/** A rule and how often it changed something. */
export interface PromptRepair {
  /** Of the rule. */
  name: PromptRepairName;
  /** Turns, or ids. */
  count: number;
}

/** Repairs so far. */
type Note = (name: PromptRepairName, count?: number) => void;

/** Repairs a conversation. The given one is not changed. */
export function repairConversation(
  conversation: Conversation,
  traits: TemplateTraits,
): { conversation: Conversation; repairs: PromptRepair[] } {
  const counts = new Map<PromptRepairName, number>();
  const note: Note = (name, count = 1) => {
    if (count > 0) counts.set(name, (counts.get(name) ?? 0) + count);
  };
  const { tools, addGenerationPrompt } = conversation;
  let messages = moveResults(conversation.messages, note);
  messages = dropEmpty(messages, addGenerationPrompt, note);
  const writesTools = tools.length > 0 && !traits.tools;
  if (writesTools) {
    messages = [
      { role: "system", content: toParts(toToolText(tools, conversation.readsHermesCalls ?? false)) },
      ...messages,
    ];
    note("tools_written_as_text", tools.length);
  }
  if (!traits.calls) messages = writeCalls(messages, traits, note);
  else if (!traits.severalCalls) messages = partCalls(messages, note);
  messages = placeSystems(messages, traits, note);
  if (traits.alternates) messages = alternate(messages, note);
  if (traits.callIds === "nine") messages = shortenIds(messages, note);
  const repaired = { ...conversation, messages, ...(writesTools && { tools: [] }) };
  return { conversation: repaired, repairs: [...counts].map(([name, count]) => ({ name, count })) };
}

/** Results stand right behind the turn with their calls; what stood between comes after them. */
function moveResults(messages: readonly Message[], note: Note): Message[] {
  const ordered: Message[] = [];
  /** Where the results of a call go, by the call's id: behind the last turn of its group. */
  let group: { ids: Set<string>; end: number } | undefined;
  for (const message of messages) {
    if (message.role === "tool" && group?.ids.has(message.toolCallId ?? "")) {
      if (group.end < ordered.length) note("results_moved_to_their_call");
      ordered.splice(group.end++, 0, message);
      continue;
    }
    ordered.push(message);
    if (message.toolCalls !== undefined) {
      group = { ids: new Set(message.toolCalls.map(({ id }) => id)), end: ordered.length };
    }
  }
  return ordered;
}

/** An assistant turn that says, thinks and calls nothing teaches the model to do so. */
function dropEmpty(messages: readonly Message[], keepsLast: boolean, note: Note): Message[] {
  const kept = messages.filter((message, at) =>
    message.role !== "assistant" || message.toolCalls !== undefined || (message.reasoning ?? "") !== "" ||
    textOf(message).trim() !== "" || (!keepsLast && at === messages.length - 1)
  );
  note("empty_assistant_turn_dropped", messages.length - kept.length);
  return kept;
}

function writeCalls(messages: readonly Message[], { results }: TemplateTraits, note: Note): Message[] {
  return messages.map((message) => {
    if (message.toolCalls !== undefined) {
      note("calls_written_as_text");
      return withCallsAsText(message);
    }
    if (message.role !== "tool" || results) return message;
    note("results_written_as_text");
    return withResultAsText(message);
  });
}

/** One call a turn, each with its result behind it; results stand behind their calls already. */
function partCalls(messages: readonly Message[], note: Note): Message[] {
  const parted: Message[] = [];
  /** Calls that wait for the result before them, and the turn that made them. */
  let waiting: Message[] = [];
  for (const message of messages) {
    const [first, ...others] = message.toolCalls ?? [];
    if (message.role !== "tool") parted.push(...waiting.splice(0));
    if (first === undefined || others.length === 0) {
      parted.push(message);
      const id = message.toolCallId;
      const at = waiting.findIndex(({ toolCalls }) => toolCalls?.[0]?.id === id);
      if (message.role === "tool" && at >= 0) parted.splice(-1, 0, ...waiting.splice(at, 1));
      continue;
    }
    note("calls_parted");
    parted.push({ ...message, toolCalls: [first] });
    waiting = others.map((call) => ({ role: "assistant", content: [], toolCalls: [call] }));
  }
  return [...parted, ...waiting];
}

function placeSystems(messages: readonly Message[], traits: TemplateTraits, note: Note): Message[] {
  const firstOther = messages.findIndex(({ role }) => role !== "system");
  const leading = messages.slice(0, firstOther < 0 ? messages.length : firstOther);
  const rest = messages.slice(leading.length);
  const isSplit = leading.length > 1 && !traits.severalSystems;
  if (isSplit) note("systems_merged", leading.length);
  const merged = isSplit ? [joinTurns(leading)] : leading;
  const asUser = (message: Message): Message => {
    if (message.role !== "system") return message;
    note("system_shown_as_user_text");
    return { ...message, role: "user" };
  };
  const placed = traits.system === "anywhere" ? rest : rest.map(asUser);
  const isHidden = !traits.systemBeforeResults && placed.at(-1)?.role === "tool";
  return [...(traits.system === "none" || isHidden ? merged.map(asUser) : merged), ...placed];
}

/** User and assistant in turns. Calls and their results count as one turn of the assistant, which an answer ends. */
function alternate(messages: readonly Message[], note: Note): Message[] {
  const turns: Message[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    const mergesWith = last !== undefined && last.role === message.role && message.role !== "tool" &&
      last.toolCalls === undefined;
    if (mergesWith) {
      turns[turns.length - 1] = joinTurns([last, message]);
      note("turns_merged");
      continue;
    }
    if (message.role === "assistant" && (last === undefined || last.role === "system")) {
      turns.push({ role: "user", content: toParts(PLACEHOLDER) });
      note("opening_user_turn_added");
    }
    if (message.role === "user" && (last?.role === "tool" || last?.toolCalls !== undefined)) {
      turns.push({ role: "assistant", content: toParts(PLACEHOLDER) });
      note("assistant_turn_added");
    }
    turns.push(message);
  }
  return turns;
}

/** Text of a turn that only keeps the order: templates refuse turns without any. */
const PLACEHOLDER = "…";

/** Several turns of one role as one: texts a blank line apart. */
function joinTurns(turns: readonly Message[]): Message {
  const text = turns.map(textOf).filter((one) => one !== "").join("\n\n");
  const reasoning = turns.map((turn) => turn.reasoning ?? "").filter((one) => one !== "").join("\n\n");
  const calls = turns.flatMap(({ toolCalls }) => toolCalls ?? []);
  return {
    role: turns[0]?.role ?? "user",
    content: toParts(text),
    ...(reasoning !== "" && { reasoning }),
    ...(calls.length > 0 && { toolCalls: calls }),
  };
}

/** Ids as nine letters and digits: the id itself where it is that, else from its hash, so that they stay the same. */
function shortenIds(messages: readonly Message[], note: Note): Message[] {
  const short = new Map<string, string>();
  const used = new Set<string>();
  const shorten = (id: string): string => {
    let known = short.get(id);
    for (let salt = 0; known === undefined; salt++) {
      const candidate = salt === 0 && NINE.test(id) ? id : hashToNine(`${salt} ${id}`);
      if (!used.has(candidate)) known = candidate;
    }
    short.set(id, known);
    used.add(known);
    return known;
  };
  const shortened = messages.map((message) => ({
    ...message,
    ...(message.toolCalls && { toolCalls: message.toolCalls.map((call) => ({ ...call, id: shorten(call.id) })) }),
    ...(message.toolCallId !== undefined && { toolCallId: shorten(message.toolCallId) }),
  }));
  note("call_ids_shortened", [...short].filter(([id, known]) => id !== known).length);
  return shortened;
}

const NINE = /^[A-Za-z0-9]{9}$/;

function hashToNine(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 9);
}

function textOf({ content }: Message): string {
  return content.map(({ text }) => text).join("\n");
}

function toParts(text: string): TextPart[] {
  return text === "" ? [] : [{ type: "text", text }];
}
