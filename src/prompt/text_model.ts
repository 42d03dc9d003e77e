/**
 * A model's text side as the rest of the server sees it: conversations and texts in, token ids out. All work is done in
 * the text worker; only the table of token bytes lives here, for the decoders.
 *
 * @module
 */
import type { Conversation } from "../flow.ts";
import type { OpenedModel, RenderedPrompt } from "./protocol.ts";
import type { GenerationDefaults } from "./text_files.ts";
import { TextWorker } from "./text_worker.ts";
import { TokenTable } from "./token_table.ts";
import type { EncodeOptions } from "./tokenizer.ts";

export type { EncodeOptions, GenerationDefaults, RenderedPrompt };

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
  /** The prompt of a conversation. @throws {TemplateError} With a sentence for the client. */
  render(conversation: Conversation): Promise<RenderedPrompt>;
  /** Ids of a text. */
  encode(text: string, options: EncodeOptions): Promise<Int32Array>;
  /** Frees the tables; a worker that was made for this model ends. */
  close(): Promise<void>;
}

/**
 * Opens a checkpoint's text side.
 *
 * @param directory Folder with tokenizer.json.
 * @param worker Shared worker; without one the model gets its own, which ends with it.
 * @throws {TextFilesError} If a file is missing, damaged or unknown.
 */
export async function openTextModel(directory: string, worker?: TextWorker): Promise<TextModel> {
  const own = worker ?? new TextWorker();
  try {
    return new WorkerTextModel(own, await own.call({ type: "open", directory }), worker === undefined);
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

  constructor(worker: TextWorker, opened: OpenedModel, ownsWorker: boolean) {
    this.#worker = worker;
    this.#model = opened.model;
    this.#ownsWorker = ownsWorker;
    this.vocabulary = new TokenTable(opened.table);
    this.endTokens = opened.endTokens;
    this.generationDefaults = opened.generationDefaults;
    if (opened.modelType !== undefined) this.modelType = opened.modelType;
    if (opened.contextTokens !== undefined) this.contextTokens = opened.contextTokens;
    if (opened.chatTemplate !== undefined) this.chatTemplate = opened.chatTemplate;
  }

  render(conversation: Conversation): Promise<RenderedPrompt> {
    return this.#worker.call({ type: "render", model: this.#model, conversation });
  }

  encode(text: string, options: EncodeOptions): Promise<Int32Array> {
    return this.#worker.call({ type: "encode", model: this.#model, text, options });
  }

  async close(): Promise<void> {
    if (this.#ownsWorker) this.#worker.close();
    else await this.#worker.call({ type: "close", model: this.#model });
  }
}
