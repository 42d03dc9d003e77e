/**
 * Bounds a model's thinking, so that it comes to an answer.
 *
 * While it thinks
 *   - the tokens that close the block are forced where the budget is used up, or where only the answer's share of
 *     `maxTokens` is left;
 *   - an end token gives way to them: a turn never ends with thinking alone.
 * Behind a block no token may end the answer before something is visible. All else is free, or the inner guide's to
 * say.
 * Knows nothing of text: whoever makes it brings a watch that follows the tokens.
 *
 * @module
 */
import type { Allowance, TokenGuide } from "../flow.ts";

/** Tells from the tokens where an answer stands. */
export interface AnswerWatch {
  /** The next token is thinking. */
  readonly thinking: boolean;
  /** Something beside thinking is visible. */
  readonly answered: boolean;
  /** A token was drawn. */
  push(token: number): void;
}

/** How one answer is bounded. */
export interface ThinkingPlan {
  /** Tokens of thinking, 0 or more; absent: as many as leave the answer its share. */
  budget?: number;
  /** Of the answer, thinking included. */
  maxTokens: number;
  /** What closes a block; not empty. */
  closing: readonly number[];
  /** What ends the answer. */
  endTokens: readonly number[];
  /** Of the model. */
  vocabularySize: number;
}

/** Most tokens that are kept for the answer. */
export const ANSWER_SHARE_TOKENS_MAX = 4096;
/** The answer's share of `maxTokens`, up to that and 1 at least. */
const ANSWER_SHARE = 1 / 4;
/** Tokens behind a block that may stay blank; then the answer may end. */
const BLANK_TOKENS_MAX = 16;

/** Tokens of an answer that thinking may not use. */
export function answerShare(maxTokens: number): number {
  return Math.min(Math.max(1, Math.floor(maxTokens * ANSWER_SHARE)), ANSWER_SHARE_TOKENS_MAX);
}

/** A guide over one answer. Owns the inner guide. */
export class ThinkingGuide implements TokenGuide {
  readonly #watch: AnswerWatch;
  readonly #plan: ThinkingPlan;
  readonly #inner: TokenGuide | undefined;
  /** Tokens of thinking so far. */
  #spent = 0;
  /** Tokens since the last block ended; undefined: there was none yet. */
  #behind: number | undefined;
  /** Tokens that were forced: all of them are drawn when the next position is asked for. */
  #forced: readonly number[] = [];

  /** At the answer's start. */
  constructor(watch: AnswerWatch, plan: ThinkingPlan, inner?: TokenGuide) {
    this.#watch = watch;
    this.#plan = plan;
    this.#inner = inner;
  }

  next(position: number, token: number | undefined): Allowance | Promise<Allowance> {
    const drawn = this.#forced.length > 0 ? this.#forced : token === undefined ? [] : [token];
    this.#forced = [];
    for (const one of drawn) this.#see(one);
    if (this.#inner === undefined) return this.#note(this.#decide(position, undefined));
    return this.#askInner(this.#inner, position, drawn);
  }

  close(): void {
    this.#inner?.close();
  }

  /** The inner guide hears of every token in order, also of those that were forced. */
  async #askInner(inner: TokenGuide, position: number, drawn: readonly number[]): Promise<Allowance> {
    const start = position - drawn.length;
    let allowance: Allowance | undefined;
    if (drawn.length === 0) allowance = await inner.next(position, undefined);
    for (const [at, token] of drawn.entries()) allowance = await inner.next(start + at + 1, token);
    return this.#note(this.#decide(position, allowance));
  }

  #note(allowance: Allowance): Allowance {
    if (allowance.type === "force") this.#forced = allowance.tokens;
    return allowance;
  }

  #see(token: number): void {
    const { thinking: before } = this.#watch;
    this.#watch.push(token);
    const { thinking: after } = this.#watch;
    if (before && after) this.#spent++;
    if (after) this.#behind = undefined;
    else if (before) this.#behind = 0;
    else if (this.#behind !== undefined) this.#behind++;
  }

  #decide(position: number, inner: Allowance | undefined): Allowance {
    const { closing } = this.#plan;
    if (this.#watch.thinking) {
      if (!this.#canClose(position)) return inner ?? { type: "free", positions: 1 };
      if (this.#isUsedUp(position)) return { type: "force", tokens: closing };
      if (inner !== undefined && inner.type !== "free") return inner;
      return { type: "free", positions: 1, insteadOfEnd: closing };
    }
    if (inner !== undefined) return toSingle(inner);
    if (this.#behind !== undefined && !this.#watch.answered && this.#behind < BLANK_TOKENS_MAX) {
      return { type: "mask", words: this.#noEnd() };
    }
    // Another block may follow, and what is left of the budget bounds it too.
    return { type: "free", positions: this.#plan.budget === undefined && this.#watch.answered ? Infinity : 1 };
  }

  /** Whether there is room for the closing tokens and one of the answer. */
  #canClose(position: number): boolean {
    return position + this.#plan.closing.length < this.#plan.maxTokens;
  }

  #isUsedUp(position: number): boolean {
    const { budget = Infinity, maxTokens, closing } = this.#plan;
    return this.#spent >= budget || position >= maxTokens - answerShare(maxTokens) - closing.length;
  }

  /** All tokens but those that end. */
  #noEnd(): Uint32Array {
    const { vocabularySize, endTokens } = this.#plan;
    const words = new Uint32Array(Math.ceil(vocabularySize / 32)).fill(0xffff_ffff);
    for (const token of endTokens) words[token >>> 5] = (words[token >>> 5] ?? 0) & ~(1 << (token & 31));
    return words;
  }
}

/** Every token must be seen here, so a run of free positions is taken one by one. */
function toSingle(inner: Allowance): Allowance {
  return inner.type === "free" ? { ...inner, positions: 1 } : inner;
}
