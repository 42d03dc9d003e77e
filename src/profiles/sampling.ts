/**
 * How to draw with a model where a request says nothing: what its line says, else what its checkpoint says.
 *
 * @module
 */
import type { Sampling } from "../flow.ts";
import type { LineProfile } from "./schema.ts";

/** Sampling that a profile or a checkpoint recommends; absent: not said. */
export type RecommendedSampling = Partial<Omit<Sampling, "seed" | "logitBias">>;

/** The line's values over the checkpoint's (its generation_config.json). */
export function recommendSampling(line: LineProfile, checkpoint: RecommendedSampling): RecommendedSampling {
  const { sampling } = line;
  const own: { [K in keyof RecommendedSampling]: RecommendedSampling[K] | undefined } = {
    temperature: sampling.temperature,
    topP: sampling.top_p,
    topK: sampling.top_k,
    minP: sampling.min_p,
    repetitionPenalty: sampling.repetition_penalty,
    presencePenalty: sampling.presence_penalty,
    frequencyPenalty: sampling.frequency_penalty,
  };
  return { ...checkpoint, ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)) };
}
