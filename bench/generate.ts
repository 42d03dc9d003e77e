/**
 * Streams on an engine, timed where its events arrive: what our side of a comparison does.
 *
 * @module
 */
import type { Engine } from "../src/engine/engine.ts";
import type { ModelHandle } from "../src/ffi/core.ts";
import type { GenerationRequest, GenerationUsage, TokenGuide } from "../src/flow.ts";

/** What streams that were submitted together took, as their reader saw it. */
export interface StreamTimes {
  /** From submit until every stream has its first token. */
  prefillMs: number;
  /** From there until the last stream ends. */
  decodeMs: number;
  /** Tokens of all streams in that time. */
  decodeTokens: number;
  /** What the core says of each stream. */
  usages: GenerationUsage[];
}

/** Runs one stream a prompt, greedy, for exactly `tokens` tokens each. @param makeGuide Of each; absent: free. */
export async function generate(
  engine: Engine,
  model: ModelHandle,
  prompts: readonly (readonly number[])[],
  tokens: number,
  makeGuide?: () => TokenGuide,
): Promise<StreamTimes> {
  const startMs = performance.now();
  const streams = await Promise.all(
    prompts.map((prompt, client) => {
      const request = toRequest(model, prompt, tokens, client);
      return read(engine, makeGuide ? { ...request, guide: makeGuide() } : request);
    }),
  );
  const firstMs = Math.max(...streams.map(({ tokenMs }) => tokenMs[0] ?? NaN));
  const lastMs = Math.max(...streams.map(({ tokenMs }) => tokenMs.at(-1) ?? NaN));
  return {
    prefillMs: firstMs - startMs,
    decodeMs: lastMs - firstMs,
    decodeTokens: streams.flatMap(({ tokenMs }) => tokenMs).filter((ms) => ms > firstMs).length,
    usages: streams.map(({ usage }) => usage),
  };
}

async function read(
  engine: Engine,
  request: GenerationRequest,
): Promise<{ tokenMs: number[]; usage: GenerationUsage }> {
  const tokenMs: number[] = [];
  for await (const event of engine.generate(request, new AbortController().signal)) {
    if (event.type === "token") tokenMs.push(performance.now());
    if (event.type === "finish") return { tokenMs, usage: event.usage };
  }
  throw new Error("A generation ended without a finish");
}

/** A greedy request for exactly `maxTokens` tokens. */
export function toRequest(
  model: ModelHandle,
  prompt: Iterable<number>,
  maxTokens: number,
  client: number,
): GenerationRequest {
  return {
    requestId: "bench",
    model,
    prompt: Int32Array.from(prompt),
    endTokens: [],
    sampling: {
      temperature: 0,
      topP: 1,
      topK: 0,
      minP: 0,
      repetitionPenalty: 1,
      presencePenalty: 0,
      frequencyPenalty: 0,
      logitBias: new Map(),
      seed: 0n,
    },
    limits: { maxTokens, stop: [], ignoreEnd: true },
    client,
  };
}
