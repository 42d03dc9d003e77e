/**
 * The memory in which the grammar worker says where an answer stands: both isolates hold it, and the worker writes it
 * before each reply.
 *
 * @module
 */

/** Words in front of the masks: the number of the place, whether it has tokens that stay, and its room. */
const HEAD_WORDS = 3;

/** Where an answer stands. */
export class SharedPlace {
  /** What may come next: bit t % 32 of word t / 32. */
  readonly mask: Uint32Array;
  /** Tokens behind which the mask is what it is; without meaning where `hasStays` is not set. */
  readonly stays: Uint32Array;
  readonly #head: Uint32Array;

  /** @param buffer Of `SharedPlace.make`. */
  constructor(buffer: SharedArrayBuffer) {
    const words = (buffer.byteLength / Uint32Array.BYTES_PER_ELEMENT - HEAD_WORDS) / 2;
    this.#head = new Uint32Array(buffer, 0, HEAD_WORDS);
    this.mask = new Uint32Array(buffer, this.#head.byteLength, words);
    this.stays = new Uint32Array(buffer, this.#head.byteLength + this.mask.byteLength, words);
  }

  /** Memory for masks of so many ids. */
  static make(size: number): SharedArrayBuffer {
    return new SharedArrayBuffer((HEAD_WORDS + 2 * Math.ceil(size / 32)) * Uint32Array.BYTES_PER_ELEMENT);
  }

  /** Equal for equal places of one worker; 0: it is not worth to be remembered. */
  get number(): number {
    return this.#head[0] ?? 0;
  }

  /** Whether there are tokens behind which the mask is what it is. */
  get hasStays(): boolean {
    return this.#head[1] === 1;
  }

  /** Characters of staying tokens for which that holds at least, where they are counted; else 0. */
  get room(): number {
    return this.#head[2] ?? 0;
  }

  /** Says which place it is; the mask is written by itself. */
  tell(number: number, stays: Uint32Array | undefined, room = 0): void {
    this.#head[0] = number;
    this.#head[1] = stays === undefined ? 0 : 1;
    this.#head[2] = room;
    if (stays !== undefined) this.stays.set(stays);
  }
}
