/**
 * How the answers of a request may think: from what it asks and what its model can do to a guide for each answer.
 *
 * @module
 */
import type { IgnoredFields } from "../api/fields.ts";
import { effortTokens, type ThinkingRequest } from "../api/thinking.ts";
import type { GenerationRequest, TokenGuide, Tool } from "../flow.ts";
import { ThinkingGuide } from "../guide/thinking_guide.ts";
import { reasons } from "../output/parser_names.ts";
import { closingOf, ThinkingWatch } from "../output/thinking_watch.ts";
import type { TextModel } from "../prompt/text_model.ts";
import type { LoadedModel } from "./models.ts";
import type { AskedThinking, Played } from "./script.ts";

/** The part of a model that thinking depends on. */
export type ThinkingModel = Pick<LoadedModel, "dialect" | "info" | "text" | "templateArguments">;

/** How the answers of one request think. */
export interface ThinkingBound {
  /** As it is, for a script and its watchers. */
  asked: AskedThinking;
  /** Tokens that close a block; none: thinking is off, or can't be bounded. */
  closing: readonly number[];
}

/**
 * What a request's thinking comes to. Budgets that can't be kept are listed as ignored.
 *
 * @param scripted The answers are written down: their template has no efforts of its own.
 * @param mustCall The answers are calls and nothing else.
 */
export async function boundThinking(
  model: ThinkingModel,
  request: ThinkingRequest,
  ignored: IgnoredFields,
  scripted: boolean,
  mustCall: boolean,
): Promise<ThinkingBound> {
  const { enable_thinking: preset } = model.templateArguments;
  const enabled = request.enabled ?? (typeof preset === "boolean" ? preset : null);
  const closing = closingOf(model.dialect, model.text.vocabulary, mustCall);
  const canBound = reasons(model.dialect) && closing !== "" && enabled !== false;
  if (!canBound && request.budget) ignored.add(request.budget.field);
  const budget = canBound ? request.budget?.tokens ?? toEffortBudget(model, request, scripted) : undefined;
  return {
    asked: { enabled, budget: budget ?? null, effort: request.effort ?? null },
    closing: canBound ? await encodeClosing(model.text, closing) : [],
  };
}

/** Whether an effort bounds the thinking by its budget: the template has no words for it. */
function toEffortBudget(
  { text, dialect }: ThinkingModel,
  { effort }: ThinkingRequest,
  scripted: boolean,
): number | undefined {
  if (effort === undefined) return undefined;
  const knowsEfforts = scripted ? dialect.tools === "harmony" : /\breasoning_effort\b/.test(text.chatTemplate ?? "");
  return knowsEfforts ? undefined : effortTokens(effort);
}

const closings = new WeakMap<TextModel, Map<string, Promise<readonly number[]>>>();

/** Once a model: a dialect has one closing, or two. */
function encodeClosing(text: TextModel, closing: string): Promise<readonly number[]> {
  const known = closings.get(text) ?? new Map<string, Promise<readonly number[]>>();
  closings.set(text, known);
  let ids = known.get(closing);
  if (ids === undefined) {
    ids = text.encode(closing, { addSpecial: false, parseSpecial: true }).then((found) => [...found]);
    known.set(closing, ids);
  }
  return ids;
}

/** What a guide is made for. */
export interface GuidedAnswer {
  /** Who answers. */
  model: ThinkingModel;
  /** How it thinks. */
  bound: ThinkingBound;
  /** Without its guide. */
  request: GenerationRequest;
  /** Tools that may be called. */
  tools: readonly Tool[];
  /** The rendered prompt, with what a script takes as opened. */
  prompt: string;
  /** The script's answer, if it is one. */
  played: Played | undefined;
  /** What binds the answer beside. */
  inner: TokenGuide | undefined;
}

/** The guide of one answer; the inner one where thinking is not bounded. */
export function guideAnswer(answer: GuidedAnswer): TokenGuide | undefined {
  const { model, bound, request, tools, prompt, played, inner } = answer;
  const closing = played?.closing ?? bound.closing;
  if (bound.closing.length === 0 || closing.length === 0) return inner;
  const { endTokens } = request;
  const vocabulary = played?.vocabulary ?? model.text.vocabulary;
  const watch = new ThinkingWatch({ vocabulary, endTokens, tools, prompt, dialect: model.dialect });
  return new ThinkingGuide(watch, {
    ...(bound.asked.budget !== null && { budget: bound.asked.budget }),
    maxTokens: request.limits.maxTokens,
    closing,
    endTokens,
    vocabularySize: model.info.vocabularySize,
  }, inner);
}
