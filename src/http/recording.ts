/**
 * What the edge tells the record of a request: its arrival, its plan, its end.
 *
 * @module
 */
import { ERROR_CODES, type RequestError } from "../api/errors.ts";
import type { LoadedModel } from "../route/models.ts";
import type { RecordedEnd, RecordedPlan, RequestRecorder } from "../trace/recorder.ts";
import type { Outcome } from "./activity.ts";
import type { AppContext, AppDependencies } from "./app_context.ts";
import { toRequestError } from "./errors.ts";
import type { Plan } from "./generate.ts";
import { toOwner } from "./guards.ts";

/** What only the record wants to know of a plan. */
export interface PlanFacts {
  /** Answers. */
  loaded: LoadedModel;
  /** Its parsers read the answers; without, they are text. */
  readsDialect: boolean;
  /** Rendered text, if there is one, and ids. */
  prompts: readonly { text?: string; ids: Int32Array }[];
  /** Kind of what binds the answers; null: they are free. */
  constraint: string | null;
  /** How reasoning goes to the client; absent: as text. */
  reasoningShown?: RecordedPlan["reasoningShown"];
  /** Turns of the prompt that have the tokens that the model wrote; absent: none. */
  keptTurns?: number;
  /** What was changed in the conversation, by name. */
  promptRepairs: readonly { name: string; count: number }[];
}

/** A request of a generating route has shown its key. */
export function beginRecord(context: AppContext, { records, clock, config }: AppDependencies, route: string): void {
  const record = records.begin({
    requestKey: context.get("requestKey"),
    route,
    owner: toOwner(context.req.raw.headers, config),
    toolArguments: config.toolArguments,
    arrivedMs: context.get("arrivedMs"),
    created: clock.epochSeconds(),
    nowMs: () => clock.nowMs(),
  });
  context.set("record", record);
}

/** The record of a request whose route makes answers. */
export function requireRecord(context: AppContext): RequestRecorder {
  const record = context.get("record");
  if (record === undefined) throw new Error("A route makes answers and is not marked as recorded");
  return record;
}

/** The request was refused, or its whole answer failed and that was recorded already. @param body As it is sent. */
export function endRefused(
  context: AppContext,
  { records }: AppDependencies,
  error: RequestError,
  body: object,
): void {
  const record = context.get("record");
  if (record === undefined || record.ended) return;
  record.sent(JSON.stringify(body));
  records.end(record, { state: "refused", status: statusOf(error), error: toTold(error) });
}

/** A plan as the record keeps it. */
export function toRecordedPlan(plan: Plan): RecordedPlan {
  const { facts, choices } = plan;
  const { loaded } = facts;
  const [first] = choices;
  if (first === undefined) throw new Error("A plan has no choice");
  return {
    id: plan.id,
    model: plan.model,
    stream: plan.stream,
    prepareMs: plan.prepareMs,
    ...(facts.readsDialect && { dialect: loaded.dialect }),
    contextTokens: loaded.contextTokens,
    vocabularySize: loaded.info.vocabularySize,
    constraint: facts.constraint,
    reasoningShown: facts.reasoningShown ?? "text",
    ignored: plan.ignored.names(),
    promptRepairs: facts.promptRepairs,
    prompts: facts.prompts,
    promptOpen: first.promptOpen ?? "",
    vocabulary: first.vocabulary,
    request: first.request,
    choices: choices.map(({ request, decoder }, index) => ({
      prompt: plan.promptOf(index),
      seed: request.sampling.seed,
      account: () => decoder.account,
    })),
  };
}

/** How a planned request ended. The head of a stream was sent with 200, whatever came then. */
export function toRecordedEnd(plan: Plan, outcome: Outcome, error: unknown): RecordedEnd {
  if (error === undefined) return { state: outcome, status: 200 };
  const known = toRequestError(error, plan.requestId, plan.wire);
  return { state: outcome, status: plan.stream ? 200 : statusOf(known), error: toTold(known) };
}

function statusOf(error: RequestError): number {
  return error.options.status ?? ERROR_CODES[error.code].status;
}

function toTold(error: RequestError): NonNullable<RecordedEnd["error"]> {
  return { code: error.code, message: error.message, param: error.options.param ?? null };
}
