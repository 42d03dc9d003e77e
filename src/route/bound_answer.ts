/**
 * What an answer is bound to, from the request and the model's dialect, and the guides that keep it.
 *
 * | calls | content | the answer is |
 * |---|---|---|
 * | must be made | any | calls; a dialect that can't be bound is checked afterwards (whole_calls.ts) |
 * | may be made | bound | calls, or the bound content |
 * | may be made, a strict tool among them | free | text with bound calls in it |
 * | may be made | free | free |
 * | none | bound | the bound content |
 *
 * @module
 */
import { createHash } from "node:crypto";
import { type Constraint, toConstraintError } from "../api/constraint.ts";
import { type ErrorCode, RequestError } from "../api/errors.ts";
import type { IgnoredFields } from "../api/fields.ts";
import type { ToolUse } from "../api/tools.ts";
import type { TokenGuide } from "../flow.ts";
import { GrammarError } from "../grammar/errors.ts";
import type { Grammar } from "../grammar/expr.ts";
import { GrammarGuide } from "../guide/grammar_guide.ts";
import type { GrammarWorker, GuideVocabulary } from "../guide/grammar_worker.ts";
import { toMachine } from "../guide/machine.ts";
import { States } from "../guide/states.ts";
import { type AnswerRequest, bindsCalls, bindsContent, toAnswerGrammar } from "../output/answer_grammar.ts";
import { labelOf } from "../output/label.ts";
import { CallRequest } from "../output/tools/call_request.ts";
import type { LoadedModel } from "./models.ts";

/** A request that may bind its answers. */
export interface BindingRequest {
  /** Who answers. */
  model: Pick<LoadedModel, "dialect" | "info" | "text">;
  /** Follows grammars. */
  grammars: GrammarWorker;
  /** Of content. */
  constraint?: Constraint | undefined;
  /** Of calls. */
  toolUse?: ToolUse | undefined;
  /** The rendered prompt; absent: answers are text as the model writes it, without thinking. */
  promptText?: string;
  /** The answer is to go on behind its end. */
  ignoresEnd: boolean;
  /** The answer is written down already: what binds it is checked, and that is all. */
  scripted: boolean;
  /** Gets keywords that tools are not bound by. */
  ignored: IgnoredFields;
}

/** Makes a guide for one answer. */
export type GuideMaker = () => TokenGuide;

/**
 * The maker of guides; undefined: answers are free.
 *
 * @throws {RequestError} If what is asked for can't be kept.
 */
export async function bindAnswers(request: BindingRequest): Promise<GuideMaker | undefined> {
  const wanted = toAnswerRequest(request);
  if (wanted === undefined) return undefined;
  if (request.ignoresEnd) {
    const message = "`ignore_eos` is not supported for an answer that is bound: it ends where its form does.";
    throw new RequestError("unsupported_combination", message, { param: "ignore_eos" });
  }
  const { constraint, toolUse, grammars } = request;
  const toolParam = toolUse?.legacy === true ? "functions" : "tools";
  const { grammar, key } = await orRefuse("invalid_tool_schema", toolParam, () => toKeyed(wanted, request));
  const param = constraint?.param ?? toolParam;
  if (request.scripted) {
    await orRefuse("invalid_grammar", param, () => new States(toMachine(grammar, () => true)).start());
    return undefined;
  }
  const vocabulary = toGuideVocabulary(request.model);
  await orRefuse("invalid_grammar", param, () => grammars.prepare(vocabulary, key, grammar));
  return () => new GrammarGuide({ worker: grammars, vocabulary, key, grammar });
}

/** @throws {RequestError} If a grammar can't be followed. */
async function orRefuse<T>(code: ErrorCode, param: string, make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    throw error instanceof GrammarError ? toConstraintError(error, code, param) : error;
  }
}

function toAnswerRequest(request: BindingRequest): WantedAnswer | undefined {
  const { constraint, toolUse, promptText } = request;
  const dialect = promptText === undefined ? PLAIN : request.model.dialect;
  const tools = toolUse?.tools ?? [];
  const mode = toolUse?.choice.mode ?? "none";
  const base = { dialect, prompt: promptText ?? "" };
  if (constraint !== undefined && !bindsContent(dialect)) {
    const message =
      `\`${constraint.param}\` is not supported: what this model answers can't be told from what it thinks.`;
    throw new RequestError("unsupported_field", message, { param: constraint.param });
  }
  if (tools.length === 0) return constraint && { ...base, content: constraint.grammar };
  const calls = { tools, callsMax: toolUse?.callsMax ?? null };
  const canBind = bindsCalls(dialect);
  if (mode === "required" || mode === "named") return canBind ? { ...base, calls } : undefined;
  if (constraint !== undefined) {
    if (canBind) return { ...base, calls, content: constraint.grammar };
    const message = `\`${constraint.param}\` is not supported beside tools: this model's calls can't be bound.`;
    throw new RequestError("unsupported_combination", message, { param: constraint.param });
  }
  const isStrict = tools.some((tool) => tool.strict === true);
  return isStrict && canBind ? { ...base, calls, content: "free" } : undefined;
}

/** Completions: no dialect. */
const PLAIN = { tools: "none", reasoning: "none" } as const;

const vocabularies = new WeakMap<object, GuideVocabulary>();

/** One object a model, which the worker knows it by. */
function toGuideVocabulary({ text, info }: BindingRequest["model"]): GuideVocabulary {
  let vocabulary = vocabularies.get(text);
  if (vocabulary === undefined) {
    vocabulary = { table: text.vocabulary.parts, size: info.vocabularySize, endTokens: text.endTokens };
    vocabularies.set(text, vocabulary);
  }
  return vocabulary;
}

/** A grammar, and what is equal for equal grammars only. */
interface KeyedGrammar {
  grammar: Grammar;
  key: string;
  /** Keywords of tools that it does not keep. */
  dropped: ReadonlySet<string>;
}

/** What an answer has to be, before any of its tools' schemas is looked at. */
type WantedAnswer = Omit<AnswerRequest, "calls"> & { calls?: Pick<CallRequest, "tools" | "callsMax"> };

/** Agents send the same tools each time: sixty of them cost the main isolate tens of milliseconds. */
const KEPT_MAX = 16;
const kept = new Map<string, KeyedGrammar>();

/** The grammar of what is wanted; one of tools is kept. @throws {GrammarError} For a schema that can't be honoured. */
function toKeyed(wanted: WantedAnswer, { ignored, toolUse, model }: BindingRequest): KeyedGrammar {
  const { calls, content, ...base } = wanted;
  const isKept = calls !== undefined && (content === undefined || content === "free");
  const label = base.dialect.tools === "hy_v3" ? labelOf(model.text.vocabulary) : undefined;
  // Of the prompt, its end alone tells anything.
  const name = isKept ? JSON.stringify([base.dialect, label ?? "", base.prompt.slice(-64), calls, content ?? ""]) : "";
  let keyed = isKept ? kept.get(name) : undefined;
  if (keyed === undefined) {
    const dropped = new Set<string>();
    const request = calls &&
      new CallRequest(calls.tools, calls.callsMax, (_tool, keyword) => dropped.add(keyword), {
        prompt: base.prompt,
        ...(label !== undefined && { label }),
      });
    const grammar = toAnswerGrammar({ ...base, ...(content && { content }), ...(request && { calls: request }) });
    keyed = { grammar, key: toKey(grammar), dropped };
  }
  if (isKept) {
    kept.delete(name);
    kept.set(name, keyed);
    for (const oldest of kept.keys()) {
      if (kept.size <= KEPT_MAX) break;
      kept.delete(oldest);
    }
  }
  const path = toolUse?.schemaPath ?? "tools[].function.parameters";
  for (const keyword of keyed.dropped) ignored.add(`${path} ${keyword}`);
  return keyed;
}

function toKey({ rules, root }: Grammar): string {
  return createHash("sha256").update(JSON.stringify([root, ...rules])).digest("base64");
}
