/**
 * A model's text side as the rest of the server sees it: conversations and texts in, token ids out. All work is done in
 * the text worker; only the table of token bytes lives here, for the decoders.
 *
 * @module
 */
import type { Conversation } from "../flow.ts";
import { TextCallDropped } from "./errors.ts";
import { LONG_CHARS } from "./limits.ts";
import { LongTexts } from "./long_texts.ts";
import type { OpenedModel, RenderedPrompt, TextCall, TextResults } from "./protocol.ts";
import type { GenerationDefaults } from "./text_files.ts";
import { TextWorker } from "./text_worker.ts";
import { TokenTable } from "./token_table.ts";
import type { EncodeOptions } from "./tokenizer.ts";

export type { EncodeOptions, GenerationDefaults, RenderedPrompt };

/** What ends the work on a prompt before its end. */
export interface PromptBounds {
  /** Tokens that may be; a text that is known to have far more is given up. Absent: any number. */
  tokensMax?: number;
  /** Aborts when nobody waits any more. */
  signal?: AbortSignal;
}

/** One checkpoint's templates and tokenizer. */
export interface TextModel {
  /** Bytes and kinds of its tokens. */
  readonly vocabulary: TokenTable;
  /** Ids that end an answer: generation_config.json's, else config.json's, then the tokenizer's eos. */
  readonly endTokens: readonly number[];
  /** Sampling that generation_config.json recommends. */
  readonly generationDefaults: GenerationDefaults;
  /** `model_type` of config.json, for profile matching. */
  readonly modelType?: string;
  /** `max_position_embeddings` of config.json. */
  readonly contextTokens?: number;
  /** The template that plain chats use, for profile matching; absent: the model can't chat. */
  readonly chatTemplate?: string;
  /**
   * The prompt of a conversation.
   *
   * @throws {TemplateError | PromptTooLong | TextCallDropped} With a sentence for the client, or as the bounds say.
   */
  render(conversation: Conversation, bounds?: PromptBounds): Promise<RenderedPrompt>;
  /** Ids of a text. @throws {PromptTooLong | TextCallDropped} As the bounds say. */
  encode(text: string, options: EncodeOptions, bounds?: PromptBounds): Promise<Int32Array>;
  /** Frees the tables; a worker that was made for this model ends. */
  close(): Promise<void>;
}

/**
 * Opens a checkpoint's text side.
 *
 * @param directory Folder with tokenizer.json.
 * @param worker Shared worker; without one the model gets its own, which ends with it.
 * @param long Takes the long texts; only tests give another than ours.
 * @throws {TextFilesError} If a file is missing, damaged or unknown.
 */
export async function openTextModel(
  directory: string,
  worker?: TextWorker,
  long: LongTexts = new LongTexts(directory),
): Promise<TextModel> {
  const own = worker ?? new TextWorker();
  try {
    return new WorkerTextModel(own, await own.call({ type: "open", directory }), worker === undefined, long);
  } catch (error) {
    if (worker === undefined) own.close();
    throw error;
  }
}

class WorkerTextModel implements TextModel {
  readonly vocabulary: TokenTable;
  readonly endTokens: readonly number[];
  readonly generationDefaults: GenerationDefaults;
  readonly modelType?: string;
  readonly contextTokens?: number;
  readonly chatTemplate?: string;
  readonly #worker: TextWorker;
  readonly #model: number;
  readonly #ownsWorker: boolean;
  readonly #long: LongTexts;

  constructor(worker: TextWorker, opened: OpenedModel, ownsWorker: boolean, long: LongTexts) {
    this.#worker = worker;
    this.#long = long;
    this.#model = opened.model;
    this.#ownsWorker = ownsWorker;
    this.vocabulary = new TokenTable(opened.table);
    this.endTokens = opened.endTokens;
    this.generationDefaults = opened.generationDefaults;
    if (opened.modelType !== undefined) this.modelType = opened.modelType;
    if (opened.contextTokens !== undefined) this.contextTokens = opened.contextTokens;
    if (opened.chatTemplate !== undefined) this.chatTemplate = opened.chatTemplate;
  }

  async render(conversation: Conversation, bounds: PromptBounds = {}): Promise<RenderedPrompt> {
    const toCall = (model: number) => ({ type: "render", model, conversation, ...toLimit(bounds) } as const);
    return await this.#call(countChars(conversation), toCall, bounds);
  }

  async encode(text: string, options: EncodeOptions, bounds: PromptBounds = {}): Promise<Int32Array> {
    const toCall = (model: number) => ({ type: "encode", model, text, options, ...toLimit(bounds) } as const);
    return await this.#call(text.length, toCall, bounds);
  }

  /** A short text's call, or a long one's. */
  #call<C extends TextCall>(
    chars: number,
    toCall: (model: number) => C,
    { signal }: PromptBounds,
  ): Promise<TextResults[C["type"]]> {
    if (signal?.aborted) return Promise.reject(new TextCallDropped());
    return chars > LONG_CHARS ? this.#long.call(toCall, signal) : this.#worker.call(toCall(this.#model), signal);
  }

  async close(): Promise<void> {
    this.#long.close();
    if (this.#ownsWorker) this.#worker.close();
    else await this.#worker.call({ type: "close", model: this.#model });
  }
}

/** UTF-16 units of what is said and, where that is short, of the tools: enough to tell a long conversation. */
function countChars({ messages, tools }: Conversation): number {
  const lengthOf = (texts: readonly (string | undefined)[]): number =>
    texts.reduce((sum, text = "") => sum + text.length, 0);
  const said = messages.reduce((sum, { content, reasoning, toolCalls = [] }) => (
    sum + lengthOf([reasoning, ...content.map((part) => part.text), ...toolCalls.map((call) => call.arguments)])
  ), 0);
  return said > LONG_CHARS ? said : said + JSON.stringify(tools).length;
}

function toLimit({ tokensMax }: PromptBounds): { tokensMax?: number } {
  return tokensMax === undefined ? {} : { tokensMax };
}
