/**
 * One opened checkpoint inside the text worker: its tokenizer and its templates.
 *
 * @module
 */
import type { Conversation } from "../flow.ts";
import { TemplateError } from "./errors.ts";
import type { OpenedModel, RenderedPrompt } from "./protocol.ts";
import { repairConversation } from "./role_repair.ts";
import { ChatTemplate } from "./template.ts";
import { loadTextFiles, type TextFiles } from "./text_files.ts";
import { toTokenTable } from "./token_bytes.ts";
import { type EncodeOptions, TextTokenizer } from "./tokenizer.ts";

/** A checkpoint's text side. */
export class CheckpointText {
  readonly #files: TextFiles;
  readonly #tokenizer: TextTokenizer;
  readonly #template: ChatTemplate;

  private constructor(files: TextFiles) {
    this.#files = files;
    this.#tokenizer = new TextTokenizer(files);
    this.#template = new ChatTemplate({ ...files, addedTokens: files.tokenizer.added_tokens });
  }

  /** Reads the files. @throws {TextFilesError} If one is missing or damaged. */
  static async open(directory: string): Promise<CheckpointText> {
    return new CheckpointText(await loadTextFiles(directory));
  }

  /** What the main isolate keeps of it. */
  describe(model: number): OpenedModel {
    const { endTokens, generationDefaults, modelType, contextTokens, templates } = this.#files;
    const chatTemplate = templates.get("default");
    return {
      model,
      table: toTokenTable(this.#files.tokenizer),
      endTokens,
      generationDefaults,
      ...(modelType === undefined ? {} : { modelType }),
      ...(contextTokens === undefined ? {} : { contextTokens }),
      ...(chatTemplate === undefined ? {} : { chatTemplate }),
    };
  }

  /**
   * The prompt of a conversation, repaired first.
   *
   * @throws {TemplateError} If the template refuses it all the same.
   * @throws {PromptTooLong} If it is known to have far more tokens than `tokensMax`.
   */
  render(conversation: Conversation, tokensMax?: number): RenderedPrompt {
    const traits = this.#template.traits();
    const { conversation: repaired, repairs } = repairConversation(conversation, traits);
    return { ...this.#render(repaired, traits.argumentsAsText, tokensMax), repairs };
  }

  /** The prompt of a conversation as it is, as transformers makes it. @throws {TemplateError} If it is refused. */
  renderAsGiven(conversation: Conversation): RenderedPrompt {
    return this.#render(conversation, false);
  }

  #render(conversation: Conversation, argumentsAsText: boolean, tokensMax?: number): RenderedPrompt {
    const pieces = this.#template.render(conversation, argumentsAsText);
    const { ids, unreadable } = this.#tokenizer.encodePieces(pieces, tokensMax);
    if (unreadable !== undefined) {
      throw new TemplateError(`The conversation spells ${unreadable}, which this model can't read as plain text`);
    }
    return { text: pieces.map((piece) => piece.text).join(""), ids };
  }

  /** Ids of a text. @throws {PromptTooLong} If it is known to have more than `tokensMax`. */
  encode(text: string, options: EncodeOptions, tokensMax?: number): Int32Array<ArrayBuffer> {
    return this.#tokenizer.encode(text, options, tokensMax);
  }
}
