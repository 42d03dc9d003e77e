// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * POST /v1/messages and /v1/messages/count_tokens: the request, from JSON to flow types. The way back is answer.ts.
 *
 * @module
 */
import { z } from "zod";
import type { JsonObject } from "../body.ts";
import type { ConversationRequest } from "../conversation.ts";
import { RequestError } from "../errors.ts";
import { type FieldTable, IgnoredFields, LISTED, sortFields, WORKS } from "../fields.ts";
import { EXTENSION_FIELDS, SAMPLING_SHAPE, stopStrings, tokenCount } from "../sampling.ts";
import { parseWith } from "../schema.ts";
import type { Seal } from "../seal.ts";
import { THINKING_FIELDS, withThinking } from "../thinking.ts";
import type { Reading } from "./blocks.ts";
import { THINKING_OUTPUT_SHAPE, type ThinkingDisplay, toThinkingAndOutput } from "./thinking.ts";
import { toConversationTools, toMessagesToolUse } from "./tools.ts";
import { toSystem, toTurns } from "./turns.ts";

/** How to draw: the wire's own fields, and those that it shares with the others as extensions. */
const DRAWING_SHAPE = {
  temperature: SAMPLING_SHAPE.temperature,
  top_p: SAMPLING_SHAPE.top_p,
  top_k: SAMPLING_SHAPE.top_k,
  min_p: SAMPLING_SHAPE.min_p,
  repetition_penalty: SAMPLING_SHAPE.repetition_penalty,
  presence_penalty: SAMPLING_SHAPE.presence_penalty,
  frequency_penalty: SAMPLING_SHAPE.frequency_penalty,
  logit_bias: SAMPLING_SHAPE.logit_bias,
  seed: SAMPLING_SHAPE.seed,
} as const;

const DRAWING_FIELDS: FieldTable = Object.fromEntries(Object.keys(DRAWING_SHAPE).map((name) => [name, WORKS]));

/** What becomes of each field of a Messages request. */
export const MESSAGES_FIELDS: FieldTable = {
  ...DRAWING_FIELDS,
  ...EXTENSION_FIELDS,
  ...THINKING_FIELDS,
  model: WORKS,
  messages: WORKS,
  system: WORKS,
  max_tokens: WORKS,
  stop_sequences: WORKS,
  stream: WORKS,
  tools: WORKS,
  tool_choice: WORKS,
  output_config: WORKS,
  output_format: WORKS,
  chat_template_kwargs: WORKS,

  // They do not, or are what agents send in every request.
  anthropic_beta: LISTED,
  betas: LISTED,
  billing_policy: LISTED,
  cache_control: LISTED,
  compaction: LISTED,
  container: LISTED,
  context_management: { rule: "listed", asksNothing: keepsAll },
  diagnostics: LISTED,
  draft: LISTED,
  fallback_credit_token: LISTED,
  fallbacks: LISTED,
  inference_geo: LISTED,
  mcp_servers: LISTED, // like tools that other servers run: the model can do without
  metadata: LISTED,
  service_tier: LISTED,
  speed: LISTED,
  thread: LISTED, // one that begins; see requireWhole
  user_profile_id: LISTED,
  workspace_id: LISTED,
};

/** Claude Code asks with every request that thinking be kept, which it is. */
function keepsAll(value: unknown): boolean {
  const edits: unknown = Reflect.get(Object(value), "edits");
  return Array.isArray(edits) &&
    edits.every((edit) => /^clear_thinking_/.test(String(Object(edit).type)) && Object(edit).keep === "all");
}

const Fields = z.object({
  ...DRAWING_SHAPE,
  ...THINKING_OUTPUT_SHAPE,
  model: z.string("expected a model id").max(512, "expected a model id of at most 512 characters").optional(),
  messages: z.unknown(),
  system: z.unknown().optional(),
  max_tokens: tokenCount.optional(),
  // An empty one ends nothing; some clients send it.
  stop_sequences: z.array(z.string("expected a string"), "expected a list of strings")
    .transform((list) => list.filter((text) => text !== "")).pipe(stopStrings).optional(),
  stream: z.boolean("expected true or false").optional(),
  tools: z.unknown().optional(),
  tool_choice: z.unknown().optional(),
  chat_template_kwargs: z.record(z.string(), z.unknown(), "expected an object of template variables").optional(),
});

/** A body as clients write it, without nulls: those are fields that are not there. */
export type MessagesBody = z.input<typeof Fields>;

/** A Messages request, checked. */
export interface MessagesRequest extends ConversationRequest {
  /** What the client sees of the thinking. */
  display: ThinkingDisplay;
}

/**
 * Reads a body. Both routes take the same, so that a count is the count of what would be answered.
 *
 * @throws {RequestError} For the first field that can't be used.
 */
export function parseMessagesRequest(body: JsonObject, seal: Seal): MessagesRequest {
  const ignored = new IgnoredFields();
  requireWhole(body.thread);
  const fields = parseWith(Fields, sortFields(MESSAGES_FIELDS, body, ignored));
  const templateArguments = fields.chat_template_kwargs ?? {};
  const { thinking, display, argumentFields, constraint } = toThinkingAndOutput(fields, templateArguments, ignored);
  const tools = toConversationTools(fields.tools ?? [], ignored);
  const reading: Reading = { tools, seal, ignored };
  const messages = [...toSystem(fields.system, reading), ...toTurns(fields.messages, reading)];
  const { head, toolUse } = toMessagesToolUse(tools, fields.tool_choice, ignored);
  const last = messages.at(-1);
  return {
    ...(fields.model !== undefined && { model: fields.model }),
    conversation: {
      messages,
      tools: head,
      templateArguments: withThinking(templateArguments, thinking),
      // An assistant's text at the end is gone on with; what only calls or thinks is a turn that is over.
      addGenerationPrompt: last?.role !== "assistant" || last.toolCalls !== undefined || last.content.length === 0,
    },
    toolUse,
    ...(constraint && { constraint }),
    thinking,
    argumentFields,
    sampling: { ...fields, ...(fields.stop_sequences !== undefined && { stop: fields.stop_sequences }) },
    ...(fields.max_tokens !== undefined && { maxTokens: fields.max_tokens }),
    maxTokensField: "max_tokens",
    choiceCount: 1,
    stream: fields.stream ?? false,
    includeUsage: true,
    ignored,
    display,
  };
}

/**
 * A thread that goes on sends its new messages alone, and this server keeps none of the others. The tool runners of the
 * package begin a thread with each loop: told so, they send the whole conversation.
 */
function requireWhole(thread: unknown): void {
  if (Reflect.get(Object(thread), "type") !== "continue") return;
  const message = "This server keeps no threads on this wire: send the whole of `messages`, without `thread`.";
  throw new RequestError("thread_not_found", message, { param: "thread" });
}
