/**
 * Tools, calls and results as plain text, for models whose template has no place for them.
 *
 * The form is the one that Hermes models were taught and that most small models know: JSON between tags. The profile of
 * such a model names `hermes`, so what it writes back is read.
 *
 * @module
 */
import type { Message, Tool } from "../flow.ts";

/** What tools there are, and how one is called. @param withForm False for models that know a form of their own. */
export function toToolText(tools: readonly Tool[], withForm: boolean): string {
  const lines = tools.map(({ name, description, parameters }) => (
    JSON.stringify({ type: "function", function: { name, description, parameters } })
  ));
  return [
    "You can call these functions:",
    "<tools>",
    ...lines,
    "</tools>",
    ...withForm ? FORM : [],
  ].join("\n");
}

const FORM: readonly string[] = [
  "To call one, write its name and arguments as JSON between tags, like this:",
  "<tool_call>",
  '{"name": "NAME", "arguments": {"ARGUMENT": "VALUE"}}',
  "</tool_call>",
];

/** An assistant turn whose calls stand in its text. */
export function withCallsAsText(message: Message): Message {
  const { toolCalls = [], ...turn } = message;
  const calls = toolCalls.map(({ name, arguments: json }) =>
    `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${json}}\n</tool_call>`
  );
  const text = [...turn.content.map((part) => part.text), ...calls].join("\n");
  return { ...turn, content: [{ type: "text", text }] };
}

/** A result as the user's text. */
export function withResultAsText(message: Message): Message {
  const text = message.content.map((part) => part.text).join("\n");
  return { role: "user", content: [{ type: "text", text: `<tool_response>\n${text}\n</tool_response>` }] };
}
