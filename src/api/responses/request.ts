// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * POST /v1/responses: the request, from JSON to flow types. The way back is answer.ts.
 *
 * @module
 */
import { z } from "zod";
import type { Message, TextPart } from "../../flow.ts";
import type { JsonObject } from "../body.ts";
import { CONSTRAINT_FIELDS, CONSTRAINT_SHAPE } from "../constraint.ts";
import type { ConversationRequest } from "../conversation.ts";
import { RequestError } from "../errors.ts";
import { type FieldTable, IgnoredFields, isEmpty, LISTED, nothingIf, sortFields, WORKS } from "../fields.ts";
import { EXTENSION_FIELDS, LOGPROBS_TOP_MAX, SAMPLING_SHAPE, sortStreamOptions, tokenCount } from "../sampling.ts";
import { parseWith } from "../schema.ts";
import type { Seal } from "../seal.ts";
import { THINKING_FIELDS, withThinking } from "../thinking.ts";
import type { RequestEcho } from "./response.ts";
import {
  ADDITIONAL_TOOLS_FIELDS,
  type ItemReading,
  ITEMS_MAX,
  type PlacedItem,
  toItems,
  toTurns,
  typeOf,
} from "./items.ts";
import { type ReasoningDisplay, TEXT_SHAPE, toReasoningAsked, toTextConstraint } from "./text.ts";
import { type ResponsesTools, toResponsesTools } from "./tools.ts";

/** How to draw: the wire's own fields, and those that it shares with the others as extensions. */
const { n: _, max_tokens: __, ...DRAWING_SHAPE } = SAMPLING_SHAPE;

const DRAWING_FIELDS: FieldTable = Object.fromEntries(Object.keys(DRAWING_SHAPE).map((name) => [name, WORKS]));

/** What becomes of each field of a Responses request. */
export const RESPONSES_FIELDS: FieldTable = {
  ...DRAWING_FIELDS,
  ...EXTENSION_FIELDS,
  ...CONSTRAINT_FIELDS,
  ...THINKING_FIELDS,
  model: WORKS,
  input: WORKS,
  instructions: WORKS,
  max_output_tokens: WORKS,
  tools: WORKS,
  tool_choice: WORKS,
  parallel_tool_calls: WORKS,
  text: WORKS,
  include: WORKS,
  top_logprobs: WORKS,
  chat_template_kwargs: WORKS,
  previous_response_id: WORKS,
  store: WORKS,
  metadata: WORKS,

  // They would change the answer.
  background: {
    rule: "refused",
    why: "answers are made while the client waits, streamed or not",
    judge: nothingIf(false),
  },
  conversation: { rule: "refused", why: "this server keeps responses: refer to one by `previous_response_id`" },
  prompt: { rule: "refused", why: "this server keeps no prompts: send it as `instructions` and `input`" },

  // They do not, or are what agents send in every request.
  access_programs: LISTED,
  background_options: LISTED,
  client_metadata: LISTED,
  context_management: { rule: "listed", asksNothing: isEmpty },
  draft: LISTED,
  image: LISTED,
  max_tool_calls: LISTED, // of tools that OpenAI's servers run
  moderation: LISTED,
  personality: LISTED,
  prompt_cache_key: LISTED,
  prompt_cache_options: LISTED,
  prompt_cache_retention: LISTED,
  safety_identifier: LISTED,
  service_tier: LISTED,
  truncation: { rule: "listed", asksNothing: (value) => value === "disabled" },
  user: LISTED,
};

const INCLUDE_LOGPROBS = "message.output_text.logprobs";
const INCLUDE_ENCRYPTED = "reasoning.encrypted_content";

/** Most entries of `metadata`, and their lengths: OpenAI's bounds. */
const METADATA_MAX = 16;
const METADATA_KEY_MAX = 64;
const METADATA_VALUE_MAX = 512;

const Fields = z.object({
  ...DRAWING_SHAPE,
  ...CONSTRAINT_SHAPE,
  ...TEXT_SHAPE,
  model: z.string("expected a model id").max(512, "expected a model id of at most 512 characters").optional(),
  input: z.unknown().optional(),
  instructions: z.string("expected a string").optional(),
  max_output_tokens: tokenCount.optional(),
  tools: z.unknown().optional(),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: z.boolean("expected true or false").optional(),
  include: z.array(z.string("expected a string"), "expected a list of strings").max(64).optional(),
  top_logprobs: z.number().int().min(0, `expected 0 to ${LOGPROBS_TOP_MAX}`)
    .max(LOGPROBS_TOP_MAX, `expected 0 to ${LOGPROBS_TOP_MAX}`).optional(),
  chat_template_kwargs: z.record(z.string(), z.unknown(), "expected an object of template variables").optional(),
  previous_response_id: z.string("expected the id of a response").min(1).max(256).optional(),
  store: z.boolean("expected true or false").optional(),
  metadata: z.record(
    z.string().max(METADATA_KEY_MAX, `expected keys of at most ${METADATA_KEY_MAX} characters`),
    z.string("expected a string").max(METADATA_VALUE_MAX, `expected at most ${METADATA_VALUE_MAX} characters`),
    "expected an object of strings",
  ).refine((map) => Object.keys(map).length <= METADATA_MAX, `expected at most ${METADATA_MAX} entries`).optional(),
});

/** A body as clients write it, without nulls: those are fields that are not there. */
export type ResponsesBody = z.input<typeof Fields>;

/** What is known of earlier responses. @throws {RequestError} If they are not there for this client. */
export interface KnownItems {
  /** The items of a response and of all before it, in order, its own answer included. */
  conversationOf(responseId: string): readonly JsonObject[];
  /** An item that this server gave. */
  itemOf(id: string, param: string): JsonObject;
}

/** A Responses request, checked. */
export interface ResponsesRequest extends ConversationRequest {
  /** Where thinking is shown. */
  display: ReasoningDisplay;
  /** Thinking is given sealed as well, for a client that keeps it. */
  sealsReasoning: boolean;
  /** The response is to be kept. */
  store: boolean;
  /** What this request adds to the conversation, for the store. */
  items: readonly JsonObject[];
  /** As what calls leave. */
  tools: ResponsesTools;
  /** What the answer repeats of the request. */
  echo: RequestEcho;
}

/**
 * Reads a body.
 *
 * @throws {RequestError} For the first field that can't be used.
 */
export function parseResponsesRequest(body: JsonObject, seal: Seal, known: KnownItems): ResponsesRequest {
  const ignored = new IgnoredFields();
  const fields = parseWith(Fields, sortFields(RESPONSES_FIELDS, body, ignored));
  sortStreamOptions(fields, ignored);
  const templateArguments = fields.chat_template_kwargs ?? {};
  const { thinking, display, summary } = toReasoningAsked(fields, templateArguments, ignored);
  const constraint = toTextConstraint(fields, ignored);
  const include = toInclude(fields.include ?? [], ignored);
  const logprobsTop = include.logprobs || (fields.top_logprobs ?? 0) > 0 ? fields.top_logprobs ?? 0 : undefined;
  const own = toItems(fields.input).map((placed) => toOwn(placed, known));
  const all = [...toEarlier(fields.previous_response_id, known), ...own];
  const { tools, messages } = readConversation(fields, all, { seal, ignored });
  const { head, toolUse } = tools.offer(fields.tool_choice, fields.parallel_tool_calls);
  return {
    ...(fields.model !== undefined && { model: fields.model }),
    conversation: {
      messages,
      tools: head,
      templateArguments: withThinking(templateArguments, thinking),
      addGenerationPrompt: true,
    },
    toolUse,
    ...(constraint && { constraint }),
    thinking,
    argumentFields: {
      enable_thinking: fields.enable_thinking === undefined ? "reasoning.effort" : "enable_thinking",
      reasoning_effort: fields.reasoning_effort === undefined ? "reasoning.effort" : "reasoning_effort",
    },
    sampling: fields,
    ...(fields.max_output_tokens !== undefined && { maxTokens: fields.max_output_tokens }),
    maxTokensField: "max_output_tokens",
    ...(logprobsTop !== undefined && { logprobsTop }),
    choiceCount: 1,
    stream: fields.stream ?? false,
    includeUsage: true,
    ignored,
    display,
    sealsReasoning: include.encrypted,
    store: fields.store ?? true,
    items: own.map(({ item }) => item),
    tools,
    echo: {
      ...toEcho(fields),
      reasoning: { effort: thinking.effort ?? null, summary },
      top_logprobs: logprobsTop ?? 0,
    },
  };
}

function toEcho(fields: z.output<typeof Fields>): Omit<RequestEcho, "reasoning" | "top_logprobs"> {
  return {
    instructions: fields.instructions ?? null,
    max_output_tokens: fields.max_output_tokens ?? null,
    metadata: fields.metadata ?? {},
    parallel_tool_calls: fields.parallel_tool_calls ?? true,
    previous_response_id: fields.previous_response_id ?? null,
    store: fields.store ?? true,
    temperature: fields.temperature ?? null,
    text: fields.text ?? { format: { type: "text" } },
    tool_choice: fields.tool_choice ?? "auto",
    tools: fields.tools ?? [],
    top_p: fields.top_p ?? null,
  };
}

/** What is to be given beside the answer; the rest is of tools that OpenAI's servers run. */
function toInclude(include: readonly string[], ignored: IgnoredFields): { logprobs: boolean; encrypted: boolean } {
  if (include.some((name) => name !== INCLUDE_LOGPROBS && name !== INCLUDE_ENCRYPTED)) ignored.add("include");
  return { logprobs: include.includes(INCLUDE_LOGPROBS), encrypted: include.includes(INCLUDE_ENCRYPTED) };
}

function toEarlier(responseId: string | undefined, known: KnownItems): PlacedItem[] {
  const path = "previous_response_id";
  return responseId === undefined ? [] : known.conversationOf(responseId).map((item) => ({ item, path }));
}

/** An item that is referred to is the item. */
function toOwn({ item, path }: PlacedItem, known: KnownItems): PlacedItem {
  if (typeOf(item) !== "item_reference") return { item, path };
  const id = parseWith(z.string("expected the id of an item").min(1).max(256), item.id, `${path}.id`);
  return { item: known.itemOf(id, `${path}.id`), path };
}

function readConversation(
  fields: z.output<typeof Fields>,
  items: readonly PlacedItem[],
  { seal, ignored }: Omit<ItemReading, "tools">,
): { tools: ResponsesTools; messages: Message[] } {
  if (items.length > ITEMS_MAX) {
    const message = `Invalid request body: \`input\`: expected at most ${ITEMS_MAX} items, earlier ones included.`;
    throw new RequestError("invalid_request", message, { param: "input" });
  }
  // Tools that come before anything is said are those of the head.
  const said = items.findIndex(({ item }) => typeOf(item) !== "additional_tools");
  const first = said < 0 ? items : items.slice(0, said);
  const added = first.map(({ item, path }) => (
    {
      value: sortFields(ADDITIONAL_TOOLS_FIELDS, item, ignored, path, "input[]").tools ?? [],
      path: `${path}.tools`,
      listedPath: "input[].tools",
    }
  ));
  const declared = { value: fields.tools ?? [], path: "tools", listedPath: "tools" };
  const tools = toResponsesTools([declared, ...added], ignored);
  const turns = toTurns(items.slice(first.length), { tools, seal, ignored });
  const instructions: TextPart[] = fields.instructions ? [{ type: "text", text: fields.instructions }] : [];
  const messages: Message[] = [
    ...(instructions.length > 0 ? [{ role: "system" as const, content: instructions }] : []),
    ...turns,
  ];
  if (messages.length > 0) return { tools, messages };
  const message = "Invalid request body: `input`: expected a string or at least one item; found nothing to answer.";
  throw new RequestError("invalid_request", message, { param: "input" });
}
