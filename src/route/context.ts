/**
 * Does a prompt fit, and how much room does it leave for the answer.
 *
 * @module
 */
import { PromptTooLong } from "../prompt/errors.ts";

/** Field of a request that a prompt comes from. */
export type PromptField = "messages" | "input" | "prompt";

/** A prompt that leaves no room for an answer. */
export class ContextExceeded extends Error {
  /** Tokens of the prompt. */
  readonly promptTokens: number;
  /** Tokens of the model's context. */
  readonly contextTokens: number;
  /** What the client can shorten. */
  readonly field: PromptField;
  /** The same in the words of Anthropic's API, which its agents search for both numbers. */
  readonly anthropicMessage: string;

  /** The wording is OpenAI's, which agents search for both numbers. */
  constructor(promptTokens: number, contextTokens: number, field: PromptField, isLowerBound = false) {
    super(
      `This model's maximum context length is ${contextTokens} tokens. However, your prompt has ` +
        `${isLowerBound ? "at least " : ""}${promptTokens} ` +
        `tokens, which leaves no room for an answer. Please reduce the length of the ${field}.`,
    );
    this.name = "ContextExceeded";
    this.promptTokens = promptTokens;
    this.contextTokens = contextTokens;
    this.field = field;
    // One token less than the context, since the answer needs one.
    this.anthropicMessage = `prompt is too long: ${promptTokens} tokens > ${contextTokens - 1} maximum` +
      (isLowerBound ? " (counting ended there)" : "");
  }
}

/**
 * Waits for a prompt's tokens.
 *
 * @throws {ContextExceeded} If it was given up because it can't fit; else what the promise throws.
 */
export async function requireFit<T>(prompt: Promise<T>, contextTokens: number, field: PromptField): Promise<T> {
  try {
    return await prompt;
  } catch (error) {
    if (error instanceof PromptTooLong) throw new ContextExceeded(error.tokensAtLeast, contextTokens, field, true);
    throw error;
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
