/**
 * Text → token ids, equal to the reference tokenizers.
 *
 * `@huggingface/tokenizers` does normalizing, pre-tokenizing and merging; the walk around them is ours, because the
 * library can't leave special tokens unparsed, looks ids up by spelling and differs from the reference in the flags of
 * added tokens and in what JavaScript calls white space.
 *
 * Source of the walk: huggingface/tokenizers `src/tokenizer/mod.rs` and `added_vocabulary.rs` at v0.23.
 *
 * @module
 */
import { Tokenizer } from "@huggingface/tokenizers";
import { AddedTokenSplitter } from "./added_tokens.ts";
import { TextFilesError, TextWorkerError } from "./errors.ts";
import { TEXT_CHARS_MAX } from "./limits.ts";
import { toLibraryPreTokenizer } from "./pre_tokenizers.ts";
import type { AddedTokenJson, TextFiles } from "./text_files.ts";

/** How to read a text. */
export interface EncodeOptions {
  /** Put what the tokenizer's post-processor adds (a bos, say) around the ids. Off for rendered templates. */
  addSpecial: boolean;
  /** Read the spelling of a special token as that token. Off for text that a client wrote. */
  parseSpecial: boolean;
}

/** How the pieces of a prompt are joined: see control_tokens.ts. */
export interface EncodePiecesResult {
  /** All ids. */
  ids: Int32Array<ArrayBuffer>;
  /** A plain piece whose spelling is a token even as plain text, if there is one. */
  unreadable?: string;
}

/** One checkpoint's tokenizer. */
export class TextTokenizer {
  readonly #library: Tokenizer;
  /** Added tokens found in the raw text: with special ones and without. */
  readonly #rawAll: AddedTokenSplitter;
  readonly #rawPlain: AddedTokenSplitter;
  /** Those found only after normalizing. */
  readonly #normalizedAll: AddedTokenSplitter;
  readonly #normalizedPlain: AddedTokenSplitter;

  /** Builds the tables. @throws {TextFilesError} If the library does not know a part of the tokenizer. */
  constructor(files: TextFiles) {
    try {
      const preTokenizer = toLibraryPreTokenizer(files.tokenizer.pre_tokenizer);
      this.#library = new Tokenizer({ ...files.tokenizer, pre_tokenizer: preTokenizer }, files.tokenizerConfig);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new TextFilesError(`Cannot use tokenizer.json: ${reason}`);
    }
    const raw: [string, AddedTokenJson][] = [];
    const normalized: [string, AddedTokenJson][] = [];
    for (const token of files.tokenizer.added_tokens) {
      if (token.normalized ?? !token.special) normalized.push([this.#normalize(token.content), token]);
      else raw.push([token.content, token]);
    }
    this.#rawAll = new AddedTokenSplitter(raw);
    this.#rawPlain = new AddedTokenSplitter(raw.filter(([, token]) => !token.special));
    this.#normalizedAll = new AddedTokenSplitter(normalized);
    this.#normalizedPlain = new AddedTokenSplitter(normalized.filter(([, token]) => !token.special));
  }

  /** Ids of a text; a character that the vocabulary can't spell is its unknown token, or nothing. */
  encode(text: string, options: EncodeOptions): Int32Array<ArrayBuffer> {
    const ids: number[] = [];
    this.#encodeSections(text, true, options.parseSpecial, ids);
    return options.addSpecial ? this.#withSpecial(ids) : Int32Array.from(ids);
  }

  /** Ids of pieces one after the other; a plain one is read without any added token, special or not. */
  encodePieces(pieces: readonly { text: string; plain: boolean }[]): EncodePiecesResult {
    const ids: number[] = [];
    for (const [i, { text, plain }] of pieces.entries()) {
      const before = ids.length;
      if (plain) {
        this.#encodePlain(this.#normalize(text), i === 0, ids);
        const own = this.#library.token_to_id(text);
        if (own !== undefined && ids.includes(own, before)) return { ids: Int32Array.from(ids), unreadable: text };
      } else this.#encodeSections(text, i === 0, true, ids);
    }
    return { ids: Int32Array.from(ids) };
  }

  #encodeSections(text: string, first: boolean, parseSpecial: boolean, ids: number[]): void {
    if (text.length > TEXT_CHARS_MAX) {
      throw new TextWorkerError(
        `Cannot encode a text of ${text.length} characters: at most ${TEXT_CHARS_MAX} are taken`,
      );
    }
    const raw = parseSpecial ? this.#rawAll : this.#rawPlain;
    const normalized = parseSpecial ? this.#normalizedAll : this.#normalizedPlain;
    for (const section of raw.split(text)) {
      if ("token" in section) {
        ids.push(section.token.id);
        continue;
      }
      for (const part of normalized.split(this.#normalize(section.text))) {
        if ("token" in part) ids.push(part.token.id);
        else this.#encodePlain(part.text, first && section.start === 0 && part.start === 0, ids);
      }
    }
  }

  #normalize(text: string): string {
    return this.#library.normalizer?.normalize(text) ?? text;
  }

  #encodePlain(text: string, first: boolean, ids: number[]): void {
    const model = this.#library.model;
    if (text === "" || model === null) return;
    const words = this.#library.pre_tokenizer?.pre_tokenize(text, { section_index: first ? 0 : 1 }) ?? [text];
    for (const piece of model._call(words)) {
      const id = model.tokens_to_ids.get(piece) ?? model.unk_token_id;
      if (id !== undefined) ids.push(id);
    }
  }

  /** The post-processor works on spellings; a stand-in for the sequence keeps our ids out of that. */
  #withSpecial(ids: number[]): Int32Array<ArrayBuffer> {
    const processor = this.#library.post_processor;
    if (processor === null) return Int32Array.from(ids);
    const { tokens } = processor.post_process([SEQUENCE], null, true);
    return Int32Array.from(tokens.flatMap((token) => {
      if (token === SEQUENCE) return ids;
      const id = this.#library.token_to_id(token);
      return id === undefined ? [] : [id];
    }));
  }
}

/** No spelling of a token: token texts hold no NUL. */
const SEQUENCE = "\0sequence";
