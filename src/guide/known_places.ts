/**
 * What the main isolate has learned from the grammar worker: places in grammars, and which token leads from one to
 * another. A token that leads to a known place needs no worker: on a machine whose cores decode, waking it takes many
 * times as long as its mask.
 *
 * All of it is fact, so what is forgotten costs a question and nothing else. Places where counts matter are not kept:
 * nearly each is new. But far from the bounds of a count many characters may follow with the same mask.
 *
 * @module
 */
import { KNOWN_BYTES_MAX } from "./limits.ts";
import type { SharedPlace } from "./shared_place.ts";

/** A place in an answer. */
export interface KnownPlace {
  /** What may come next. Do not write. */
  readonly mask: Uint32Array;
  /** Tokens behind which it is the same place, or with `room` one with the same mask. */
  readonly stays: Uint32Array | undefined;
  /** Characters of them that may follow, where a count is part of the place. */
  readonly room?: number;
  /** Token → number of the place behind it. */
  readonly next: Map<number, number>;
}

/** Bytes of an entry of `next`, about. */
const EDGE_BYTES = 48;

/** The places of all grammars of one worker. */
export class KnownPlaces {
  readonly #places = new Map<number, KnownPlace>();
  #bytes = 0;

  /** The place behind a token, if it is known. */
  behind(place: KnownPlace, token: number): KnownPlace | undefined {
    if (isBack(place, token)) return place;
    const number = place.next.get(token);
    return number === undefined ? undefined : this.#places.get(number);
  }

  /** Takes what the worker has said. @param from Where the token led from; absent: several did. */
  learn(said: SharedPlace, from?: { place: KnownPlace; token: number }): KnownPlace | undefined {
    const { number, room } = said;
    if (number === 0 && room > 0) {
      return { mask: said.mask.slice(), stays: said.stays.slice(), room, next: new Map() };
    }
    if (number === 0) return undefined;
    let place = this.#places.get(number);
    if (place === undefined) {
      const stays = said.hasStays ? said.stays.slice() : undefined;
      place = { mask: said.mask.slice(), stays, next: new Map() };
      this.#grow(place.mask.byteLength + (stays?.byteLength ?? 0));
      this.#places.set(number, place);
    }
    if (from !== undefined && !from.place.next.has(from.token)) {
      this.#grow(EDGE_BYTES);
      from.place.next.set(from.token, number);
    }
    return place;
  }

  #grow(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= KNOWN_BYTES_MAX) return;
    this.#places.clear();
    this.#bytes = bytes;
  }
}

/** Whether a token is one of those that stay. */
export function isBack({ stays }: KnownPlace, token: number): boolean {
  return stays !== undefined && ((stays[token >>> 5] ?? 0) >>> (token & 31) & 1) === 1;
}
