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
import { PromptTooLong, TextFilesError, TextWorkerError } from "./errors.ts";
import { COUNTED_MULTIPLE, LONG_CHARS, TEXT_CHARS_MAX, TRIED_CHARS_A_TOKEN, WORDS_A_PIECE } from "./limits.ts";
import { countSpelled, findTokenCharsMax } from "./token_chars_max.ts";
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
  /** No token stands for more UTF-16 units of a text than this. */
  readonly #tokenCharsMax: number;
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
    this.#tokenCharsMax = findTokenCharsMax(files.tokenizer);
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

  /**
   * Ids of a text; a character that the vocabulary can't spell is its unknown token, or nothing.
   *
   * @throws {PromptTooLong} If there are more than COUNTED_MULTIPLE times `tokensMax`, once that is known.
   */
  encode(text: string, options: EncodeOptions, tokensMax = Infinity): Int32Array<ArrayBuffer> {
    const ids = new BoundedIds(tokensMax);
    this.#requireFit([{ text, plain: false }], tokensMax, options.parseSpecial);
    this.#encodeSections(text, true, options.parseSpecial, ids);
    return options.addSpecial ? this.#withSpecial(ids.list) : Int32Array.from(ids.list);
  }

  /**
   * Ids of pieces one after the other; a plain one is read without any added token, special or not.
   *
   * @throws {PromptTooLong} As `encode`.
   */
  encodePieces(pieces: readonly { text: string; plain: boolean }[], tokensMax = Infinity): EncodePiecesResult {
    const ids = new BoundedIds(tokensMax);
    this.#requireFit(pieces, tokensMax, true);
    for (const [i, { text, plain }] of pieces.entries()) {
      const before = ids.list.length;
      if (plain) {
        this.#encodePlain(this.#normalize(text), i === 0, ids);
        const own = this.#library.token_to_id(text);
        if (own !== undefined && ids.list.includes(own, before)) {
          return { ids: Int32Array.from(ids.list), unreadable: text };
        }
      } else this.#encodeSections(text, i === 0, true, ids);
    }
    return { ids: Int32Array.from(ids.list) };
  }

  /** Finds out cheaply that a long text can't fit. @throws {PromptTooLong} */
  #requireFit(pieces: readonly { text: string; plain: boolean }[], tokensMax: number, parseSpecial: boolean): void {
    const chars = pieces.reduce((sum, { text }) => sum + text.length, 0);
    if (tokensMax === Infinity || chars <= LONG_CHARS) return;
    const spelled = pieces.reduce((sum, { text }) => sum + countSpelled(text), 0);
    const atLeast = Math.floor(spelled / this.#tokenCharsMax);
    if (atLeast > tokensMax) throw new PromptTooLong(atLeast);
    const triedChars = Math.max(LONG_CHARS, tokensMax * TRIED_CHARS_A_TOKEN);
    if (chars <= 2 * triedChars) return;
    for (const { text, plain } of pieces) {
      if (plain || text.length <= 2 * triedChars) continue;
      // Pre-tokenizers go from left to right, so the cut changes the last words alone; and it takes twice as many
      // tokens as fit to be refused here.
      const cut = text.slice(0, triedChars);
      const border = cut.search(/\S\s+\S*$/);
      this.#encodeSections(border > 0 ? cut.slice(0, border + 1) : cut, true, parseSpecial, new BoundedIds(tokensMax));
    }
  }

  #encodeSections(text: string, first: boolean, parseSpecial: boolean, ids: BoundedIds): void {
    if (text.length > TEXT_CHARS_MAX) {
      throw new TextWorkerError(
        `Cannot encode a text of ${text.length} characters: at most ${TEXT_CHARS_MAX} are taken`,
      );
    }
    const raw = parseSpecial ? this.#rawAll : this.#rawPlain;
    const normalized = parseSpecial ? this.#normalizedAll : this.#normalizedPlain;
    for (const section of raw.split(text)) {
      if ("token" in section) {
        ids.add(section.token.id);
        continue;
      }
      for (const part of normalized.split(this.#normalize(section.text))) {
        if ("token" in part) ids.add(part.token.id);
        else this.#encodePlain(part.text, first && section.start === 0 && part.start === 0, ids);
      }
    }
  }

  #normalize(text: string): string {
    return this.#library.normalizer?.normalize(text) ?? text;
  }

  #encodePlain(text: string, first: boolean, ids: BoundedIds): void {
    const model = this.#library.model;
    if (text === "" || model === null) return;
    const words = this.#library.pre_tokenizer?.pre_tokenize(text, { section_index: first ? 0 : 1 }) ?? [text];
    // Unknown tokens that are fused are so across words: then all words go in one call.
    const step = model.fuse_unk ? words.length : WORDS_A_PIECE;
    for (let at = 0; at < words.length; at += step) {
      for (const piece of model._call(words.slice(at, at + step))) {
        const id = model.tokens_to_ids.get(piece) ?? model.unk_token_id;
        if (id !== undefined) ids.add(id);
      }
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

/** Ids of a prompt that is given up when it is far too long. */
class BoundedIds {
  readonly list: number[] = [];
  readonly #max: number;

  constructor(tokensMax: number) {
    this.#max = tokensMax * COUNTED_MULTIPLE;
  }

  add(id: number): void {
    if (this.list.length >= this.#max) throw new PromptTooLong(this.list.length + 1);
    this.list.push(id);
  }
}

/** No spelling of a token: token texts hold no NUL. */
const SEQUENCE = "\0sequence";
