/**
 * POST /v1/chat/completions: from JSON through template and tokens to a plan of choices.
 *
 * @module
 */
import type { AnswerHead } from "../../api/answer.ts";
import { parseBody, toSafeName } from "../../api/body.ts";
import { ChatEncoder } from "../../api/chat_answer.ts";
import { type ChatRequest, parseChatRequest } from "../../api/chat_completions.ts";
import { RequestError } from "../../api/errors.ts";
import type { IgnoredFields } from "../../api/fields.ts";
import { callsTools } from "../../output/parser_names.ts";
import { bindAnswers } from "../../route/bound_answer.ts";
import type { RenderedPrompt } from "../../prompt/text_model.ts";
import { findRoom, requireFit } from "../../route/context.ts";
import type { LoadedModel } from "../../route/models.ts";
import type { Asked, AskedThinking } from "../../route/script.ts";
import { boundThinking } from "../../route/thinking.ts";
import { type AppContext, type AppDependencies, toPlanStart } from "../app_context.ts";
import { readBody } from "../body.ts";
import { toChoices } from "../choices.ts";
import { respond } from "../generate.ts";
import { type PlanFacts, requireRecord } from "../recording.ts";

/** Answers a chat. @throws What src/http/errors.ts has rows for. */
export async function chatCompletions(context: AppContext, dependencies: AppDependencies): Promise<Response> {
  const { config, models, clock, lifecycle } = dependencies;
  lifecycle.requireServing();
  const record = requireRecord(context);
  const body = parseBody(await readBody(context.req.raw, config, clock));
  record.setBody(body);
  const request = parseChatRequest(body);
  const { model, loaded } = models.requireLoaded(request.model);
  requireToolParser(request, model.id, loaded);
  const templateArguments = { ...loaded.templateArguments, ...request.conversation.templateArguments };
  const readsHermesCalls = loaded.dialect.tools === "hermes";
  const bounds = { tokensMax: loaded.contextTokens - 1, signal: context.req.raw.signal };
  const rendering = loaded.text.render({ ...request.conversation, templateArguments, readsHermesCalls }, bounds);
  const prompt = await requireFit(rendering, loaded.contextTokens, "messages");
  const log = context.get("log");
  if (log.enabled("trace")) log.log("trace", "prompt", { text: prompt.text });
  const scripted = dependencies.script !== undefined;
  const thinking = await boundThinking(loaded, request.thinking, request.ignored, scripted);
  listUnread(request, loaded.text.chatTemplate ?? "", thinking.asked);
  const room = findRoom(prompt.ids.length, request.maxTokens, loaded.contextTokens, "messages");
  if (room.clamped) request.ignored.add(request.maxTokensField);
  const guide = await bind(request, loaded, dependencies, prompt.text);

  const id = `chatcmpl-${context.get("requestKey")}`;
  const head = toHead(id, model.id, request, clock.epochSeconds());
  return await respond({
    id,
    model: model.id,
    ...toPlanStart(context, clock),
    choices: toChoices(context, loaded, {
      id,
      sampling: request.sampling,
      logprobsTop: request.logprobsTop,
      prompts: [{ ids: prompt.ids, maxTokens: room.maxTokens }],
      choiceCount: request.choiceCount,
      continuesText: !request.conversation.addGenerationPrompt,
      toolUse: request.toolUse,
      liveCalls: request.stream && config.toolArguments === "live",
      promptText: prompt.text,
      guide,
      thinking,
      asked: toAsked(request, prompt.text, thinking.asked),
    }, dependencies.script),
    promptOf: () => 0,
    encoder: new ChatEncoder(head, request.logprobsTop !== undefined, request.toolUse.legacy),
    stream: request.stream,
    includeUsage: request.includeUsage,
    ignored: request.ignored,
    record,
    facts: toFacts(request, loaded, prompt),
  }, dependencies);
}

function toFacts({ constraint }: ChatRequest, loaded: LoadedModel, prompt: RenderedPrompt): PlanFacts {
  const bound = constraint?.kind ?? null;
  return { loaded, constraint: bound, readsDialect: true, prompts: [prompt], promptRepairs: prompt.repairs ?? [] };
}

/** What binds the answers. */
function bind(
  request: ChatRequest,
  model: LoadedModel,
  { grammars, script }: AppDependencies,
  promptText: string,
): ReturnType<typeof bindAnswers> {
  return bindAnswers({
    model,
    grammars,
    constraint: request.constraint,
    toolUse: request.toolUse,
    promptText,
    ignoresEnd: request.sampling.ignore_eos ?? false,
    scripted: script !== undefined,
    ignored: request.ignored,
  });
}

/** A model whose calls can't be read must not be asked for any. */
function requireToolParser({ toolUse }: ChatRequest, id: string, { dialect }: LoadedModel): void {
  if (toolUse.tools.length === 0 || callsTools(dialect)) return;
  const param = toolUse.legacy ? "functions" : "tools";
  throw new RequestError(
    "unsupported_field",
    `\`${param}\` is not supported: the profile of ${id} names no parser of tool calls.`,
    { param },
  );
}

function toHead(id: string, model: string, request: ChatRequest, created: number): AnswerHead {
  return { id, created, model, choiceCount: request.choiceCount, includeUsage: request.includeUsage };
}

function toAsked({ conversation, constraint }: ChatRequest, prompt: string, thinking: AskedThinking): Asked {
  return {
    route: "/v1/chat/completions",
    prompt,
    lastMessage: conversation.messages.at(-1)?.content.map((part) => part.text).join("\n") ?? "",
    tools: conversation.tools.map((tool) => tool.name),
    thinking,
    constraint: constraint?.kind ?? null,
  };
}

/** Fields that go to the template have no effect where it does not read them; then they are listed. */
function listUnread({ conversation, ignored }: ChatRequest, template: string, thinking: AskedThinking): void {
  const noEffort = conversation.templateArguments.reasoning_effort === "none";
  for (const name of Object.keys(conversation.templateArguments)) {
    if (mentions(template, name)) continue;
    // What bounds the thinking has an effect without the template.
    const bounds = name === "reasoning_effort" || name === "thinking_budget";
    if (bounds && thinking.budget !== null) continue;
    // No effort has been made a switch as well: one of the two is enough.
    if (noEffort && (name === "enable_thinking" || mentions(template, "enable_thinking"))) continue;
    addArgument(name, ignored);
  }
}

function addArgument(name: string, ignored: IgnoredFields): void {
  const own = name === "enable_thinking" || name === "reasoning_effort";
  ignored.add(own ? name : `chat_template_kwargs.${toSafeName(name)}`);
}

function mentions(template: string, name: string): boolean {
  return /^\w+$/.test(name) && new RegExp(`\\b${name}\\b`).test(template);
}
