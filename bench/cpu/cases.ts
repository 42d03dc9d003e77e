/**
 * What is measured on a CPU, as questions to a peer.
 *
 * @module
 */
import type { Figure } from "../alternate.ts";
import type { Peer } from "../peer.ts";
import { toPrompt } from "../prompts.ts";
import { toQuantile } from "../statistics.ts";

/** One question, asked of every side in turn. */
export interface Case {
  /** Of `--only`; also the figure's name. */
  readonly name: string;
  /** For tables. */
  readonly figure: Figure;
  /** Asks once. @param seed Another one gives another prompt: no prefix is shared between rounds. */
  readonly measure: (peer: Peer, seed: number) => Promise<number>;
  /** Peers that need minutes for it and are left out. */
  readonly tooSlow: readonly string[];
}

/** Rows of a step whose costs are compared with one row's. */
export const ROW_COUNTS: readonly number[] = [1, 2, 4, 8, 16];

/** Steps of a sample: one of them lasts milliseconds, which is too little on a shared machine. */
const STEPS = 7;

/** mlx-lm prefills some 10 tokens a second here: a prompt of 512 takes a minute, nine rounds of four cases an hour. */
const LONG = ["mlx-lm"];

/** Tokens a second after a prompt. */
function decode(promptTokens: number, tokens: number, title: string, tooSlow: readonly string[]): Case {
  const name = `decode-${promptTokens < 1000 ? 0 : `${Math.floor(promptTokens / 1000)}k`}`;
  return {
    name,
    figure: { name, title, unit: "tokens/s", better: "higher" },
    measure: async (peer, seed) => {
      const { decodeMs, decodeTokens } = await peer.generate([toPrompt(promptTokens, seed)], tokens);
      return decodeTokens / decodeMs * 1000;
    },
    tooSlow,
  };
}

/** Prompt tokens a second. */
function prefill(promptTokens: number): Case {
  const name = `prefill-${promptTokens}`;
  return {
    name,
    figure: { name, title: `prefill of ${promptTokens} tokens`, unit: "tokens/s", better: "higher" },
    measure: async (peer, seed) => {
      const { prefillMs } = await peer.generate([toPrompt(promptTokens, seed)], 1);
      return promptTokens / prefillMs * 1000;
    },
    tooSlow: LONG,
  };
}

/** One step over `count` rows of one sequence, as a draft window would be verified. */
function rows(count: number): Case {
  const name = `rows-${count}`;
  return {
    name,
    figure: { name, title: `one step over ${count} rows`, unit: "ms", better: "lower" },
    measure: async (peer, seed) => toQuantile(await peer.rows(toPrompt(count, seed), STEPS), 0.5),
    tooSlow: [],
  };
}

const STREAMS: Case = {
  name: "streams-8",
  figure: { name: "streams-8", title: "8 streams together", unit: "tokens/s of all", better: "higher" },
  measure: async (peer, seed) => {
    const prompts = Array.from({ length: 8 }, (_, i) => toPrompt(16, seed * 8 + i));
    const { decodeMs, decodeTokens } = await peer.generate(prompts, 32);
    return decodeTokens / decodeMs * 1000;
  },
  tooSlow: [],
};

/** All, in the order in which they run. */
export const CASES: readonly Case[] = [
  decode(16, 64, "decode, empty context", []),
  decode(1024, 48, "decode at 1k context", LONG),
  decode(2000, 48, "decode at 2k context", LONG),
  decode(4000, 32, "decode at 4k context", LONG),
  prefill(512),
  prefill(2000),
  ...ROW_COUNTS.map(rows),
  STREAMS,
];

/** The cases whose names begin with one of these; all without any. @throws {TypeError} If one finds nothing. */
export function findCases(beginnings: readonly string[]): Case[] {
  const unknown = beginnings.find((beginning) => !CASES.some(({ name }) => name.startsWith(beginning)));
  if (unknown !== undefined) {
    throw new TypeError(`No case begins with ${unknown}; there are ${CASES.map(({ name }) => name).join(", ")}, start`);
  }
  return CASES.filter(({ name }) => (
    beginnings.length === 0 || beginnings.some((beginning) => name.startsWith(beginning))
  ));
}
