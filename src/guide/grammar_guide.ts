/**
 * Binds one answer to a grammar: asks the grammar worker what may come, where it is not known here.
 *
 * @module
 */
import type { Allowance, TokenGuide } from "../flow.ts";
import { again, type GrammarWorker, GuideError, type GuideVocabulary } from "./grammar_worker.ts";
import { isBack, type KnownPlace, type KnownPlaces } from "./known_places.ts";
import { TOKENS_AHEAD_MAX } from "./limits.ts";
import type { GrammarSource } from "./protocol.ts";
import { SharedPlace } from "./shared_place.ts";

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
  /** Where the worker stands. */
  readonly #said: SharedPlace;
  readonly #buffer: SharedArrayBuffer;
  #matcher: number | undefined;
  #places: KnownPlaces | undefined;
  /** Where the answer stands, if that is known here. */
  #place: KnownPlace | undefined;
  /** Characters that may follow with its mask, where they are counted. */
  #room = 0;
  /** Tokens of the answer, for a worker that has to begin anew. */
  readonly #seen: number[] = [];
  /** Those that the worker has not gone over yet. */
  #ahead: number[] = [];
  #closed = false;

  /** Asks nobody yet. */
  constructor(binding: GrammarBinding) {
    this.#binding = binding;
    this.#buffer = SharedPlace.make(binding.vocabulary.size);
    this.#said = new SharedPlace(this.#buffer);
  }

  /** What may come behind a token; the first call begins, whatever its position. */
  next(_position: number, token: number | undefined): Allowance | Promise<Allowance> {
    if (token === undefined) return this.#ask([]);
    const from = this.#place;
    if (from === undefined || this.#ahead.length >= TOKENS_AHEAD_MAX) return this.#ask([token]);
    const place = from.room === undefined ? this.#places?.behind(from, token) : this.#within(from, token);
    if (place === undefined) return this.#ask([token]);
    this.#seen.push(token);
    // A worker whose answer stays where it is need not hear of it.
    if (place !== from || place.room !== undefined) this.#ahead.push(token);
    this.#place = place;
    return { type: "mask", words: place.mask };
  }

  /** The place itself, if a token is within the room of its count. */
  #within(place: KnownPlace, token: number): KnownPlace | undefined {
    const { offsets } = this.#binding.vocabulary.table;
    // No character has less than one byte.
    const chars = (offsets[token + 1] ?? 0) - (offsets[token] ?? 0);
    if (!isBack(place, token) || chars > this.#room) return undefined;
    this.#room -= chars;
    return place;
  }

  /** What may come behind several tokens, from the worker. The first call begins the grammar in front of them. */
  async #ask(tokens: readonly number[]): Promise<Allowance> {
    await again(async () => {
      try {
        await this.#goOver(tokens);
      } catch (error) {
        if (error instanceof GuideError && error.kind === "lost") this.#matcher = undefined;
        throw error;
      }
    });
    this.#seen.push(...tokens);
    this.#ahead = [];
    const [from, [token]] = [this.#place, tokens];
    const isStep = from !== undefined && from.room === undefined && token !== undefined && tokens.length === 1;
    this.#room = this.#said.room;
    this.#place = this.#places?.learn(this.#said, isStep ? { place: from, token } : undefined);
    // The core reads memory of its own isolate only.
    return { type: "mask", words: this.#place?.mask ?? this.#said.mask.slice() };
  }

  /** Begins, if it has not or if its worker is gone, and goes on. */
  async #goOver(tokens: readonly number[]): Promise<void> {
    const { worker, vocabulary, key, source } = this.#binding;
    let next = [...this.#ahead, ...tokens];
    if (this.#matcher === undefined) {
      const { matcher, places } = await worker.start(vocabulary, key, source, this.#buffer);
      this.#matcher = matcher;
      if (places !== this.#places) this.#place = undefined;
      this.#places = places;
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
