/**
 * What every wire of conversations parses into: one request type behind all of them.
 *
 * @module
 */
import type { Conversation } from "../flow.ts";
import type { Constraint } from "./constraint.ts";
import type { IgnoredFields } from "./fields.ts";
import type { SamplingFields } from "./sampling.ts";
import type { ThinkingRequest } from "./thinking.ts";
import type { ToolUse } from "./tools.ts";

/** A request for the answer to a conversation, checked. */
export interface ConversationRequest {
  /** As the client wrote it; absent: the default model. */
  model?: string;
  /** What the template renders; its `tools` are those that the head of the prompt shows. */
  conversation: Conversation;
  /** Which tools may or must be called: those of the head, and those that the conversation brought later. */
  toolUse: ToolUse;
  /** What binds the text of the answer. */
  constraint?: Constraint;
  /** How the model is to think; switch and effort are among the template's arguments too. */
  thinking: ThinkingRequest;
  /**
   * The wire's field of a template argument, for the list of those that a template does not read; null: no field asked
   * for it, it is what the wire takes silence for. Those without an entry are `chat_template_kwargs`.
   */
  argumentFields: Readonly<Record<string, string | null>>;
  /** How to draw, not yet filled with the model's defaults. */
  sampling: SamplingFields;
  /** What the client asked for; absent: as many as the context leaves. */
  maxTokens?: number;
  /** The field that said so, for the list of ignored ones when it is more than is left. */
  maxTokensField: string;
  /** Alternatives a token; absent: no logprobs. */
  logprobsTop?: number;
  /** Answers to make. */
  choiceCount: number;
  /** SSE or one JSON. */
  stream: boolean;
  /** The stream tells its usage, where the wire leaves that to the client. */
  includeUsage: boolean;
  /** Accepted without effect. */
  ignored: IgnoredFields;
}
