/**
 * Prompts and checked fields → the choices of a request, each with its seed and its decoder.
 *
 * @module
 */
import { type SamplingFields, toLimits, toSampling } from "../api/sampling.ts";
import type { GenerationLimits, Sampling } from "../flow.ts";
import { createDecoder } from "../output/decoder.ts";
import type { Choice } from "../route/answer.ts";
import type { LoadedModel } from "../route/models.ts";
import type { Asked, Played, Script } from "../route/script.ts";
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
  /** What is asked, for a script and its watchers. */
  asked: Asked;
}

/**
 * The choices in the order of their index: those of the first prompt first.
 *
 * @throws {RequestError} If a script refuses the request.
 */
export function toChoices(context: AppContext, model: LoadedModel, plan: ChoicePlan, script?: Script): Choice[] {
  const sampling = toSampling(plan.sampling, model.sampling, model.info.vocabularySize);
  const client = toClientNumber(context.req.raw.headers, toRemote(context));
  const { endTokens } = model.text;
  const count = plan.prompts.length * plan.choiceCount;
  const requests = Array.from({ length: count }, (_, index): Choice["request"] => {
    const prompt = plan.prompts[Math.floor(index / plan.choiceCount)];
    const seed = plan.sampling.seed === undefined ? drawSeed() : mixSeed(plan.sampling.seed, index % plan.choiceCount);
    return {
      requestId: plan.id,
      model: model.handle,
      prompt: prompt?.ids ?? new Int32Array(0),
      endTokens,
      sampling: { ...sampling, seed },
      limits: toLimits(plan.sampling, prompt?.maxTokens ?? 0, plan.logprobsTop),
      client,
    };
  });
  const played = requests[0] && script && take(script, plan, requests[0]);
  return requests.map((request) => ({
    request,
    decoder: createDecoder({
      vocabulary: played?.vocabulary ?? model.text.vocabulary,
      endTokens,
      stop: request.limits.stop,
      continuesText: plan.continuesText,
      ...(plan.logprobsTop !== undefined && { logprobsTop: plan.logprobsTop }),
    }),
    ...(played?.cutsConnection && { cutsConnection: true }),
  }));
}

function take(script: Script, plan: ChoicePlan, first: { sampling: Sampling; limits: GenerationLimits }): Played {
  const { sampling, limits } = first;
  return script.take({ ...plan.asked, prompts: plan.prompts.map(({ ids }) => ids), sampling, limits });
}
