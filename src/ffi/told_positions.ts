/**
 * What was told of the positions ahead of one masked request, as rmx.h has it: the fake core's part of the contract.
 * swift/Engine keeps the same; tests/abi/core_suite.ts holds both to it.
 *
 * @module
 */
import { CONSTANTS } from "./abi.gen.ts";
import { CoreError } from "./core.ts";

const MASK_AHEAD_MAX = CONSTANTS.RMX_MASK_AHEAD_MAX;

/** What one position was told. */
export type Told = { type: "free" } | { type: "mask"; words: Uint32Array } | { type: "force"; token: number };

/** Positions that are told, from the next one to draw on. */
export class ToldPositions {
  readonly #vocabularySize: number;
  /** By position; free ones are in `#freeFrom`. */
  readonly #bound = new Map<number, Told>();
  /** Runs of free positions, in order: start and end. */
  #free: [start: number, end: number][] = [];
  /** The first that is not told. */
  #end = 0;
  #drawn = 0;

  /** Nothing told yet. */
  constructor(vocabularySize: number) {
    this.#vocabularySize = vocabularySize;
  }

  /** What the next position was told; undefined: nothing yet. */
  get next(): Told | undefined {
    const [start, end] = this.#free[0] ?? [0, 0];
    return start <= this.#drawn && this.#drawn < end ? { type: "free" } : this.#bound.get(this.#drawn);
  }

  /** The next position is drawn: what it was told is let go. */
  take(): void {
    this.#bound.delete(this.#drawn++);
    if (this.#free[0]?.[1] === this.#drawn) this.#free.shift();
    this.#end = Math.max(this.#end, this.#drawn);
  }

  /** Copies masks, or marks positions as free. @throws {CoreError} argument. */
  mask(position: number, rows: number, words?: Uint32Array): void {
    if (rows < 1) throw refusal(`rows is ${rows}, wanted 1 or more`);
    if (words === undefined || words.length === 0) {
      this.#tell(position, rows, undefined);
      return;
    }
    const width = Math.ceil(this.#vocabularySize / 32);
    if (words.length !== rows * width) {
      throw refusal(`${words.length} words for ${rows} rows, wanted ${width} a row`);
    }
    this.#tell(position, rows, (row) => {
      return { type: "mask", words: words.slice(row * width, (row + 1) * width) };
    });
  }

  /** Keeps tokens. @throws {CoreError} argument. */
  force(position: number, tokens: readonly number[]): void {
    if (tokens.length === 0) throw refusal("no token is given, wanted one or more");
    checkTokens(tokens, this.#vocabularySize);
    this.#tell(position, tokens.length, (row) => ({ type: "force", token: tokens[row] ?? 0 }));
  }

  #tell(position: number, rows: number, toTold: ((row: number) => Told) | undefined): void {
    const drawn = this.#drawn;
    if (position > this.#end) {
      throw refusal(`position is ${position}, wanted up to ${this.#end}, which is the first that is not told`);
    }
    if (toTold && position + rows > drawn + MASK_AHEAD_MAX) {
      throw refusal(
        `positions up to ${position + rows - 1} with ${drawn} tokens drawn, wanted less than ${MASK_AHEAD_MAX} ahead`,
      );
    }
    const start = Math.max(position, drawn);
    if (position + rows <= start) return;
    for (const told of this.#bound.keys()) if (told >= start) this.#bound.delete(told);
    this.#free = this.#free.filter(([from]) => from < start).map(([from, to]) => [from, Math.min(to, start)]);
    this.#end = position + rows;
    const last = this.#free.at(-1);
    if (toTold === undefined && last?.[1] === start) last[1] = this.#end;
    else if (toTold === undefined) this.#free.push([start, this.#end]);
    else for (let at = start; at < this.#end; at++) this.#bound.set(at, toTold(at - position));
  }
}

/** Whether a mask allows a token. */
export function allows(words: Uint32Array, token: number): boolean {
  return ((words[token >>> 5] ?? 0) >>> (token & 31) & 1) === 1;
}

/** @throws {CoreError} argument, if there are too many tokens or one is outside the vocabulary. */
export function checkTokens(tokens: readonly number[], vocabularySize: number): void {
  if (tokens.length > MASK_AHEAD_MAX) {
    throw refusal(`${tokens.length} tokens, wanted less than ${MASK_AHEAD_MAX + 1}, the most that is kept`);
  }
  const unknown = tokens.find((token) => !(Number.isInteger(token) && token >= 0 && token < vocabularySize));
  if (unknown === undefined) return;
  throw refusal(`token ${unknown} is not in the vocabulary, wanted 0 to ${vocabularySize - 1}`);
}

function refusal(detail: string): CoreError {
  return new CoreError("argument", `Cannot guide the request: ${detail}`);
}
