/**
 * What a grammar worker that has just begun takes for an answer: the steps of src/guide/worker.ts in an isolate of
 * their own, timed where they are made.
 *
 * @module
 */
/// <reference lib="deno.worker" />
import type { Grammar } from "../../src/grammar/expr.ts";
import type { GuideVocabulary } from "../../src/guide/grammar_worker.ts";
import { GrammarStore } from "../../src/guide/grammar_store.ts";
import { toTokenSet } from "../../src/guide/token_set.ts";
import { warmUp } from "../../src/guide/warm_up.ts";

/** An answer to follow. */
export interface NewIsolateCall {
  /** Prepared first. */
  vocabulary: GuideVocabulary;
  /** Never seen before. */
  grammar: Grammar;
  /** That the grammar allows. */
  tokens: readonly number[];
}

/** What it took, in milliseconds. */
export interface NewIsolateTimes {
  /** Laying out the vocabulary. */
  vocabulary: number;
  /** Warming up. */
  warmUp: number;
  /** The machine and the mask in front of the first token. */
  ready: number;
  /** Accepting and masking, by token. */
  steps: number[];
}

self.onmessage = ({ data }: MessageEvent<NewIsolateCall>): void => {
  const { table, size, endTokens } = data.vocabulary;
  const times = [performance.now()];
  const tokens = toTokenSet(table, size, endTokens);
  times.push(performance.now());
  warmUp(tokens);
  times.push(performance.now());
  const store = new GrammarStore(tokens);
  const matcher = store.start(store.prepare("", data.grammar));
  const words = new Uint32Array(tokens.wordCount);
  matcher.writeMask(words);
  times.push(performance.now());
  for (const token of data.tokens) {
    if (!matcher.accept(token)) throw new Error(`The token ${token} does not fit the grammar`);
    matcher.writeMask(words);
    times.push(performance.now());
  }
  const [vocabulary = NaN, warm = NaN, ready = NaN, ...steps] = times.slice(1).map((time, at) =>
    time - (times[at] ?? 0)
  );
  self.postMessage({ vocabulary, warmUp: warm, ready, steps } satisfies NewIsolateTimes);
};
