/**
 * Takes marks out of the content of another parser: GLM puts `<|begin_of_box|>42<|end_of_box|>` around an answer.
 *
 * @module
 */
import { heldTailStart } from "../held_tail.ts";
import { Run } from "../run.ts";
import type { ReasoningContext, ReasoningParser, ReasoningPiece } from "./parser.ts";

/** Hides marks in content; reasoning may speak of them. */
export class WithoutMarkers implements ReasoningParser {
  readonly markers: readonly string[];
  readonly endMarker: string;
  readonly #inner: ReasoningParser;
  readonly #hidden: readonly string[];
  readonly #wholeTokens: boolean;
  #held = Run.EMPTY;

  /** Takes the parser, and what is to be hidden. */
  constructor(inner: ReasoningParser, hidden: readonly string[], context: ReasoningContext) {
    this.#inner = inner;
    this.#hidden = hidden;
    this.#wholeTokens = context.wholeTokens;
    this.markers = [...inner.markers, ...hidden];
    this.endMarker = inner.endMarker;
  }

  get closing(): string {
    return this.#inner.closing;
  }

  get inside(): boolean {
    return this.#inner.inside;
  }

  push(run: Run): ReasoningPiece[] {
    const plain = run.control && this.#hidden.includes(run.text) ? new Run(run.text, run.tokens) : run;
    return this.#inner.push(plain).flatMap((piece) => this.#part(piece));
  }

  finish(): ReasoningPiece[] {
    return [...this.#inner.finish().flatMap((piece) => this.#part(piece)), ...this.#rest()];
  }

  #part(piece: ReasoningPiece): ReasoningPiece[] {
    if (piece.channel !== "content") return [...this.#rest(), piece];
    this.#held = this.#held.concat(piece.run);
    const pieces: ReasoningPiece[] = [];
    for (;;) {
      const text = this.#held.text;
      const [first] = this.#hidden
        .map((mark) => ({ at: text.indexOf(mark), length: mark.length }))
        .filter(({ at }) => at >= 0).sort((left, right) => left.at - right.at);
      const border = first?.at ?? heldTailStart(text, this.#hidden);
      this.#give("content", this.#wholeTokens && first === undefined ? this.#held.tokenBorder(border) : border, pieces);
      if (first === undefined) return pieces;
      this.#give("marker", first.length, pieces);
    }
  }

  #rest(): ReasoningPiece[] {
    const pieces: ReasoningPiece[] = [];
    this.#give("content", this.#held.length, pieces);
    return pieces;
  }

  #give(channel: "content" | "marker", length: number, pieces: ReasoningPiece[]): void {
    const [run, rest] = this.#held.split(length);
    this.#held = rest;
    if (run.length > 0) pieces.push({ channel, run });
  }
}
