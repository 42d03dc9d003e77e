/**
 * The grammar worker: which tokens may come next, in an isolate of its own, because the first mask of a wide place
 * takes milliseconds and a vocabulary most of a second, and neither templates nor streams should wait for that.
 * Answers calls in order; a call that fails is answered, and never ends the worker.
 *
 * @module
 */
/// <reference lib="deno.worker" />
import { GrammarError } from "../grammar/errors.ts";
import { type MadeAnswer, makeAnswer } from "../output/answer_source.ts";
import { giveWay } from "../prompt/give_way.ts";
import { GrammarStore, type Matcher } from "./grammar_store.ts";
import { MATCHERS_MAX } from "./limits.ts";
import type { GrammarSource, GuideCall, GuideReply, GuideRequest } from "./protocol.ts";
import { SharedPlace } from "./shared_place.ts";
import { toTokenSet } from "./token_set.ts";
import { warmUp } from "./warm_up.ts";

giveWay();

const stores = new Map<number, GrammarStore>();
const matchers = new Map<number, { matcher: Matcher; place: SharedPlace }>();

class MissingGrammar extends Error {}

/** No grammar can be made of the tools. */
class UnboundTools extends Error {}

self.onmessage = ({ data }: MessageEvent<GuideRequest>): void => {
  if ("close" in data) {
    matchers.delete(data.close);
    return;
  }
  self.postMessage(data.calls.map(({ number, call }) => toReply(number, call)));
};

function toReply(number: number, call: GuideCall): GuideReply {
  try {
    return { number, ok: true, dropped: answer(call) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { number, ok: false, kind: toKind(error), message };
  }
}

function toKind(error: unknown): Extract<GuideReply, { ok: false }>["kind"] {
  if (error instanceof GrammarError) return "grammar";
  if (error instanceof UnboundTools) return "tools";
  return error instanceof MissingGrammar ? "missing" : "failed";
}

/** @returns Keywords that a made grammar does not keep. */
function answer(call: GuideCall): readonly string[] {
  switch (call.type) {
    case "vocabulary": {
      const tokens = toTokenSet(call.table, call.size, call.endTokens);
      if (stores.size === 0) warmUp(tokens);
      stores.set(call.vocabulary, new GrammarStore(tokens));
      return [];
    }
    case "prepare": {
      const { grammar, dropped } = make(call.source);
      requireStore(call.vocabulary).prepare(call.key, grammar);
      return dropped;
    }
    case "start":
      start(call);
      return [];
    case "advance": {
      const open = matchers.get(call.matcher);
      if (open === undefined) throw new Error("The answer is closed");
      for (const token of call.tokens) {
        if (!open.matcher.accept(token)) throw new Error(`The token ${token} does not fit the grammar`);
      }
      open.matcher.writePlace(open.place);
      return [];
    }
  }
}

function make(source: GrammarSource): MadeAnswer {
  if ("grammar" in source) return { ...source, dropped: [] };
  try {
    return makeAnswer(source.answer);
  } catch (error) {
    throw error instanceof GrammarError ? new UnboundTools(error.message) : error;
  }
}

function start(call: Extract<GuideCall, { type: "start" }>): void {
  if (matchers.size >= MATCHERS_MAX) throw new Error(`${MATCHERS_MAX} answers are bound to grammars already`);
  const store = requireStore(call.vocabulary);
  const followed = call.source === undefined
    ? store.find(call.key)
    : store.prepare(call.key, make(call.source).grammar);
  if (followed === undefined) throw new MissingGrammar("The grammar is kept no more");
  const matcher = store.start(followed);
  const place = new SharedPlace(call.place);
  matcher.writePlace(place);
  matchers.set(call.matcher, { matcher, place });
}

function requireStore(vocabulary: number): GrammarStore {
  const store = stores.get(vocabulary);
  if (store === undefined) throw new Error("The vocabulary is unknown");
  return store;
}
