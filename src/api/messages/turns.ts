// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * `system` and `messages` of a Messages request → turns of a conversation.
 *
 * Shapes that say the same become the same turns: a string and a list with one text, a thinking block with its text or
 * sealed, a call as it was made or as a client wrapped it. A user's message is its results, then one turn of its texts.
 *
 * @module
 */
import { z } from "zod";
import type { Message, TextPart, ToolCall } from "../../flow.ts";
import { type JsonObject, toJsonText, toSafeName } from "../body.ts";
import { RequestError } from "../errors.ts";
import { type FieldTable, LISTED, sortFields, WORKS } from "../fields.ts";
import { CALLS_MAX, MESSAGES_MAX } from "../messages.ts";
import { parseWith } from "../schema.ts";
import { type BlockPlace, CONTENT, type RawBlock, type Reading, TEXT_FIELDS, toText, toTexts } from "./blocks.ts";

const ROLES = ["user", "assistant", "system"] as const;

/** What becomes of a message's fields. */
export const MESSAGE_FIELDS: FieldTable = { role: WORKS, content: WORKS, clear_at: WORKS, output_config: LISTED };

/** What becomes of the fields of a call. */
export const TOOL_USE_FIELDS: FieldTable = {
  type: WORKS,
  id: WORKS,
  name: WORKS,
  input: WORKS,
  cache_control: LISTED,
  // As this server gives it; another calls from code that it ran.
  caller: { rule: "listed", asksNothing: (caller) => Reflect.get(Object(caller), "type") === "direct" },
  toolset_name: LISTED,
};

/** What becomes of the fields of a result. */
export const TOOL_RESULT_FIELDS: FieldTable = {
  type: WORKS,
  tool_use_id: WORKS,
  content: WORKS,
  is_error: WORKS,
  cache_control: LISTED,
  toolset_name: LISTED,
};

/** What becomes of the fields of a thinking block. */
export const THINKING_FIELDS: FieldTable = { type: WORKS, thinking: WORKS, signature: WORKS };

/** What becomes of the fields of a redacted thinking block: nothing in it can be read. */
export const REDACTED_FIELDS: FieldTable = { type: WORKS, data: LISTED };

const id = z.string("expected the id of the call").min(1, "expected the id of the call").max(256);
const Messages = z.array(z.looseObject({ role: z.enum(ROLES, `expected one of ${ROLES.join(", ")}`) }))
  .min(1, "expected at least one message").max(MESSAGES_MAX, `expected at most ${MESSAGES_MAX} messages`);
const Content = z.object({ content: CONTENT.optional(), clear_at: z.string().optional() });
const Text = z.object({ text: z.string("expected a string") });
const ToolUse = z.object({
  id,
  name: z.string("expected the name of the tool").min(1).max(256),
  input: z.unknown().optional(),
});
const ToolResult = z.object({ tool_use_id: id, content: CONTENT.optional(), is_error: z.boolean().optional() });
const Thinking = z.object({ thinking: z.string().optional(), signature: z.string().optional() });
const Unparsed = z.object({ __unparsedToolInput: z.looseObject({ raw: z.string() }) });

/** The first line of Claude Code's system prompt, whose hash differs from conversation to conversation. */
const BILLING_LINE = /^x-anthropic-billing-header:[^\n]*(?:\n|$)/;

/** Name under which thinking of another server's signing is listed. */
export const FOREIGN_SIGNATURE = "messages[].content[].signature";

/** Reads `system`. @throws {RequestError} With the path of the field at fault. */
export function toSystem(value: unknown, reading: Reading): Message[] {
  if (value === undefined) return [];
  const place = { path: "system", listedPath: "system", isNewest: false };
  const parts = toTexts(parseWith(CONTENT, value, "system"), place, reading);
  const texts = parts.map(({ text }) => text.replace(BILLING_LINE, ""));
  if (texts.some((text, at) => text !== parts[at]?.text)) reading.ignored.add("system.x-anthropic-billing-header");
  const content = texts.filter((text) => text !== "").map((text): TextPart => ({ type: "text", text }));
  return content.length === 0 ? [] : [{ role: "system", content }];
}

/** Reads `messages`. @throws {RequestError} With the path of the field at fault. */
export function toTurns(value: unknown, reading: Reading): Message[] {
  const messages = parseWith(Messages, value, "messages");
  const newest = messages.findLastIndex(({ role }) => role === "user");
  return messages.flatMap((message, index): Message[] => {
    const path = `messages[${index}]`;
    const fields = sortFields(MESSAGE_FIELDS, message, reading.ignored, path, "messages[]");
    const { content = "", clear_at } = parseWith(Content, fields, path);
    const clears = message.role === "system" && clear_at === "next_user_message";
    if (clear_at !== undefined && !clears) reading.ignored.add("messages[].clear_at");
    const isNewest = index === newest && !hasResult(content);
    const place = { path: `${path}.content`, listedPath: "messages[].content", isNewest };
    if (message.role === "assistant") return [toAssistant(content, place, reading)];
    if (message.role === "system") {
      const texts = toTexts(content, place, reading);
      // Shown for the turn that it stands in only.
      if (clears && index < newest) return [];
      return texts.length === 0 ? [] : [{ role: "system", content: texts }];
    }
    return toUserTurns(content, place, reading);
  });
}

/** Beside results, agents put pictures and files that a tool has read: nobody's question is about them. */
function hasResult(content: string | readonly RawBlock[]): boolean {
  return typeof content !== "string" && content.some(({ type }) => type === "tool_result");
}

/** Results first: they answer the calls before them. */
function toUserTurns(content: string | readonly RawBlock[], place: BlockPlace, reading: Reading): Message[] {
  if (typeof content === "string") return [{ role: "user", content: toTexts(content, place, reading) }];
  const results: Message[] = [];
  const texts: TextPart[] = [];
  content.forEach((block, index) => {
    const at = { ...place, path: `${place.path}[${index}]`, listedPath: `${place.listedPath}[]` };
    if (block.type === "tool_result") results.push(toResult(block, at, reading));
    else texts.push(toText(block, at, reading));
  });
  const said = texts.filter(({ text }) => text !== "");
  return results.length > 0 && said.length === 0 ? results : [...results, { role: "user", content: said }];
}

function toResult(block: RawBlock, { path, listedPath }: BlockPlace, reading: Reading): Message {
  const fields = sortFields(TOOL_RESULT_FIELDS, block, reading.ignored, path, listedPath);
  const { tool_use_id, content = "", is_error = false } = parseWith(ToolResult, fields, path);
  const inside = { path: `${path}.content`, listedPath: `${listedPath}.content`, isNewest: false };
  const texts = toTexts(content, inside, reading);
  return { role: "tool", content: is_error ? toErrorTexts(texts) : texts, toolCallId: tool_use_id };
}

/** A model knows of a failure by its words only. */
function toErrorTexts(texts: readonly TextPart[]): TextPart[] {
  const [first, ...rest] = texts;
  const text = first?.text.trim() ?? "";
  if (/^(?:<tool_use_error>|error\b)/i.test(text)) return [...texts];
  return [{ type: "text", text: text === "" ? "Error" : `Error: ${first?.text ?? ""}` }, ...rest];
}

/** What an assistant's turn consists of so far. */
interface AssistantDraft {
  text: string;
  reasoning: string;
  calls: ToolCall[];
}

function toAssistant(content: string | readonly RawBlock[], place: BlockPlace, reading: Reading): Message {
  const draft: AssistantDraft = { text: "", reasoning: "", calls: [] };
  if (typeof content === "string") draft.text = content;
  else {
    content.forEach((block, index) => {
      addBlock(
        draft,
        block,
        { ...place, path: `${place.path}[${index}]`, listedPath: `${place.listedPath}[]` },
        reading,
      );
    });
  }
  const { text, reasoning, calls } = draft;
  if (calls.length > CALLS_MAX) {
    const message = `Invalid request body: \`${place.path}\`: expected at most ${CALLS_MAX} calls.`;
    throw new RequestError("invalid_request", message, { param: place.path });
  }
  return {
    role: "assistant",
    content: text === "" ? [] : [{ type: "text", text }],
    ...(reasoning !== "" && { reasoning }),
    ...(calls.length > 0 && { toolCalls: calls }),
  };
}

/** Texts of a turn are joined as they are: where the model wrote them in one piece, it was one piece. */
function addBlock(draft: AssistantDraft, block: RawBlock, { path, listedPath }: BlockPlace, reading: Reading): void {
  const sort = (table: FieldTable): JsonObject => sortFields(table, block, reading.ignored, path, listedPath);
  switch (block.type) {
    case "text":
      draft.text += parseWith(Text, sort(TEXT_FIELDS), path).text;
      break;
    case "thinking":
      draft.reasoning += toReasoning(parseWith(Thinking, sort(THINKING_FIELDS), path), path, reading);
      break;
    case "redacted_thinking":
      sort(REDACTED_FIELDS);
      break;
    case "tool_use": {
      const { id, name, input } = parseWith(ToolUse, sort(TOOL_USE_FIELDS), path);
      draft.calls.push({ id, name, arguments: toArguments(input) });
      break;
    }
    default: // what Anthropic's servers did; words in the model's mouth would teach it to write them
      reading.ignored.add(`${listedPath}.${toSafeName(block.type)}`);
  }
}

/** The thinking of a block: sealed ones are opened, signed ones have to be as they were given, others are taken. */
function toReasoning(block: z.output<typeof Thinking>, path: string, { seal, ignored }: Reading): string {
  const { thinking = "", signature = "" } = block;
  if (signature === "") return thinking;
  const opened = seal.open(signature, thinking);
  if (opened.state === "sealed") return opened.text;
  if (opened.state === "altered") {
    const message =
      `Invalid request body: \`${path}.signature\` does not fit the block: send thinking as it was given.`;
    throw new RequestError("invalid_request", message, { param: `${path}.signature` });
  }
  if (opened.state === "foreign") ignored.add(FOREIGN_SIGNATURE);
  return thinking;
}

/** Arguments as JSON text. Claude Code wraps what it could not parse. */
function toArguments(input: unknown): string {
  if (input === undefined) return "{}";
  const { data } = Unparsed.safeParse(input);
  const text = data?.__unparsedToolInput.raw ?? (typeof input === "string" ? input : undefined);
  if (text === undefined) return toJsonText(input);
  if (text.trim() === "") return "{}";
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return text;
  } catch {
    // Templates want an object: the text is kept inside one.
  }
  return JSON.stringify({ unparsed: text });
}
