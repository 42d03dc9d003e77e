/**
 * What turns a generation's tokens into what the client sees.
 *
 * Takes the engine's events in order, gives output events; `createDecoder` composes one. Knows no wire.
 *
 * @module
 */
import type { GenerationEvent, OutputEvent, Vocabulary } from "../flow.ts";
import { StandardDecoder } from "./standard.ts";

/** One answer's decoder. */
export interface StreamDecoder {
  /** Whether a stop string matched: nothing more will be shown, so the generation can be cancelled. */
  readonly stopped: boolean;
  /** What an event makes visible, possibly nothing. `finish` gives all that was held, then the finish event. */
  push(event: GenerationEvent): OutputEvent[];
}

/** How an answer is to be read. */
export interface DecoderOptions {
  /** The model's tokens. */
  vocabulary: Vocabulary;
  /** Never shown, whatever they spell. */
  endTokens: readonly number[];
  /** The text ends before the first of these; none is empty. */
  stop: readonly string[];
  /** Alternatives to report for each visible token, 0 to 20; undefined: no tokens are reported. */
  logprobsTop?: number;
  /** The answer goes on a text of the prompt (completions, a continued message): a leading space belongs to it. */
  continuesText?: boolean;
}

/** Makes the decoder of one answer. */
export function createDecoder(options: DecoderOptions): StreamDecoder {
  return new StandardDecoder(options);
}
