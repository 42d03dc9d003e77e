/**
 * A masked request of the fake core: what its next token may be, and which one the script gives.
 *
 * @module
 */
import type { FakePlayback } from "./fake_reply.ts";
import { checkTokens, ToldPositions } from "./told_positions.ts";

/** What a draw gave: a token, or that the position is not told, that its mask is empty, that the reply is over. */
export type FakeDraw = number | "late" | "nothing" | "over";

/** What guides one request. */
export class FakeGuided {
  /** What the positions ahead were told. */
  readonly told: ToldPositions;
  readonly #vocabularySize: number;
  readonly #endTokens: readonly number[];
  #insteadOfEnd: readonly number[] = [];
  /** Tokens that stand in for an end token and are not played yet. */
  #pending: readonly number[] = [];
  #isLate = false;

  /** Nothing told. @param endTokens Those that end the request. */
  constructor(vocabularySize: number, endTokens: readonly number[]) {
    this.told = new ToldPositions(vocabularySize);
    this.#vocabularySize = vocabularySize;
    this.#endTokens = endTokens;
  }

  /** The last draw was in vain, and nothing has changed since. */
  get isLate(): boolean {
    return this.#isLate && this.told.next === undefined;
  }

  /** What an end token gives way to; none: it ends. @throws {CoreError} argument. */
  replaceEnd(tokens: readonly number[]): void {
    checkTokens(tokens, this.#vocabularySize);
    this.#insteadOfEnd = [...tokens];
  }

  /** Draws the next token of a reply. */
  draw(playback: FakePlayback): FakeDraw {
    const drawn = this.#draw(playback);
    this.#isLate = drawn === "late";
    if (typeof drawn === "number") this.told.take();
    return drawn;
  }

  #draw(playback: FakePlayback): FakeDraw {
    const [pending, ...rest] = this.#pending;
    if (pending !== undefined) {
      this.#pending = rest;
      playback.skip(pending);
      return pending;
    }
    const told = this.told.next;
    if (told === undefined) return "late";
    if (told.type === "force") {
      playback.skip(told.token);
      return told.token;
    }
    if (playback.isOver) return this.#replace(playback) ?? "over";
    const token = told.type === "mask" ? playback.drawAllowed(told.words) : playback.draw();
    if (token === undefined) return "nothing";
    return this.#endTokens.includes(token) ? this.#replace(playback) ?? token : token;
  }

  /** The first token in an end token's place; undefined: an end token ends. */
  #replace(playback: FakePlayback): number | undefined {
    const [first, ...rest] = this.#insteadOfEnd;
    if (first === undefined) return undefined;
    this.#pending = rest;
    playback.skip(first);
    return first;
  }
}
