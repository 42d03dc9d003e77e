/**
 * What a chat template can render, found by rendering small conversations with it.
 *
 * A template may refuse a conversation, or drop a part of it without a word; both count as "can't". Nothing is read
 * from its source, so a template that was edited is judged by what it does.
 *
 * @module
 */
import type { Conversation, Message, Tool } from "../flow.ts";
import { TemplateError } from "./errors.ts";

/** What a template can render. */
export interface TemplateTraits {
  /** System turns: at any place, as the first turn, or not at all. */
  system: "anywhere" | "first" | "none";
  /** Several system turns at the beginning stay apart. */
  severalSystems: boolean;
  /** System turns are shown where a result is the last turn, too: some templates show them with the last user turn. */
  systemBeforeResults: boolean;
  /** User and assistant turns must take turns. */
  alternates: boolean;
  /** Declared tools are shown. */
  tools: boolean;
  /** Calls of assistant turns are shown. */
  calls: boolean;
  /** A turn may make several calls. */
  severalCalls: boolean;
  /** Results are shown. */
  results: boolean;
  /** Arguments of calls are wanted as JSON text, not as a value. */
  argumentsAsText: boolean;
  /** Ids of calls: as clients send them, or nine letters and digits only. */
  callIds: "any" | "nine";
}

const PROBE: Tool = {
  name: "zq_probe",
  description: "zqdescription",
  parameters: { type: "object", properties: { text: { type: "string" } } },
};

const turn = (role: Message["role"], text: string): Message => ({ role, content: [{ type: "text", text }] });

const calling = (...ids: string[]): Message[] => [
  turn("user", "zquser"),
  {
    role: "assistant",
    content: [],
    toolCalls: ids.map((id, at) => ({ id, name: PROBE.name, arguments: `{"text": "zqargument${at}"}` })),
  },
  ...ids.map((id, at): Message => ({ ...turn("tool", `zqresult${at}`), toolCallId: id })),
];

/** A template that takes all: also for one that can't be judged, because it does not even render one user turn. */
export const FREE_TRAITS: TemplateTraits = {
  system: "anywhere",
  severalSystems: true,
  systemBeforeResults: true,
  alternates: false,
  tools: true,
  calls: true,
  severalCalls: true,
  results: true,
  argumentsAsText: false,
  callIds: "any",
};

/** Gives the prompt of a conversation. @throws {TemplateError} If the template refuses it. */
export type ProbeRender = (conversation: Conversation, argumentsAsText: boolean) => string;

/** Finds them. */
export function findTraits(render: ProbeRender): TemplateTraits {
  const shows = (messages: Message[]): boolean => showsAll(tryRender(render, messages, []), toTexts(messages));
  if (!shows([turn("user", "zquser1")])) return FREE_TRAITS;
  const [first, second] = [turn("user", "zquser1"), turn("user", "zquser2")];
  const [one, two] = [turn("system", "zqsystem1"), turn("system", "zqsystem2")];
  const answer = turn("assistant", "zqanswer1");
  const anywhere = shows([first, answer, two, second]) && shows([one, first]);
  const calls = findCallTraits(render);
  const results = calling(calls.callIds === "nine" ? "zq0123456" : "call_zq0123456789");
  const withResults = tryRender(render, [one, ...results], [PROBE], calls.argumentsAsText);
  return {
    system: anywhere ? "anywhere" : shows([one, first]) ? "first" : "none",
    severalSystems: shows([one, two, first]),
    systemBeforeResults: !calls.calls || !shows([one, first]) || showsAll(withResults, ["zqsystem1"]),
    alternates: !shows([first, second]) || !shows([first, answer, turn("assistant", "zqanswer2"), second]),
    tools: tryRender(render, [first], [PROBE])?.includes("zqdescription") ?? false,
    ...calls,
  };
}

type CallTraits = Pick<TemplateTraits, "calls" | "severalCalls" | "results" | "argumentsAsText" | "callIds">;

/** The first way to write calls that shows them and their results; else the one that shows results at least. */
function findCallTraits(
  render: ProbeRender,
): CallTraits {
  const ways = [["any", false], ["nine", false], ["any", true], ["nine", true]] as const;
  const shows = (texts: string[]): (typeof ways)[number] | undefined =>
    ways.find(([ids, asText]) => {
      const messages = calling(ids === "nine" ? "zq0123456" : "call_zq0123456789");
      return showsAll(tryRender(render, messages, [PROBE], asText), texts);
    });
  const whole = shows(["zquser", "zqargument0", "zqresult0"]);
  if (whole !== undefined) {
    const two = tryRender(render, calling("zq0123456", "zq0123457"), [PROBE], whole[1]);
    const severalCalls = showsAll(two, ["zqargument0", "zqargument1", "zqresult0", "zqresult1"]);
    return { calls: true, severalCalls, results: true, callIds: whole[0], argumentsAsText: whole[1] };
  }
  const messages = [turn("user", "zquser"), turn("assistant", "zqanswer"), calling("zq0123456")[2]].flatMap((one) => (
    one === undefined ? [] : [one]
  ));
  const results = showsAll(tryRender(render, messages, [PROBE]), toTexts(messages));
  return { calls: false, severalCalls: true, results, callIds: "any", argumentsAsText: false };
}

function toTexts(messages: readonly Message[]): string[] {
  return messages.flatMap(({ content }) => content.map(({ text }) => text));
}

/** Whether every text is in the prompt, in this order. */
function showsAll(prompt: string | undefined, texts: readonly string[]): boolean {
  if (prompt === undefined) return false;
  let at = 0;
  return texts.every((text) => (at = prompt.indexOf(text, at)) >= 0);
}

function tryRender(
  render: ProbeRender,
  messages: Message[],
  tools: Tool[],
  argumentsAsText = false,
): string | undefined {
  try {
    return render({ messages, tools, templateArguments: {}, addGenerationPrompt: true }, argumentsAsText);
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}
