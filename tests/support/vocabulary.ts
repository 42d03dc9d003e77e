/**
 * A vocabulary in memory whose ids are given out as pieces are asked for, so that tests can speak in pieces of text.
 *
 * @module
 */
import { type GenerationEvent, NO_USAGE, type Vocabulary } from "../../src/flow.ts";

/** Pieces as tokens. */
export class PieceVocabulary implements Vocabulary {
  readonly stripsLeadingSpace: boolean;
  readonly #bytes: Uint8Array[] = [];
  readonly #ids = new Map<string, number>();
  readonly #special = new Set<number>();

  constructor(options: { stripsLeadingSpace?: boolean; special?: string[] } = {}) {
    this.stripsLeadingSpace = options.stripsLeadingSpace ?? false;
    for (const spelling of options.special ?? []) this.#special.add(this.id(new TextEncoder().encode(spelling)));
  }

  get size(): number {
    return this.#bytes.length;
  }

  bytes(token: number): Uint8Array {
    return this.#bytes[token] ?? new Uint8Array();
  }

  isSpecial(token: number): boolean {
    return this.#special.has(token);
  }

  /** The id of a piece, new or known. */
  id(piece: Uint8Array | string): number {
    const bytes = typeof piece === "string" ? new TextEncoder().encode(piece) : piece;
    const key = bytes.join(",");
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    this.#bytes.push(bytes);
    this.#ids.set(key, this.#bytes.length - 1);
    return this.#bytes.length - 1;
  }

  /** Token events of pieces, and the finish event after them. */
  events(pieces: (Uint8Array | string)[], reason: "stop" | "length" | "cancelled" = "stop"): GenerationEvent[] {
    return [
      ...pieces.map((piece, index): GenerationEvent => ({
        type: "token",
        token: this.id(piece),
        index,
        logprob: -index,
      })),
      { type: "finish", reason, usage: { ...NO_USAGE, completionTokens: pieces.length } },
    ];
  }
}
