/**
 * What a fake core says to one request, and how the script goes on when what may be drawn is bound.
 *
 * The script is a list of token ids with a place that moves on. Free: the token at the place is drawn. A mask: the
 * script skips to the next token that the mask allows; if none is left, an end token, else the lowest token that is
 * allowed, and the place stays. Forced tokens: they are played, and the script skips as `FakeReply.skip` says.
 *
 * @module
 */
import type { TokenLogprob } from "../flow.ts";
import type { CoreErrorCode, SubmitRequest } from "./core.ts";
import { allows } from "./told_positions.ts";

/**
 * What the model "says" to a request: the tokens are drawn in order, one a step. A drawn end token finishes with
 * `stop`, the request's maxTokens or a full context with `length`, as in the core. When the tokens run out first, the
 * request's first end token is drawn; a request without one (or with ignoreEnd) hears the script again from its start.
 */
export interface FakeReply {
  /** Token ids; not empty. */
  tokens: readonly number[];
  /** Log probability of each drawn token; -0.5 where absent. Told only when the request asked for logprobs. */
  logprobs?: readonly number[];
  /** Alternatives of each drawn token, best first, cut to what was asked; absent: the token and its successors. */
  top?: readonly (readonly TokenLogprob[])[];
  /** How it ends when the tokens run out, without another one, whatever a mask says; the tokens may be none then. */
  end?: "stop" | "length";
  /**
   * Where the script goes on after a forced token was played.
   *
   * @param place Index of the token that would have been next.
   * @returns An index, `place` or more. Absent: after the next token that is the forced one, else `place`.
   */
  skip?: (token: number, place: number) => number;
  /** Steps that pass before the prompt is begun: a slow queue. */
  delaySteps?: number;
  /** Time from the submit before which the prompt is not begun. */
  delayMs?: number;
  /** Time from one token to the next. */
  tokenMs?: number;
  /** Of the prompt, tokens that count as cached. */
  cachedTokens?: number;
  /** The request fails instead of drawing token number `afterTokens` (0: right after the prompt). */
  failure?: { afterTokens: number; code: CoreErrorCode; message: string };
}

/** A reply being played to one request. */
export class FakePlayback {
  readonly #reply: FakeReply;
  readonly #endTokens: readonly number[];
  readonly #vocabularySize: number;
  #place = 0;

  /** At the start of the reply. */
  constructor(reply: FakeReply, request: SubmitRequest, vocabularySize: number) {
    this.#reply = reply;
    this.#endTokens = request.ignoreEnd ? [] : [...request.endTokens];
    this.#vocabularySize = vocabularySize;
  }

  /** Whether the reply ends here without another token. */
  get isOver(): boolean {
    return this.#reply.end !== undefined && this.#place >= this.#reply.tokens.length;
  }

  /** The next token where all may be drawn. */
  draw(): number {
    const { tokens } = this.#reply;
    const end = this.#endTokens[0];
    const place = this.#place++;
    return tokens[end === undefined ? place % tokens.length : place] ?? end ?? 0;
  }

  /** The next token that a mask allows; undefined: it allows none. */
  drawAllowed(words: Uint32Array): number | undefined {
    const { tokens } = this.#reply;
    for (let place = this.#place; place < tokens.length; place++) {
      const token = tokens[place];
      if (token === undefined || !allows(words, token)) continue;
      this.#place = place + 1;
      return token;
    }
    const end = this.#endTokens.find((token) => allows(words, token));
    if (end !== undefined) return end;
    for (let token = 0; token < this.#vocabularySize; token++) if (allows(words, token)) return token;
    return undefined;
  }

  /** A forced token was played. */
  skip(token: number): void {
    const found = this.#reply.tokens.indexOf(token, this.#place);
    this.#place = this.#reply.skip?.(token, this.#place) ?? (found === -1 ? this.#place : found + 1);
  }
}

/** Most probable tokens beside a drawn one. */
export function alternatives(reply: FakeReply, index: number, drawn: TokenLogprob): readonly TokenLogprob[] {
  return reply.top?.[index] ??
    Array.from({ length: 20 }, (_, i) => ({ token: drawn.token + i, logprob: drawn.logprob - i }));
}
