/**
 * A conversation of any wire → its answer: model, template, room, thinking, bounds, choices, response.
 *
 * A wire gives what it parsed and a maker of encoders; nothing here knows its JSON.
 *
 * @module
 */
import type { AnswerEncoder, AnswerHead } from "../api/answer.ts";
import { type JsonObject, parseBody, toSafeName } from "../api/body.ts";
import type { ConversationRequest } from "../api/conversation.ts";
import { RequestError, type Wire } from "../api/errors.ts";
import type { ThinkingRequest } from "../api/thinking.ts";
import { mustCall } from "../api/tools.ts";
import type { Usage } from "../api/usage.ts";
import { callsTools } from "../output/parser_names.ts";
import { bindAnswers } from "../route/bound_answer.ts";
import { type KeptRendering, renderKept } from "../route/kept/render.ts";
import { findRoom, type PromptField, requireFit } from "../route/context.ts";
import type { LoadedModel, ServedModel } from "../route/models.ts";
import type { Asked, AskedThinking } from "../route/script.ts";
import { boundThinking, type ThinkingBound } from "../route/thinking.ts";
import { type AppContext, type AppDependencies, toPlanStart } from "./app_context.ts";
import { readBody } from "./body.ts";
import { toChoices } from "./choices.ts";
import { respond } from "./generate.ts";
import { toOwner } from "./guards.ts";
import { type PlanFacts, requireRecord } from "./recording.ts";

/** Most tokens that are counted for a client that asks: a window of a million, and room beside it. */
export const COUNTED_TOKENS_MAX = 2 ** 21;

/** What a wire is to the answering of its conversations. */
export interface ConversationWire {
  /** Of the answer. */
  id: string;
  /** Path, as records and scripts know the wire. */
  route: string;
  /** Whose words its errors are in. */
  wire: Wire;
  /** Field that the prompt comes from, for the error that it is too long. */
  promptParam: PromptField;
  /** `gpt-…` and `claude-…` mean the default model, where none is served under that name. */
  takesForeignNames?: boolean;
  /** How reasoning goes to the client, for the record; absent: as text. */
  reasoningShown?: PlanFacts["reasoningShown"];
  /** Makes the writer of the answer. */
  toEncoder: (head: AnswerHead, facts: AnswerFacts) => AnswerEncoder;
  /** An item that is sent can't be taken back on this wire: `--tool-arguments live` is not for it. */
  callsAreWhole?: true;
  /** Told once the answer is whole, before its end is sent. */
  onAnswered?: (usage: Usage) => void;
}

/** What is known of an answer before its first token. */
export interface AnswerFacts {
  /** Of the rendered conversation. */
  promptTokens: number;
  /** Most tokens of each choice. */
  maxTokens: number;
  /** That bound is what the context leaves, and not what the client asked for. */
  boundByContext: boolean;
}

/** A conversation as its model will read it. */
export interface RenderedConversation extends KeptRendering {
  /** Under which name. */
  model: ServedModel;
  /** Who answers. */
  loaded: LoadedModel;
}

/** The body of a request of a generating route. @throws What src/http/errors.ts has rows for. */
export async function readConversationBody(context: AppContext, dependencies: AppDependencies): Promise<JsonObject> {
  const { config, clock, lifecycle } = dependencies;
  lifecycle.requireServing();
  const body = parseBody(await readBody(context.req.raw, config, clock));
  context.get("record")?.setBody(body);
  return body;
}

/**
 * Finds the model and renders the conversation for it.
 *
 * @param tokensMax Most tokens that are counted; absent: as many as an answer leaves room for.
 * @throws What src/http/errors.ts has rows for.
 */
export async function renderConversation(
  context: AppContext,
  { models, turns, config }: AppDependencies,
  request: ConversationRequest,
  { promptParam, takesForeignNames = false }: Pick<ConversationWire, "promptParam" | "takesForeignNames">,
  tokensMax?: number,
): Promise<RenderedConversation> {
  const { model, loaded } = models.requireLoaded(request.model, takesForeignNames);
  if (takesForeignNames && request.model !== undefined && !models.knows(request.model)) request.ignored.add("model");
  requireToolParser(request, model.id, loaded);
  const templateArguments = { ...loaded.templateArguments, ...request.conversation.templateArguments };
  const readsHermesCalls = loaded.dialect.tools === "hermes";
  const bounds = { tokensMax: tokensMax ?? loaded.contextTokens - 1, signal: context.req.raw.signal };
  const conversation = { ...request.conversation, templateArguments, readsHermesCalls };
  const own = turns.of(toOwner(context.req.raw.headers, config), loaded.handle);
  const rendering = renderKept(loaded, conversation, request.toolUse.tools, own, bounds);
  const kept = await requireFit(rendering, loaded.contextTokens, promptParam);
  const log = context.get("log");
  if (log.enabled("trace")) log.log("trace", "prompt", { text: kept.prompt.text });
  return { model, loaded, ...kept };
}

/** Answers a conversation. @throws What src/http/errors.ts has rows for. */
export async function answerConversation(
  context: AppContext,
  dependencies: AppDependencies,
  request: ConversationRequest,
  wire: ConversationWire,
): Promise<Response> {
  const { config, clock } = dependencies;
  const { id, promptParam, reasoningShown } = wire;
  const rendered = await renderConversation(context, dependencies, request, wire);
  const { model, loaded, prompt, keptTurns } = rendered;
  const scripted = dependencies.script !== undefined;
  const thinking = await think(request, loaded, scripted);
  const room = findRoom(prompt.ids.length, request.maxTokens, loaded.contextTokens, promptParam);
  if (room.clamped) request.ignored.add(request.maxTokensField);
  const guide = await bind(request, loaded, dependencies, prompt.text);
  const choices = toChoices(context, loaded, {
    id,
    sampling: request.sampling,
    logprobsTop: request.logprobsTop,
    prompts: [{ ids: prompt.ids, maxTokens: room.maxTokens }],
    choiceCount: request.choiceCount,
    continuesText: !request.conversation.addGenerationPrompt,
    toolUse: request.toolUse,
    liveCalls: request.stream && wire.callsAreWhole !== true && config.toolArguments === "live",
    promptText: prompt.text,
    keep: rendered.keep,
    guide,
    thinking,
    asked: toAsked(request, wire.route, prompt.text, thinking.asked),
  }, dependencies.script);
  const start = toPlanStart(context, clock);
  const head = {
    id,
    requestId: start.requestId,
    created: clock.epochSeconds(),
    model: model.id,
    choiceCount: request.choiceCount,
    includeUsage: request.includeUsage,
  };
  return await respond({
    id,
    model: model.id,
    ...start,
    choices,
    promptOf: () => 0,
    encoder: wire.toEncoder(head, {
      promptTokens: prompt.ids.length,
      maxTokens: room.maxTokens,
      boundByContext: room.clamped || request.maxTokens === undefined,
    }),
    wire: wire.wire,
    stream: request.stream,
    onAnswered: wire.onAnswered,
    ignored: request.ignored,
    record: requireRecord(context),
    facts: { ...toFacts(request, rendered), keptTurns, ...(reasoningShown && { reasoningShown }) },
  }, dependencies);
}

/** How the answers think; what of it the template does not read is listed. */
async function think(request: ConversationRequest, loaded: LoadedModel, scripted: boolean): Promise<ThinkingBound> {
  const template = loaded.text.chatTemplate ?? "";
  const { ignored, toolUse } = request;
  const bound = await boundThinking(loaded, toThinking(request, template), ignored, scripted, mustCall(toolUse));
  listUnread(request, template, bound.asked);
  return bound;
}

function toFacts({ constraint }: ConversationRequest, { loaded, prompt }: RenderedConversation): PlanFacts {
  const bound = constraint?.kind ?? null;
  return { loaded, constraint: bound, readsDialect: true, prompts: [prompt], promptRepairs: prompt.repairs ?? [] };
}

/** What binds the answers. */
function bind(
  request: ConversationRequest,
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
function requireToolParser({ toolUse }: ConversationRequest, id: string, { dialect }: LoadedModel): void {
  if (toolUse.tools.length === 0 || callsTools(dialect)) return;
  const param = toolUse.legacy ? "functions" : "tools";
  throw new RequestError(
    "unsupported_field",
    `\`${param}\` is not supported: the profile of ${id} names no parser of tool calls.`,
    { param },
  );
}

function toAsked(
  { conversation, constraint, toolUse }: ConversationRequest,
  route: string,
  prompt: string,
  thinking: AskedThinking,
): Asked {
  return {
    route,
    prompt,
    lastMessage: conversation.messages.at(-1)?.content.map((part) => part.text).join("\n") ?? "",
    tools: toolUse.tools.map((tool) => tool.name),
    thinking,
    constraint: constraint?.kind ?? null,
  };
}

/** What the request asks of thinking. Off is nothing where the template has no such switch: it has to be bounded. */
function toThinking({ thinking }: ConversationRequest, template: string): ThinkingRequest {
  if (thinking.enabled !== false || mentions(template, "enable_thinking")) return thinking;
  const { enabled: _, ...asked } = thinking;
  return asked;
}

/** Fields that go to the template have no effect where it does not read them; then they are listed. */
function listUnread(request: ConversationRequest, template: string, thinking: AskedThinking): void {
  const { templateArguments } = request.conversation;
  const noEffort = templateArguments.reasoning_effort === "none";
  for (const name of Object.keys(templateArguments)) {
    if (mentions(template, name)) continue;
    // What bounds the thinking has an effect without the template.
    const bounds = name === "reasoning_effort" || name === "thinking_budget";
    if (bounds && thinking.budget !== null) continue;
    // No effort has been made a switch as well: one of the two is enough.
    if (noEffort && (name === "enable_thinking" || mentions(template, "enable_thinking"))) continue;
    const field = Object.hasOwn(request.argumentFields, name)
      ? request.argumentFields[name]
      : `chat_template_kwargs.${toSafeName(name)}`;
    if (typeof field === "string") request.ignored.add(field);
  }
}

function mentions(template: string, name: string): boolean {
  return /^\w+$/.test(name) && new RegExp(`\\b${name}\\b`).test(template);
}
