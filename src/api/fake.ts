// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * GET /debug/fake: requests as a scripted model was asked.
 *
 * @module
 */
import type { GenerationLimits, Sampling } from "../flow.ts";

/** What was asked, as the route kept it. */
export interface FakeAsked {
  /** Path of the wire. */
  route: string;
  /** Rendered. */
  prompt: string;
  /** Ids of each prompt. */
  prompts: readonly Int32Array[];
  /** Names. */
  tools: readonly string[];
  /** How to draw. */
  sampling: Sampling;
  /** When to stop. */
  limits: GenerationLimits;
  /** How it thinks. */
  thinking: { enabled: boolean | null; budget: number | null; effort: string | null };
  /** Kind of what binds the output. */
  constraint: string | null;
}

/** One entry. */
export interface FakeRequest extends Pick<FakeAsked, "route" | "prompt" | "tools" | "thinking" | "constraint"> {
  /** Of all prompts. */
  prompt_tokens: number;
  /** Every value that the engine was given. */
  sampling: {
    temperature: number;
    top_p: number;
    top_k: number;
    min_p: number;
    /** A string above 2^53 - 1. */
    seed: number | string;
    max_tokens: number;
    penalties: { repetition_penalty: number; presence_penalty: number; frequency_penalty: number };
    logit_bias: Record<string, number>;
  };
  /** Stop strings. */
  stop: readonly string[];
}

/** The wire form. */
export function toFakeRequests(asked: readonly FakeAsked[]): { requests: FakeRequest[] } {
  return { requests: asked.map(toFakeRequest) };
}

function toFakeRequest(
  { route, prompt, prompts, tools, sampling, limits, thinking, constraint }: FakeAsked,
): FakeRequest {
  const { seed } = sampling;
  return {
    route,
    prompt,
    prompt_tokens: prompts.reduce((sum, ids) => sum + ids.length, 0),
    tools,
    sampling: {
      temperature: sampling.temperature,
      top_p: sampling.topP,
      top_k: sampling.topK,
      min_p: sampling.minP,
      seed: seed <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(seed) : String(seed),
      max_tokens: limits.maxTokens,
      penalties: {
        repetition_penalty: sampling.repetitionPenalty,
        presence_penalty: sampling.presencePenalty,
        frequency_penalty: sampling.frequencyPenalty,
      },
      logit_bias: Object.fromEntries(sampling.logitBias),
    },
    stop: limits.stop,
    thinking,
    constraint,
  };
}
