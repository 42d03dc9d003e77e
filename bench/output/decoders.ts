/**
 * `deno task bench:decoders`: what decoding a token costs in each dialect, apart from any model.
 *
 *     deno task bench:decoders [--rounds 20] [--tokens 2000]
 *
 * An answer is the dialect's transcripts one after another with prose between, cut into pieces of four characters and
 * its special tokens; calls are a small part of it, as in life, and one call holds a long text. Every token's `push` is
 * timed by itself. Printed are the median, the 99th percentile and the slowest, over all rounds but the first, which
 * warms up.
 *
 * @module
 */
import { createDecoder } from "../../src/output/decoder.ts";
import { DIALECTS } from "../../tests/golden/tools/dialects.ts";
import { loadTranscripts, TOOLS, type Transcript } from "../../tests/golden/tools/suite.ts";
import { PieceVocabulary } from "../../tests/support/vocabulary.ts";
import { readFlags } from "../flags.ts";
import { print } from "../../src/cli/terminal.ts";
import { printLoad } from "../machine.ts";
import { toQuantile } from "../statistics.ts";

/** What a token may cost, in µs, at the median. */
const MEDIAN_MAX_US = 20;

/** Characters of a token of prose. */
const PIECE_CHARS = 4;

const PROSE = "The figs ripen late this year, so write down when to look again: in a week, or two. ";

const flags = readFlags({ rounds: 20, tokens: 2000 }, []);
print(`${new Date().toISOString().slice(0, 16)} bench:decoders, deno ${Deno.version.deno}`);
printLoad();

/** Prose with whole calls in it, about as many tokens as asked for. */
function toPieces(transcripts: readonly Transcript[], special: readonly string[], tokens: number): string[] {
  const calls = transcripts.filter(({ expect, end }) => (expect.calls?.length ?? 0) > 0 && end !== "length");
  const pieces: string[] = [];
  const marks = new RegExp(`(${special.map(RegExp.escape).join("|")})`);
  for (let i = 0; pieces.length < tokens; i++) {
    const text = i % 2 === 0 || calls.length === 0
      ? `\n${PROSE.repeat(4)}`
      : calls[(i >> 1) % calls.length]!.text.replace(/figs|\ba\b/, PROSE);
    for (const part of special.length === 0 ? [text] : text.split(marks)) {
      if (special.includes(part)) pieces.push(part);
      else for (let at = 0; at < part.length; at += PIECE_CHARS) pieces.push(part.slice(at, at + PIECE_CHARS));
    }
  }
  return pieces;
}

let slow = 0;
print("| dialect | median µs | p99 µs | slowest µs |");
print("| --- | ---: | ---: | ---: |");
for (const { folder, dialect, special } of DIALECTS) {
  const transcripts = await loadTranscripts(new URL(`../../tests/golden/${folder}/`, import.meta.url));
  const pieces = toPieces(transcripts.map(([, transcript]) => transcript), special, flags.tokens);
  const reasoning = transcripts.find(([, transcript]) => transcript.reasoning !== undefined)?.[1].reasoning ?? "none";
  const times: number[] = [];
  for (let round = 0; round < flags.rounds; round++) {
    const vocabulary = new PieceVocabulary({ special: [...special] });
    const events = vocabulary.events(pieces);
    const decoder = createDecoder({
      vocabulary,
      endTokens: [],
      stop: [],
      dialect: { tools: dialect, reasoning: dialect === "harmony" ? "none" : reasoning },
      tools: TOOLS,
    });
    for (const event of events) {
      const start = performance.now();
      decoder.push(event);
      if (round > 0) times.push((performance.now() - start) * 1000);
    }
  }
  const median = toQuantile(times, 0.5);
  if (median > MEDIAN_MAX_US) slow++;
  const figures = [median, toQuantile(times, 0.99), toQuantile(times, 1)].map((us) => us.toFixed(2));
  print(`| ${folder} | ${figures.join(" | ")} |`);
}
print(slow === 0 ? `\nevery median is under ${MEDIAN_MAX_US} µs` : `\n${slow} medians are over ${MEDIAN_MAX_US} µs`);
if (slow > 0) Deno.exit(1);
