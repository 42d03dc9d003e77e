/**
 * Binds one answer to a grammar: asks the grammar worker for a mask after each token.
 *
 * @module
 */
import type { Allowance, TokenGuide } from "../flow.ts";
import { again, type GrammarWorker, GuideError, type GuideVocabulary } from "./grammar_worker.ts";
import type { GrammarSource } from "./protocol.ts";

/** What an answer is bound to, and by whom. */
export interface GrammarBinding {
  /** Follows it. */
  worker: Pick<GrammarWorker, "start" | "advance" | "finish">;
  /** Of the model. */
  vocabulary: GuideVocabulary;
  /** Equal for equal grammars only. */
  key: string;
  /** What may be written. */
  source: GrammarSource;
}

/** A guide over all of an answer, or over what is left of it when it is asked first. */
export class GrammarGuide implements TokenGuide {
  readonly #binding: GrammarBinding;
  readonly #words: Uint32Array;
  #matcher: number | undefined;
  /** Tokens of the answer, for a worker that has to begin anew. */
  readonly #seen: number[] = [];
  #closed = false;

  /** Asks nobody yet. */
  constructor(binding: GrammarBinding) {
    this.#binding = binding;
    const wordCount = Math.ceil(binding.vocabulary.size / 32);
    this.#words = new Uint32Array(new SharedArrayBuffer(wordCount * Uint32Array.BYTES_PER_ELEMENT));
  }

  /** What may come behind a token; the first call begins, whatever its position. */
  next(_position: number, token: number | undefined): Promise<Allowance> {
    return this.advance(token === undefined ? [] : [token]);
  }

  /** What may come behind several tokens. The first call begins the grammar in front of them. */
  async advance(tokens: readonly number[]): Promise<Allowance> {
    await again(async () => {
      try {
        await this.#goOver(tokens);
      } catch (error) {
        if (error instanceof GuideError && error.kind === "lost") this.#matcher = undefined;
        throw error;
      }
    });
    this.#seen.push(...tokens);
    // The core reads memory of its own isolate only.
    return { type: "mask", words: this.#words.slice() };
  }

  /** Begins, if it has not or if its worker is gone, and goes on. */
  async #goOver(tokens: readonly number[]): Promise<void> {
    const { worker, vocabulary, key, source } = this.#binding;
    let next = tokens;
    if (this.#matcher === undefined) {
      const buffer = this.#words.buffer as SharedArrayBuffer;
      const matcher = await worker.start(vocabulary, key, source, buffer);
      this.#matcher = matcher;
      next = [...this.#seen, ...tokens];
      // It may have been closed meanwhile.
      if (this.#closed) worker.finish(matcher);
    }
    if (next.length > 0 && !this.#closed) await worker.advance(this.#matcher, next);
  }

  /** Frees the matcher. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#matcher !== undefined) this.#binding.worker.finish(this.#matcher);
  }
}
