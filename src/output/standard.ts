/**
 * The decoder of nearly all models: utf8 → stop, then text events.
 *
 * Takes generation events, gives output events. Special tokens that no stage reads are not shown; each is named in a
 * `repair` event, so that no token the model wrote disappears without a word.
 * Invariants: joined text does not depend on how the answer was cut into tokens; after a stop string nothing is shown.
 *
 * @module
 */
import type { FinishReason, GenerationEvent, GenerationUsage, OutputEvent, VisibleToken, Vocabulary } from "../flow.ts";
import type { DecoderOptions, StreamDecoder } from "./decoder.ts";
import type { PlacedToken, Run } from "./run.ts";
import { StopStage } from "./stop.ts";
import { Utf8Stage } from "./utf8.ts";

/** What OpenAI reports for a token without a probability worth a number. */
const LOGPROB_MISSING = -9999;

type FinishEvent = Extract<GenerationEvent, { type: "finish" }>;

/** Reads one answer. */
export class StandardDecoder implements StreamDecoder {
  readonly #vocabulary: Vocabulary;
  readonly #logprobsTop: number | undefined;
  readonly #utf8: Utf8Stage;
  readonly #stop: StopStage;
  /** Tokens up to and with the one that completed a stop string. */
  #tokensSeen = 0;

  /** Starts an answer. */
  constructor(options: DecoderOptions) {
    this.#vocabulary = options.vocabulary;
    this.#logprobsTop = options.logprobsTop;
    this.#utf8 = new Utf8Stage({
      vocabulary: options.vocabulary,
      endTokens: options.endTokens,
      continuesText: options.continuesText ?? false,
      readsSpecial: () => false,
      wholeTokens: options.logprobsTop !== undefined,
    });
    this.#stop = new StopStage(options.stop, options.logprobsTop !== undefined);
  }

  /** Whether a stop string matched. */
  get stopped(): boolean {
    return this.#stop.matched !== undefined;
  }

  /** What an event makes visible. */
  push(event: GenerationEvent): OutputEvent[] {
    if (event.type === "prefill") return [];
    if (event.type === "finish") return this.#finish(event);
    if (this.stopped) return [];
    this.#tokensSeen++;
    return this.#show(this.#utf8.push(event).flatMap((run) => this.#stop.push(run)));
  }

  #finish(event: FinishEvent): OutputEvent[] {
    const events: OutputEvent[] = [];
    if (!this.stopped) {
      const runs = this.#utf8.finish().flatMap((run) => this.#stop.push(run));
      events.push(...this.#show([...runs, ...this.#stop.finish()]));
    }
    const stopString = this.#stop.matched;
    const reason: FinishReason = stopString === undefined ? event.reason : "stop";
    events.push({
      type: "finish",
      reason,
      ...(stopString === undefined ? {} : { stopString }),
      usage: stopString === undefined ? event.usage : this.#usageAtStop(event.usage),
      reasoningTokens: 0,
    });
    return events;
  }

  /** Tokens drawn before the cancel arrived were never part of the answer; how many there are is chance. */
  #usageAtStop(usage: GenerationUsage): GenerationUsage {
    return { ...usage, completionTokens: Math.min(usage.completionTokens, this.#tokensSeen) };
  }

  #show(runs: Run[]): OutputEvent[] {
    return runs.flatMap((run): OutputEvent[] => {
      if (run.control) return [{ type: "repair", name: "special_token_hidden", detail: run.text }];
      if (run.text === "") return [];
      return [{ type: "text", text: run.text, tokens: this.#visible(run.tokens) }];
    });
  }

  #visible(tokens: readonly PlacedToken[]): VisibleToken[] {
    const top = this.#logprobsTop;
    if (top === undefined) return [];
    return tokens.map((token) => ({
      token: token.token,
      logprob: token.logprob ?? LOGPROB_MISSING,
      bytes: token.bytes,
      top: (token.top ?? []).slice(0, top).map((other) => ({ ...other, bytes: this.#vocabulary.bytes(other.token) })),
    }));
  }
}
