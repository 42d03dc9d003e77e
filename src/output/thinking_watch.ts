/**
 * Follows an answer's tokens as the decoder does and tells whether the model is thinking: for who bounds that.
 *
 * @module
 */
import type { Vocabulary } from "../flow.ts";
import type { AnswerParser } from "./answer_parser.ts";
import { createAnswerParser, type DecoderOptions, type Dialect } from "./decoder.ts";
import { closingBeforeCall } from "./reasoning/mod.ts";
import { Utf8Stage } from "./utf8.ts";

/** What the answer is read by. */
export type WatchOptions =
  & Pick<DecoderOptions, "vocabulary" | "endTokens" | "tools" | "prompt">
  & { dialect: Dialect };

/** One answer. */
export class ThinkingWatch {
  readonly #utf8: Utf8Stage;
  readonly #parser: AnswerParser;
  #index = 0;
  #answered = false;

  /** At the answer's start. */
  constructor({ dialect, ...options }: WatchOptions) {
    this.#parser = createAnswerParser(options, dialect);
    const read = new Set(this.#parser.markers);
    const { vocabulary, endTokens } = options;
    this.#utf8 = new Utf8Stage({
      vocabulary,
      endTokens,
      continuesText: false,
      readsSpecial: (token) => read.has(new TextDecoder().decode(vocabulary.bytes(token))),
      wholeTokens: false,
    });
  }

  /** The next token belongs to the reasoning, as far as is known. */
  get thinking(): boolean {
    return this.#parser.thinking;
  }

  /** The client has seen something beside reasoning: text that is not blank, or a call. */
  get answered(): boolean {
    return this.#answered;
  }

  /** A token was drawn. */
  push(token: number): void {
    for (const run of this.#utf8.push({ type: "token", token, index: this.#index++ })) {
      for (const piece of this.#parser.push(run)) {
        this.#answered ||= piece.type === "callStart" || (piece.type === "text" && piece.run.text.trim() !== "");
      }
    }
  }
}

/**
 * What ends the reasoning of a dialect in the model's stead and begins its answer; "": nothing can.
 *
 * @param mustCall Nothing but a call may follow.
 */
export function closingOf(dialect: Dialect, vocabulary: Vocabulary, mustCall = false): string {
  const beforeCall = mustCall ? closingBeforeCall(dialect.reasoning) : undefined;
  return beforeCall ?? createAnswerParser({ vocabulary }, dialect).closing;
}
