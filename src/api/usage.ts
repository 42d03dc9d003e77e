// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * What a request cost, summed over its choices, as the OpenAI wires say it.
 *
 * @module
 */
import type { GenerationUsage } from "../flow.ts";

/** `usage` of an answer; `rapid_mlx` is this server's own part. */
export interface Usage {
  /** Tokens of the prompt, counted once however many choices it has. */
  prompt_tokens: number;
  /** Tokens drawn, end tokens included. */
  completion_tokens: number;
  /** Their sum. */
  total_tokens: number;
  /** Of prompt_tokens. */
  prompt_tokens_details: {
    /** Taken from the prefix cache. */
    cached_tokens: number;
  };
  /** Of completion_tokens. */
  completion_tokens_details: {
    /** Inside reasoning. */
    reasoning_tokens: number;
  };
  /** What happened inside; times in milliseconds. */
  rapid_mlx: {
    /** As in prompt_tokens_details. */
    cached_tokens: number;
    /** Tokens proposed by drafting. */
    drafted: number;
    /** Of those, kept. */
    accepted: number;
    /** Tool calls that were repaired. */
    repairs: number;
    /** Changes that made the conversation fit the model's template, if there were any; /v1/requests/{id} names them. */
    prompt_repairs?: number;
    /** Earlier answers that are in the prompt with the tokens that the model wrote, if there are any. */
    kept_turns?: number;
    /** Longest wait of a choice for its first step. */
    queue_ms: number;
    /** Longest time of a choice from its first step to its first token. */
    prefill_ms: number;
    /** Longest time of a choice from its first token to its last. */
    decode_ms: number;
    /** From the arrival of the request to its first token; null if none was drawn. */
    first_token_ms: number | null;
  };
}

/** Sums the parts of a request's choices. */
export class UsageTotal {
  readonly #prompts = new Map<number, { tokens: number; cachedTokens: number }>();
  #completionTokens = 0;
  #reasoningTokens = 0;
  #drafted = 0;
  #accepted = 0;
  #queueUs = 0;
  #prefillUs = 0;
  #decodeUs = 0;
  /** Repairs so far. */
  repairs = 0;
  /** Changes of the conversation before it was rendered. */
  promptRepairs = 0;
  /** Earlier answers that are in the prompt as they were written. */
  keptTurns = 0;
  /** Milliseconds from the arrival of the request to its first token. */
  firstTokenMs: number | undefined;

  /** Adds the end of a choice. @param prompt Which of the request's prompts it answers, from 0. */
  add(prompt: number, usage: GenerationUsage, reasoningTokens: number): void {
    const known = this.#prompts.get(prompt);
    // Choices of one prompt share it: what the first had to compute the others may find cached, which is no saving.
    const cachedTokens = Math.min(known?.cachedTokens ?? usage.cachedTokens, usage.cachedTokens);
    this.#prompts.set(prompt, { tokens: usage.promptTokens, cachedTokens });
    this.#completionTokens += usage.completionTokens;
    this.#reasoningTokens += reasoningTokens;
    this.#drafted += usage.draftedTokens;
    this.#accepted += usage.acceptedTokens;
    this.#queueUs = Math.max(this.#queueUs, usage.queueUs);
    this.#prefillUs = Math.max(this.#prefillUs, usage.prefillUs);
    this.#decodeUs = Math.max(this.#decodeUs, usage.decodeUs);
  }

  /** Of the prompts, taken from the cache. */
  get cachedTokens(): number {
    return this.#prompts.values().reduce((sum, prompt) => sum + prompt.cachedTokens, 0);
  }

  /** The wire form. */
  toWire(): Usage {
    const promptTokens = this.#prompts.values().reduce((sum, prompt) => sum + prompt.tokens, 0);
    const { cachedTokens } = this;
    return {
      prompt_tokens: promptTokens,
      completion_tokens: this.#completionTokens,
      total_tokens: promptTokens + this.#completionTokens,
      prompt_tokens_details: { cached_tokens: cachedTokens },
      completion_tokens_details: { reasoning_tokens: this.#reasoningTokens },
      rapid_mlx: {
        cached_tokens: cachedTokens,
        drafted: this.#drafted,
        accepted: this.#accepted,
        repairs: this.repairs,
        ...(this.promptRepairs > 0 && { prompt_repairs: this.promptRepairs }),
        ...(this.keptTurns > 0 && { kept_turns: this.keptTurns }),
        queue_ms: toMs(this.#queueUs),
        prefill_ms: toMs(this.#prefillUs),
        decode_ms: toMs(this.#decodeUs),
        first_token_ms: this.firstTokenMs === undefined ? null : Math.round(this.firstTokenMs * 1000) / 1000,
      },
    };
  }
}

function toMs(us: number): number {
  return Math.round(us) / 1000;
}
