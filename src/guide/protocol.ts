/**
 * What the main isolate and the grammar worker say to each other: one reply a call, matched by number, but `close`,
 * which has none. The calls of a message are answered in one: waking a thread costs more than most masks. Masks do not
 * travel: the worker writes them into memory that both hold.
 *
 * @module
 */
import type { Grammar } from "../grammar/expr.ts";
import type { AnswerSource } from "../output/answer_source.ts";
import type { TokenTableParts } from "../prompt/token_table.ts";

/** A grammar, or what the worker makes one of. */
export type GrammarSource = { grammar: Grammar } | { answer: AnswerSource };

/** What the worker can be asked. */
export type GuideCall =
  /** A vocabulary, before anything else of it. `size`: ids that the model can draw. */
  | { type: "vocabulary"; vocabulary: number; table: TokenTableParts; size: number; endTokens: readonly number[] }
  /** Makes, checks and keeps a grammar. */
  | { type: "prepare"; vocabulary: number; key: string; source: GrammarSource }
  /** Begins an answer and writes its first place. Without `source` its grammar must be kept under its key. */
  | {
    type: "start";
    matcher: number;
    vocabulary: number;
    key: string;
    source?: GrammarSource;
    place: SharedArrayBuffer;
  }
  /** Goes on over tokens and writes the place behind them. */
  | { type: "advance"; matcher: number; tokens: readonly number[] };

/** A message to the worker: calls that it does in order, or an answer that is over. */
export type GuideRequest = { calls: readonly { number: number; call: GuideCall }[] } | { close: number };

/**
 * The answer to a call. `dropped`: keywords that a made grammar does not keep. `tools`: no grammar can be made of them;
 * `grammar`: it can't be followed; `missing`: it is kept no more.
 */
export type GuideReply =
  | { number: number; ok: true; dropped: readonly string[] }
  | { number: number; ok: false; kind: "tools" | "grammar" | "missing" | "failed"; message: string };
