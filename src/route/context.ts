/**
 * Does a prompt fit, and how much room does it leave for the answer.
 *
 * @module
 */

/** Field of a request that a prompt comes from. */
export type PromptField = "messages" | "prompt";

/** A prompt that leaves no room for an answer. */
export class ContextExceeded extends Error {
  /** Tokens of the prompt. */
  readonly promptTokens: number;
  /** Tokens of the model's context. */
  readonly contextTokens: number;
  /** What the client can shorten. */
  readonly field: PromptField;

  /** The wording is OpenAI's, which agents search for both numbers. */
  constructor(promptTokens: number, contextTokens: number, field: PromptField) {
    super(
      `This model's maximum context length is ${contextTokens} tokens. However, your prompt has ${promptTokens} ` +
        `tokens, which leaves no room for an answer. Please reduce the length of the ${field}.`,
    );
    this.name = "ContextExceeded";
    this.promptTokens = promptTokens;
    this.contextTokens = contextTokens;
    this.field = field;
  }
}

/** How many tokens an answer may have. */
export interface Room {
  /** > 0. */
  maxTokens: number;
  /** Whether the client asked for more than is left. */
  clamped: boolean;
}

/**
 * Room for an answer.
 *
 * @param requested What the client asked for; undefined: all that is left.
 * @throws {ContextExceeded} If not even one token is left.
 */
export function findRoom(
  promptTokens: number,
  requested: number | undefined,
  contextTokens: number,
  field: PromptField,
): Room {
  const left = contextTokens - promptTokens;
  if (left < 1) throw new ContextExceeded(promptTokens, contextTokens, field);
  return { maxTokens: Math.min(requested ?? left, left), clamped: requested !== undefined && requested > left };
}
