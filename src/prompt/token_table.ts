/**
 * Token id → raw bytes, for the decoders: one block of bytes and its offsets, so that 151k tokens cost 2 MB and no
 * object. Built in the text worker by token_bytes.ts, moved to the main isolate, never written again.
 *
 * @module
 */
import type { Vocabulary } from "../flow.ts";

/** A table's memory, as it travels between isolates. */
export interface TokenTableParts {
  /** Bytes of all tokens, one after the other. */
  bytes: Uint8Array<ArrayBuffer>;
  /** `size + 1` places in `bytes`; token i lies from i to i + 1. */
  offsets: Uint32Array<ArrayBuffer>;
  /** One an id; 1: special. */
  special: Uint8Array<ArrayBuffer>;
  /** True where the decoder drops one leading space of a text. */
  stripsLeadingSpace: boolean;
}

/** The tokens of one model. */
export class TokenTable implements Vocabulary {
  /** Ids are 0 to size - 1. */
  readonly size: number;
  /** True where the reference decoder drops one leading space of a text (sentencepiece). */
  readonly stripsLeadingSpace: boolean;
  readonly #parts: TokenTableParts;

  /** Takes the parts. */
  constructor(parts: TokenTableParts) {
    this.#parts = parts;
    this.size = parts.special.length;
    this.stripsLeadingSpace = parts.stripsLeadingSpace;
  }

  /** Its memory, to be copied to another isolate: do not write. */
  get parts(): TokenTableParts {
    return this.#parts;
  }

  /** Raw bytes, which may be part of a character; empty for an id without a token. A view: do not write. */
  bytes(token: number): Uint8Array {
    return this.#parts.bytes.subarray(this.#parts.offsets[token] ?? 0, this.#parts.offsets[token + 1] ?? 0);
  }

  /** Control tokens: hidden from text unless a decoder asks for them. */
  isSpecial(token: number): boolean {
    return this.#parts.special[token] === 1;
  }
}
