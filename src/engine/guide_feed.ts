/**
 * Between a guide and the core: asks the guide token by token and tells the core what may be drawn.
 *
 * Invariants: one `next` is pending at most; a position is asked once all before it are told and the token before it is
 * known; the guide is closed exactly once, and nothing is told after that.
 *
 * @module
 */
import { type Core, CoreError } from "../ffi/core.ts";
import type { Allowance, GenerationRequest, TokenGuide } from "../flow.ts";

/** A generation that has a guide. */
export type GuidedRequest = GenerationRequest & { guide: TokenGuide };

/** The guide of one generation. */
export class GuideFeed {
  readonly #core: Pick<Core, "mask" | "force" | "replaceEnd">;
  readonly #tag: number;
  readonly #request: GuidedRequest;
  readonly #fail: (error: CoreError) => void;
  /** The first position that is not told. */
  #told = 0;
  #insteadOfEnd: readonly number[] = [];
  #closed = false;

  /** Tells nothing before `start`. @param fail Takes the guide's failure, once; the feed is closed then. */
  constructor(
    core: Pick<Core, "mask" | "force" | "replaceEnd">,
    tag: number,
    request: GuidedRequest,
    fail: (error: CoreError) => void,
  ) {
    this.#core = core;
    this.#tag = tag;
    this.#request = request;
    this.#fail = fail;
  }

  /** Asks for the first position: the prompt runs meanwhile. */
  start(): void {
    this.#ask(0, undefined);
  }

  /** A token was drawn; the core runs it while the guide is asked for the next. */
  drawn(index: number, token: number): void {
    const { limits, endTokens } = this.#request;
    const isLast = index + 1 >= limits.maxTokens || (!limits.ignoreEnd && endTokens.includes(token));
    if (index + 1 === this.#told && !isLast) this.#ask(index + 1, token);
  }

  /** The generation has ended. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#request.guide.close();
  }

  #ask(position: number, token: number | undefined): void {
    if (this.#closed) return;
    try {
      const answer = this.#request.guide.next(position, token);
      // A promise costs a turn of the queue even when it is settled, so what is known at once is told at once.
      if (!(answer instanceof Promise)) return this.#tell(position, answer);
      answer.then((allowance) => this.#tell(position, allowance)).catch((error: unknown) =>
        this.#lose(position, error)
      );
    } catch (error) {
      this.#lose(position, error);
    }
  }

  #tell(position: number, allowance: Allowance): void {
    if (this.#closed) return;
    this.#replaceEnd(allowance.type === "free" ? allowance.insteadOfEnd ?? [] : []);
    switch (allowance.type) {
      case "free":
        this.#core.mask(this.#tag, position, allowance.positions);
        this.#told = position + allowance.positions;
        return;
      case "mask":
        this.#core.mask(this.#tag, position, 1, allowance.words);
        this.#told = position + 1;
        return;
      case "force":
        this.#core.force(this.#tag, position, allowance.tokens);
        this.#told = position + allowance.tokens.length;
        return;
    }
  }

  #replaceEnd(tokens: readonly number[]): void {
    const same = tokens.length === this.#insteadOfEnd.length && tokens.every((id, at) => id === this.#insteadOfEnd[at]);
    if (same) return;
    this.#core.replaceEnd(this.#tag, tokens);
    this.#insteadOfEnd = [...tokens];
  }

  #lose(position: number, error: unknown): void {
    if (this.#closed) return;
    this.close();
    const reason = error instanceof Error ? error.message : String(error);
    this.#fail(new CoreError("internal", `The guide failed at token ${position} of the answer: ${reason}`));
  }
}
