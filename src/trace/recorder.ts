/**
 * Watches one request from its arrival to its end and makes its record.
 *
 * The edge tells it what it knows: the body, the plan, events, what was sent, the end. Numbers are always kept; prompt,
 * tokens and answer only where content is kept, and never more than RESPONSE_LENGTH_MAX of the answer.
 *
 * @module
 */
import type { RecordContent, RequestRecord, VocabularyPiece } from "../api/request_record.ts";
import type { GenerationEvent, GenerationLimits, OutputEvent, Sampling, Vocabulary } from "../flow.ts";
import { ChoiceRecorder, type RecordedChoice } from "./choice_recorder.ts";

/** Most of a response that is kept, in UTF-16 units. */
export const RESPONSE_LENGTH_MAX = 4 * 1024 * 1024;
/** Longest message of an error that is kept, in UTF-16 units. */
export const ERROR_LENGTH_MAX = 1000;

/** What is known of a request when it arrives. */
export interface RecorderStart {
  /** Part of every id of this request. */
  requestKey: string;
  /** Path of the wire. */
  route: string;
  /** Whose it is: requests are told to their own key only. */
  owner: string;
  /** When it arrived; of `nowMs`. */
  arrivedMs: number;
  /** The same in seconds since the epoch. */
  created: number;
  /** Whether streams show calls as they are written, as the server was told. */
  toolArguments?: RequestRecord["tool_arguments"];
  /** Prompt, tokens and answer are kept. */
  keepsContent: boolean;
  /** Time. */
  nowMs: () => number;
}

/** What is known of a request when it has been checked and rendered. */
export interface RecordedPlan {
  /** Of the answer. */
  id: string;
  /** Served id. */
  model: string;
  /** SSE or one JSON. */
  stream: boolean;
  /** What the door and the template took. */
  prepareMs: number;
  /** Parsers that read the answer; absent: none do. */
  dialect?: { tools: string; reasoning: string };
  /** Of the model. */
  contextTokens: number;
  /** Of the model. */
  vocabularySize: number;
  /** Kind of what binds the answer; null: it is free. */
  constraint: string | null;
  /** How reasoning goes to the client. */
  reasoningShown: RequestRecord["reasoning_shown"];
  /** Names of fields without effect. */
  ignored: readonly string[];
  /** What was changed in the conversation, by name. */
  promptRepairs: readonly { name: string; count: number }[];
  /** Rendered text, if there is one, and ids. */
  prompts: readonly { text?: string; ids: Int32Array }[];
  /** Text that a script took the template to have opened. */
  promptOpen: string;
  /** What the tokens spell. */
  vocabulary: Vocabulary;
  /** Of the first choice. */
  request: { endTokens: readonly number[]; sampling: Sampling; limits: GenerationLimits };
  /** At least one. */
  choices: readonly RecordedChoice[];
}

/** How a request ended. */
export interface RecordedEnd {
  /** In one word. */
  state: Exclude<RequestRecord["state"], "running">;
  /** HTTP status. */
  status: number;
  /** What the client was told. */
  error?: { code: string; message: string; param: string | null };
}

/** One request. */
export class RequestRecorder {
  /** What was known at its arrival. */
  readonly start: RecorderStart;
  #body: unknown = null;
  #plan: RecordedPlan | undefined;
  #choices: ChoiceRecorder[] = [];
  #firstTokenMs: number | undefined;
  #response: string[] = [];
  #responseLength = 0;
  #end: (RecordedEnd & { totalMs: number }) | undefined;

  /** @param start What is known. */
  constructor(start: RecorderStart) {
    this.start = start;
  }

  /** Whether it has ended. */
  get ended(): boolean {
    return this.#end !== undefined;
  }

  /** The request's JSON. */
  setBody(body: unknown): void {
    if (this.start.keepsContent) this.#body = body;
  }

  /** The request is about to be answered. */
  setPlan(plan: RecordedPlan): void {
    this.#plan = plan;
    this.#choices = plan.choices.map((choice) => new ChoiceRecorder(choice, this.start.keepsContent));
  }

  /** An event of the engine. */
  observe(choice: number, event: GenerationEvent): void {
    if (event.type === "token") this.#firstTokenMs ??= this.start.nowMs() - this.start.arrivedMs;
    this.#choices[choice]?.observe(event);
  }

  /** What an event made visible. */
  show(choice: number, event: OutputEvent): void {
    this.#choices[choice]?.show(event);
  }

  /** Text that goes to the client. */
  sent(text: string): void {
    if (!this.start.keepsContent) return;
    if (this.#responseLength + text.length <= RESPONSE_LENGTH_MAX) this.#response.push(text);
    this.#responseLength += text.length;
  }

  /** The end; a second one changes nothing. @returns Whether it is the first. */
  end(end: RecordedEnd): boolean {
    if (this.#end !== undefined) return false;
    this.#end = { ...end, totalMs: this.start.nowMs() - this.start.arrivedMs };
    return true;
  }

  /** The record so far, without content. */
  toRecord(): RequestRecord {
    const { requestKey, route, created, arrivedMs, nowMs } = this.start;
    const plan = this.#plan;
    const usages = this.#choices.flatMap(({ usage }) => usage ?? []);
    const longest = (pick: (usage: (typeof usages)[number]) => number): number | null =>
      usages.length === 0 ? null : Math.max(...usages.map(pick)) / 1000;
    const choices = this.#choices.map((choice, index) => choice.toRecord(index, this.#end?.state === "completed"));
    return {
      object: "request",
      id: plan?.id ?? `req-${requestKey}`,
      request_id: `req-${requestKey}`,
      route,
      model: plan?.model ?? null,
      state: this.#end?.state ?? "running",
      status: this.#end?.status ?? null,
      error: this.#end?.error === undefined ? null : toBounded(this.#end.error),
      stream: plan?.stream ?? false,
      created,
      times_ms: {
        prepare: toRounded(plan?.prepareMs),
        queue: longest(({ queueUs }) => queueUs),
        prefill: longest(({ prefillUs }) => prefillUs),
        first_token: toRounded(this.#firstTokenMs),
        decode: longest(({ decodeUs }) => decodeUs),
        total: toRounded(this.#end?.totalMs ?? nowMs() - arrivedMs),
      },
      dialect: plan?.dialect ?? null,
      ...toAsked(plan),
      tool_arguments: this.start.toolArguments ?? "whole",
      reasoning_shown: plan?.reasoningShown ?? "text",
      constraint: plan?.constraint ?? null,
      ignored: [...plan?.ignored ?? []],
      prompt_repairs: [...plan?.promptRepairs ?? []],
      usage: {
        prompt_tokens: (plan?.prompts ?? []).reduce((sum, { ids }) => sum + ids.length, 0),
        cached_tokens: usages.reduce(
          (least, usage) => Math.min(least, usage.cachedTokens),
          usages[0]?.cachedTokens ?? 0,
        ),
        completion_tokens: choices.reduce((sum, choice) => sum + choice.completion_tokens, 0),
        reasoning_tokens: choices.reduce((sum, choice) => sum + choice.reasoning_tokens, 0),
      },
      choices,
      content: null,
      content_note: null,
    };
  }

  /** The content; undefined where it is not kept. */
  toContent(): RecordContent | undefined {
    if (!this.start.keepsContent) return undefined;
    const plan = this.#plan;
    const endTokens = plan?.request.endTokens ?? [];
    const prompts = plan?.prompts ?? [];
    const mentioned = new Set([
      ...this.#choices.flatMap((choice) => choice.mentioned()),
      // A prompt of ids may be echoed.
      ...prompts.flatMap(({ text, ids }) => text === undefined ? [...ids] : []),
    ]);
    const pieces = [...mentioned].map((id): [string, VocabularyPiece] => [String(id), toPiece(plan, id)]);
    return {
      body: this.#body,
      prompts: prompts.map(({ text, ids }) => ({ text: text ?? null, ids: [...ids] })),
      prompt_open: plan?.promptOpen ?? "",
      end_tokens: [...endTokens],
      vocabulary: {
        strips_leading_space: plan?.vocabulary.stripsLeadingSpace ?? false,
        pieces: Object.fromEntries(pieces),
      },
      choices: plan === undefined
        ? []
        : this.#choices.map((choice) => choice.toContent(plan.vocabulary, new Set(endTokens))),
      response: { text: this.#response.join(""), cut: this.#responseLength > RESPONSE_LENGTH_MAX },
    };
  }
}

function toAsked(plan: RecordedPlan | undefined): Pick<RequestRecord, "sampling" | "limits"> {
  if (plan === undefined) return { sampling: null, limits: null };
  const { sampling, limits } = plan.request;
  return {
    sampling: {
      temperature: sampling.temperature,
      top_p: sampling.topP,
      top_k: sampling.topK,
      min_p: sampling.minP,
      repetition_penalty: sampling.repetitionPenalty,
      presence_penalty: sampling.presencePenalty,
      frequency_penalty: sampling.frequencyPenalty,
      logit_bias_count: sampling.logitBias.size,
    },
    limits: {
      max_tokens: limits.maxTokens,
      context_tokens: plan.contextTokens,
      vocabulary_size: plan.vocabularySize,
      stop_count: limits.stop.length,
      ignore_eos: limits.ignoreEnd,
    },
  };
}

function toPiece(plan: RecordedPlan | undefined, id: number): VocabularyPiece {
  const bytes = plan?.vocabulary.bytes(id) ?? new Uint8Array();
  const special = plan?.vocabulary.isSpecial(id) ?? false;
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), special };
  } catch {
    return { base64: btoa(String.fromCharCode(...bytes)), special };
  }
}

/** Milliseconds in whole microseconds. */
function toRounded(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms * 1000) / 1000;
}

function toBounded(error: NonNullable<RecordedEnd["error"]>): RequestRecord["error"] {
  const { code, message, param } = error;
  return { code, message: message.slice(0, ERROR_LENGTH_MAX), param };
}
