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
import { mustCall, type ToolUse } from "../api/tools.ts";
import type { TokenGuide } from "../flow.ts";
import { GrammarError } from "../grammar/errors.ts";
import { GrammarGuide } from "../guide/grammar_guide.ts";
import { type GrammarWorker, type GuideVocabulary, ToolGrammarError } from "../guide/grammar_worker.ts";
import { toMachine } from "../guide/machine.ts";
import { States } from "../guide/states.ts";
import { bindsCalls } from "../output/answer_grammar.ts";
import { type AnswerSource, makeAnswer } from "../output/answer_source.ts";
import { labelOf } from "../output/label.ts";
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
  const answer = toAnswerSource(request);
  const { tools = [] } = request.toolUse ?? {};
  // The model is shown the grammar all the same.
  if (!answer?.calls && tools.some(({ freeform }) => freeform?.grammar)) request.ignored.add("tools[].format");
  if (answer === undefined) return undefined;
  if (request.ignoresEnd) {
    const message = "`ignore_eos` is not supported for an answer that is bound: it ends where its form does.";
    throw new RequestError("unsupported_combination", message, { param: "ignore_eos" });
  }
  const { constraint, toolUse, grammars, ignored } = request;
  const toolParam = toolUse?.legacy === true ? "functions" : "tools";
  const param = constraint?.param ?? toolParam;
  const listDropped = (dropped: readonly string[]): void => {
    const path = toolUse?.schemaPath ?? "tools[].function.parameters";
    for (const keyword of dropped) ignored.add(`${path} ${keyword}`);
  };
  if (request.scripted) {
    const made = await orRefuse("invalid_tool_schema", toolParam, () => makeAnswer(answer));
    listDropped(made.dropped);
    await orRefuse("invalid_grammar", param, () => new States(toMachine(made.grammar, () => true)).start());
    return undefined;
  }
  const vocabulary = toGuideVocabulary(request.model);
  const key = toKey(answer);
  const source = { answer };
  try {
    listDropped(await grammars.prepare(vocabulary, key, source));
  } catch (error) {
    if (error instanceof ToolGrammarError) throw toConstraintError(error, "invalid_tool_schema", toolParam);
    throw error instanceof GrammarError ? toConstraintError(error, "invalid_grammar", param) : error;
  }
  return () => new GrammarGuide({ worker: grammars, vocabulary, key, source });
}

/** Equal for equal answers only. */
function toKey(answer: AnswerSource): string {
  const json = JSON.stringify(answer, (_name, value: unknown) => value instanceof Map ? [...value] : value);
  return createHash("sha256").update(json).digest("base64");
}

/** @throws {RequestError} If a grammar can't be followed. */
async function orRefuse<T>(code: ErrorCode, param: string, make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    throw error instanceof GrammarError ? toConstraintError(error, code, param) : error;
  }
}

/** Of the prompt its end alone tells anything: whether thinking is open. */
const PROMPT_END = 64;

function toAnswerSource(request: BindingRequest): AnswerSource | undefined {
  const { constraint, toolUse, promptText } = request;
  const dialect = promptText === undefined ? PLAIN : request.model.dialect;
  const tools = toolUse?.tools ?? [];
  const base = { dialect, prompt: (promptText ?? "").slice(-PROMPT_END) };
  if (tools.length === 0) return constraint && { ...base, content: constraint.grammar };
  const label = dialect.tools === "hy_v3" ? labelOf(request.model.text.vocabulary) : undefined;
  const calls = { tools, callsMax: toolUse?.callsMax ?? null, ...(label !== undefined && { label }) };
  const canBind = bindsCalls(dialect, tools);
  if (toolUse && mustCall(toolUse)) return canBind ? { ...base, calls } : undefined;
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
