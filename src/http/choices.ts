/**
 * Prompts and checked fields → the choices of a request, each with its seed and its decoder.
 *
 * @module
 */
import { type SamplingFields, toLimits, toSampling } from "../api/sampling.ts";
import { createDecoder } from "../output/decoder.ts";
import type { Choice } from "../route/answer.ts";
import type { LoadedModel } from "../route/models.ts";
import { drawSeed, mixSeed } from "../route/seed.ts";
import { type AppContext, toRemote } from "./app_context.ts";
import { toClientNumber } from "./guards.ts";

/** What choices are made of. */
export interface ChoicePlan {
  /** Id of the answer. */
  id: string;
  /** How to draw and when to stop. */
  sampling: SamplingFields;
  /** Alternatives a token; undefined: no logprobs. */
  logprobsTop: number | undefined;
  /** At least one, each with the room that it has. */
  prompts: readonly { ids: Int32Array; maxTokens: number }[];
  /** Answers to each prompt. */
  choiceCount: number;
  /** The answers go on a text of the prompt. */
  continuesText: boolean;
}

/** The choices in the order of their index: those of the first prompt first. */
export function toChoices(context: AppContext, model: LoadedModel, plan: ChoicePlan): Choice[] {
  const sampling = toSampling(plan.sampling, model.sampling, model.info.vocabularySize);
  const client = toClientNumber(context.req.raw.headers, toRemote(context));
  const { endTokens, vocabulary } = model.text;
  const count = plan.prompts.length * plan.choiceCount;
  return Array.from({ length: count }, (_, index): Choice => {
    const prompt = plan.prompts[Math.floor(index / plan.choiceCount)];
    const seed = plan.sampling.seed === undefined ? drawSeed() : mixSeed(plan.sampling.seed, index % plan.choiceCount);
    const limits = toLimits(plan.sampling, prompt?.maxTokens ?? 0, plan.logprobsTop);
    return {
      request: {
        requestId: plan.id,
        model: model.handle,
        prompt: prompt?.ids ?? new Int32Array(0),
        endTokens,
        sampling: { ...sampling, seed },
        limits,
        client,
      },
      decoder: createDecoder({
        vocabulary,
        endTokens,
        stop: limits.stop,
        continuesText: plan.continuesText,
        ...(plan.logprobsTop !== undefined && { logprobsTop: plan.logprobsTop }),
      }),
    };
  });
}
