/**
 * Prompts and checked fields → the choices of a request, each with its seed and its decoder.
 *
 * @module
 */
import { type SamplingFields, toLimits, toSampling } from "../api/sampling.ts";
import type { ToolUse } from "../api/tools.ts";
import type { GenerationLimits, Sampling } from "../flow.ts";
import { createDecoder, type StreamDecoder } from "../output/decoder.ts";
import type { Choice } from "../route/answer.ts";
import type { GuideMaker } from "../route/bound_answer.ts";
import { type AnsweredTurn, KeptAnswer } from "../route/kept/answered.ts";
import type { LoadedModel } from "../route/models.ts";
import type { Asked, Played, Script } from "../route/script.ts";
import { drawSeed, mixSeed } from "../route/seed.ts";
import { LiveCalls } from "../route/live_calls.ts";
import { guideAnswer, type ThinkingBound } from "../route/thinking.ts";
import { toolBiasOf } from "../route/tool_bias.ts";
import { WholeCalls } from "../route/whole_calls.ts";
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
  /** Which tools may or must be called; absent: answers are plain text, as the model writes it. */
  toolUse?: ToolUse;
  /** Arguments of calls leave as they are decoded; absent: whole calls. */
  liveCalls?: boolean;
  /** The rendered prompt, which may have opened the reasoning. */
  promptText?: string;
  /** Makes what binds each answer; absent: answers are free. */
  guide?: GuideMaker | undefined;
  /** How the model thinks; absent: as it does. */
  thinking?: ThinkingBound;
  /** Keeps each answer as a turn that may come back; absent, or where a text is gone on with: none is. */
  keep?: (answer: AnsweredTurn) => void;
  /** What is asked, for a script and its watchers. */
  asked: Asked;
}

/**
 * The choices in the order of their index: those of the first prompt first.
 *
 * @throws {RequestError} If a script refuses the request.
 */
export function toChoices(context: AppContext, model: LoadedModel, plan: ChoicePlan, script?: Script): Choice[] {
  const drawn = toSampling(plan.sampling, model.sampling, model.info.vocabularySize);
  // A client's own bias of a token counts.
  const mayCall = plan.guide === undefined && (plan.toolUse?.tools.length ?? 0) > 0;
  const sampling = mayCall ? { ...drawn, logitBias: new Map([...toolBiasOf(model), ...drawn.logitBias]) } : drawn;
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
      // What a script plays is written down already.
      ...(plan.guide && script === undefined && { guide: plan.guide() }),
    };
  });
  const played = requests[0] && script && take(script, plan, requests[0]);
  return requests.map((request) => ({
    request: toGuided(model, plan, request, played),
    decoder: toDecoder(model, plan, request.limits, played),
    vocabulary: played?.vocabulary ?? model.text.vocabulary,
    ...(played && { promptOpen: played.promptOpen }),
    ...(played?.cutsConnection && { cutsConnection: true }),
  }));
}

/** With what bounds its thinking. */
function toGuided(
  model: LoadedModel,
  plan: ChoicePlan,
  request: Choice["request"],
  played: Played | undefined,
): Choice["request"] {
  const guide = plan.thinking && guideAnswer({
    model,
    bound: plan.thinking,
    request,
    tools: plan.toolUse?.tools ?? [],
    prompt: (plan.promptText ?? "") + (played?.promptOpen ?? ""),
    played,
    inner: request.guide,
  });
  return guide ? { ...request, guide } : request;
}

function toDecoder(model: LoadedModel, plan: ChoicePlan, limits: GenerationLimits, played?: Played): StreamDecoder {
  const { toolUse, promptText } = plan;
  const plain = createDecoder({
    vocabulary: played?.vocabulary ?? model.text.vocabulary,
    endTokens: model.text.endTokens,
    stop: limits.stop,
    continuesText: plan.continuesText,
    ...(plan.logprobsTop !== undefined && { logprobsTop: plan.logprobsTop }),
    ...(toolUse && { dialect: model.dialect, tools: toolUse.tools }),
    ...(toolUse?.callsMax !== undefined && { callsMax: toolUse.callsMax }),
    ...(promptText !== undefined && { prompt: promptText + (played?.promptOpen ?? "") }),
  });
  if (!toolUse) return plain;
  const decoder = toKept(plain, model, plan, played);
  const required = toRequired(toolUse.choice);
  return plan.liveCalls === true ? new LiveCalls(decoder, required) : new WholeCalls(decoder, required);
}

/** Keeps the answer. Behind a text that only a script has opened the tokens mean nothing by themselves. */
function toKept(decoder: StreamDecoder, model: LoadedModel, plan: ChoicePlan, played?: Played): StreamDecoder {
  const { keep, continuesText } = plan;
  if (keep === undefined || continuesText) return decoder;
  return new KeptAnswer(decoder, {
    endTokens: model.text.endTokens,
    ...(played && { vocabulary: played.vocabulary }),
    keep: ({ drawn, ...answer }) =>
      keep({ ...answer, ...(drawn !== undefined && (played?.promptOpen ?? "") === "" && { drawn }) }),
  });
}

function toRequired(choice: ToolUse["choice"]): string | undefined {
  if (choice.mode === "required") return "required";
  return choice.mode === "named" ? choice.name : undefined;
}

function take(script: Script, plan: ChoicePlan, first: { sampling: Sampling; limits: GenerationLimits }): Played {
  const { sampling, limits } = first;
  return script.take({ ...plan.asked, prompts: plan.prompts.map(({ ids }) => ids), sampling, limits });
}
