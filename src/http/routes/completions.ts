/**
 * POST /v1/completions: prompts as they are, without a template, to a plan of choices.
 *
 * @module
 */
import { parseBody } from "../../api/body.ts";
import { type CompletionPrompt, type CompletionRequest, parseCompletionRequest } from "../../api/completions.ts";
import { CompletionEncoder } from "../../api/completions_answer.ts";
import { RequestError } from "../../api/errors.ts";
import { bindAnswers } from "../../route/bound_answer.ts";
import { findRoom, requireFit } from "../../route/context.ts";
import type { LoadedModel } from "../../route/models.ts";
import type { Asked } from "../../route/script.ts";
import { type AppContext, type AppDependencies, toPlanStart } from "../app_context.ts";
import { readBody } from "../body.ts";
import { toChoices } from "../choices.ts";
import { respond } from "../generate.ts";
import { requireRecord } from "../recording.ts";

/** Answers a completion request. @throws What src/http/errors.ts has rows for. */
export async function completions(context: AppContext, dependencies: AppDependencies): Promise<Response> {
  const { config, models, clock, lifecycle } = dependencies;
  lifecycle.requireServing();
  const record = requireRecord(context);
  const body = parseBody(await readBody(context.req.raw, config, clock));
  record.setBody(body);
  const request = parseCompletionRequest(body);
  const { model, loaded } = models.requireLoaded(request.model);
  const prompts = await Promise.all(request.prompts.map(async (prompt, index) => {
    const ids = await toTokens(prompt, index, loaded, context.req.raw.signal);
    const room = findRoom(ids.length, request.maxTokens, loaded.contextTokens, "prompt");
    if (room.clamped) request.ignored.add("max_tokens");
    return { ids, maxTokens: room.maxTokens, ...(typeof prompt === "string" && { text: prompt }) };
  }));
  const log = context.get("log");
  if (log.enabled("trace")) log.log("trace", "prompts", { texts: JSON.stringify(request.prompts) });
  const guide = await bindAnswers({
    model: loaded,
    grammars: dependencies.grammars,
    constraint: request.constraint,
    ignoresEnd: request.sampling.ignore_eos ?? false,
    scripted: dependencies.script !== undefined,
    ignored: request.ignored,
  });

  const id = `cmpl-${context.get("requestKey")}`;
  const choices = toChoices(context, loaded, {
    id,
    sampling: request.sampling,
    logprobsTop: request.logprobsTop,
    prompts,
    choiceCount: request.choiceCount,
    continuesText: true,
    guide,
    asked: toAsked(request, prompts),
  }, dependencies.script);
  const start = toPlanStart(context, clock);
  const head = {
    id,
    requestId: start.requestId,
    created: clock.epochSeconds(),
    model: model.id,
    choiceCount: choices.length,
    includeUsage: request.includeUsage,
  };
  return await respond({
    id,
    model: model.id,
    ...start,
    choices,
    promptOf: (choice) => Math.floor(choice / request.choiceCount),
    encoder: new CompletionEncoder(head, toEcho(request, loaded), request.logprobsTop),
    wire: "openai",
    stream: request.stream,
    ignored: request.ignored,
    record,
    facts: { loaded, constraint: request.constraint?.kind ?? null, readsDialect: false, prompts, promptRepairs: [] },
  }, dependencies);
}

function toAsked({ prompts, constraint }: CompletionRequest, tokens: readonly { ids: Int32Array }[]): Asked {
  const texts = prompts.map((prompt, at) =>
    typeof prompt === "string" ? prompt : `[${tokens[at]?.ids.join(" ") ?? ""}]`
  );
  return {
    route: "/v1/completions",
    prompt: texts.join("\n"),
    lastMessage: texts.join("\n"),
    tools: [],
    thinking: { enabled: null, budget: null, effort: null },
    constraint: constraint?.kind ?? null,
  };
}

async function toTokens(
  prompt: CompletionPrompt,
  index: number,
  { text, info, contextTokens }: LoadedModel,
  signal: AbortSignal,
): Promise<Int32Array> {
  if (typeof prompt === "string") {
    // A raw prompt may spell control tokens, as with vLLM and llama.cpp: it is the caller's own template.
    const bounds = { tokensMax: contextTokens - 1, signal };
    const encoding = text.encode(prompt, { addSpecial: true, parseSpecial: true }, bounds);
    const ids = await requireFit(encoding, contextTokens, "prompt");
    if (ids.length > 0) return ids;
    throw new RequestError("invalid_request", "Invalid request body: `prompt` is empty: it has no tokens.", {
      param: "prompt",
    });
  }
  const unknown = prompt.find((id) => id >= info.vocabularySize);
  if (unknown === undefined) return Int32Array.from(prompt);
  throw new RequestError(
    "invalid_request",
    `Invalid request body: \`prompt\` number ${index} has the token ${unknown}; the model has tokens 0 to ` +
      `${info.vocabularySize - 1}.`,
    { param: "prompt" },
  );
}

/** What each choice's text begins with: its prompt, if asked for. */
function toEcho(request: CompletionRequest, { text }: LoadedModel): string[] {
  if (!request.echo) return [];
  return request.prompts.flatMap((prompt) => {
    const shown = typeof prompt === "string" ? prompt : toText(prompt, (id) => text.vocabulary.bytes(id));
    return Array.from({ length: request.choiceCount }, () => shown);
  });
}

function toText(ids: readonly number[], bytesOf: (id: number) => Uint8Array): string {
  const decoder = new TextDecoder();
  return ids.map((id) => decoder.decode(bytesOf(id), { stream: true })).join("") + decoder.decode();
}
