/**
 * Prompts that are the same in every run: token ids for engines, words for servers.
 *
 * @module
 */

/** Ids that every vocabulary of some size has and that are no control tokens. */
const [FIRST_ID, ID_COUNT] = [1000, 30_000];
const WORDS =
  ("river stone market window winter garden engine paper silver music bridge forest candle harbor mountain " +
    "letter pocket summer copper ladder").split(" ");

/** Numbers in [0, 2^32), the same for the same seed. Source: mulberry32, public domain. */
function* toNumbers(seed: number): Generator<number, never> {
  for (let state = seed >>> 0;;) {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    yield (mixed ^ (mixed >>> 14)) >>> 0;
  }
}

/** `count` token ids; another seed gives a prompt with no common start. */
export function toPrompt(count: number, seed: number): number[] {
  return toNumbers(seed).take(count).map((number) => FIRST_ID + number % ID_COUNT).toArray();
}

/** `count` plain words; one or two tokens each in ordinary vocabularies. */
export function toWords(count: number, seed: number): string {
  return toNumbers(seed).take(count).map((number) => WORDS[number % WORDS.length]).toArray().join(" ");
}
