// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * POST /v1/chat/completions: the request, from JSON to flow types. The way back is chat_answer.ts.
 *
 * @module
 */
import { z } from "zod";
import type { Conversation } from "../flow.ts";
import type { JsonObject } from "./body.ts";
import { CONSTRAINT_FIELDS, CONSTRAINT_SHAPE, toConstraint } from "./constraint.ts";
import type { ConversationRequest } from "./conversation.ts";
import { RequestError } from "./errors.ts";
import { type FieldTable, IgnoredFields, LISTED, sortFields, WORKS } from "./fields.ts";
import { toMessages } from "./messages.ts";
import {
  EXTENSION_FIELDS,
  LOGPROBS_TOP_MAX,
  SAMPLING_FIELDS,
  SAMPLING_SHAPE,
  sortStreamOptions,
  tokenCount,
} from "./sampling.ts";
import { parseWith } from "./schema.ts";
import { THINKING_FIELDS, THINKING_SHAPE, type ThinkingRequest, toThinking, withThinking } from "./thinking.ts";
import { type ToolUse, toToolUse } from "./tools.ts";

const NO_AUDIO = "audio is not available yet in this version";

/** What becomes of each field of a chat completion request. */
export const CHAT_FIELDS: FieldTable = {
  ...SAMPLING_FIELDS,
  ...EXTENSION_FIELDS,
  ...CONSTRAINT_FIELDS,
  model: WORKS,
  messages: WORKS,
  max_completion_tokens: WORKS,
  logprobs: WORKS,
  top_logprobs: WORKS,
  chat_template_kwargs: WORKS,
  ...THINKING_FIELDS,
  continue_final_message: WORKS,
  add_generation_prompt: WORKS,
  tools: WORKS,
  tool_choice: WORKS,
  functions: WORKS,
  function_call: WORKS,
  parallel_tool_calls: WORKS,

  // They would change the answer.
  modalities: {
    rule: "refused",
    why: NO_AUDIO,
    judge: (list) => Array.isArray(list) && list.every((item) => item === "text") ? "nothing" : "refused",
  },
  audio: { rule: "refused", why: NO_AUDIO },
  web_search_options: { rule: "refused", why: "this server searches no web" },

  // They do not.
  draft: LISTED, // drafting is lossless by contract, so on or off is no other answer
  metadata: LISTED,
  moderation: LISTED,
  prediction: LISTED,
  prompt_cache_key: LISTED,
  prompt_cache_options: LISTED,
  prompt_cache_retention: LISTED,
  safety_identifier: LISTED,
  service_tier: LISTED,
  store: LISTED,
  user: LISTED,
  verbosity: LISTED,
};

const templateArguments = z.record(z.string(), z.unknown(), "expected an object of template variables");

const ChatFields = z.object({
  ...SAMPLING_SHAPE,
  ...CONSTRAINT_SHAPE,
  model: z.string("expected a model id").max(512, "expected a model id of at most 512 characters").optional(),
  messages: z.unknown().optional(),
  max_completion_tokens: tokenCount.optional(),
  logprobs: z.boolean().optional(),
  top_logprobs: z.number().int().min(0, `expected 0 to ${LOGPROBS_TOP_MAX}`)
    .max(LOGPROBS_TOP_MAX, `expected 0 to ${LOGPROBS_TOP_MAX}`).optional(),
  chat_template_kwargs: templateArguments.optional(),
  ...THINKING_SHAPE,
  continue_final_message: z.boolean().optional(),
  add_generation_prompt: z.boolean().optional(),
  tools: z.unknown().optional(),
  tool_choice: z.unknown().optional(),
  functions: z.unknown().optional(),
  function_call: z.unknown().optional(),
  parallel_tool_calls: z.boolean().optional(),
});

/** A body as clients write it, without nulls: those are fields that are not there. */
export type ChatBody = z.input<typeof ChatFields>;

/** Where the fields of a chat are told that its model's template does not read. */
const ARGUMENT_FIELDS = { enable_thinking: "enable_thinking", reasoning_effort: "reasoning_effort" } as const;

/**
 * Reads a body.
 *
 * @throws {RequestError} For the first field that can't be used.
 */
export function parseChatRequest(body: JsonObject): ConversationRequest {
  const ignored = new IgnoredFields();
  const fields = parseWith(ChatFields, sortFields(CHAT_FIELDS, body, ignored));
  sortStreamOptions(fields, ignored);
  const maxTokens = toMaxTokens(fields.max_tokens, fields.max_completion_tokens);
  const logprobsTop = toLogprobsTop(fields.logprobs ?? false, fields.top_logprobs);
  const toolUse = toToolUse(fields, ignored);
  const constraint = toConstraint(fields, ignored);
  const thinking = toThinking(fields, fields.chat_template_kwargs ?? {}, ignored);
  return {
    ...(fields.model !== undefined && { model: fields.model }),
    conversation: toConversation(fields, toolUse, thinking, ignored),
    toolUse,
    ...(constraint && { constraint }),
    thinking,
    argumentFields: ARGUMENT_FIELDS,
    sampling: fields,
    ...(maxTokens !== undefined && { maxTokens }),
    maxTokensField: maxTokens === fields.max_tokens ? "max_tokens" : "max_completion_tokens",
    ...(logprobsTop !== undefined && { logprobsTop }),
    choiceCount: fields.n ?? 1,
    stream: fields.stream ?? false,
    includeUsage: fields.stream_options?.include_usage ?? false,
    ignored,
  };
}

function toConversation(
  fields: z.output<typeof ChatFields>,
  { tools }: ToolUse,
  thinking: ThinkingRequest,
  ignored: IgnoredFields,
): Conversation {
  const messages = toMessages(fields.messages, ignored);
  const continues = fields.continue_final_message ?? false;
  if (continues && messages.at(-1)?.role !== "assistant") {
    throw new RequestError(
      "invalid_request",
      "Invalid request body: `continue_final_message` needs an assistant message at the end of `messages`.",
      { param: "continue_final_message" },
    );
  }
  if (fields.add_generation_prompt !== undefined && fields.add_generation_prompt === continues) {
    throw new RequestError(
      "unsupported_combination",
      "`add_generation_prompt` must be false with `continue_final_message` and true without it.",
      { param: "add_generation_prompt" },
    );
  }
  return {
    messages,
    tools,
    templateArguments: withThinking(fields.chat_template_kwargs ?? {}, thinking),
    addGenerationPrompt: !continues,
  };
}

/** Both names bound the answer, so the smaller one does. */
function toMaxTokens(first: number | undefined, second: number | undefined): number | undefined {
  return first === undefined ? second : Math.min(first, second ?? first);
}

function toLogprobsTop(logprobs: boolean, top: number | undefined): number | undefined {
  if (logprobs) return top ?? 0;
  if (top === undefined || top === 0) return undefined;
  throw new RequestError("invalid_request", "Invalid request body: `top_logprobs` needs `logprobs`: true.", {
    param: "top_logprobs",
  });
}
