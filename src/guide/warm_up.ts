/**
 * Follows a few answers of its own before the first real one, so that V8 has compiled what makes masks: uncompiled, the
 * first mask inside of a string takes several times as long, while a stream waits for it.
 *
 * @module
 */
import { compileSchema } from "../grammar/schema/compile.ts";
import { GrammarStore, type Matcher } from "./grammar_store.ts";
import type { TokenSet } from "./token_set.ts";

/** Each begins without what the one before has learned, as a new grammar does; more than these gain nothing. */
const ANSWERS = 12;
/** Tokens of each. */
const TOKENS = 24;
/** What they are bound to: the parts that most schemas have. */
const SCHEMA = {
  type: "object",
  properties: {
    text: { type: "string", minLength: 60, maxLength: 200 },
    list: { type: "array", items: { type: "string", maxLength: 20 } },
  },
  required: ["text", "list"],
  additionalProperties: false,
};

/** Warms up on a vocabulary; nothing is kept. */
export function warmUp(tokens: TokenSet): void {
  const words = new Uint32Array(tokens.wordCount);
  for (let answer = 0; answer < ANSWERS; answer++) {
    const store = new GrammarStore(tokens);
    const matcher = store.start(store.prepare("warm-up", compileSchema(SCHEMA)));
    for (let at = 0; at < TOKENS; at++) {
      matcher.writeMask(words);
      if (!acceptOne(matcher, words, answer * TOKENS + at)) break;
    }
  }
}

/** Goes over an allowed token, another one for another `turn`. @returns Whether there is one that goes on. */
function acceptOne(matcher: Matcher, words: Uint32Array, turn: number): boolean {
  // Odd and far from a power of two: the starts are spread over the vocabulary.
  const start = (turn * 7919) % words.length;
  for (let step = 0; step < words.length; step++) {
    const at = (start + step) % words.length;
    const word = words[at] ?? 0;
    if (word !== 0) return matcher.accept(at * 32 + 31 - Math.clz32(word));
  }
  return false;
}
