/**
 * `deno task bench:mask`: what it costs that somebody says token by token what may be drawn: decode of SmolLM2 with
 * guides of several kinds, in turn.
 *
 *     deno task bench:mask [--rounds 9] [--tokens 64] [--prompt 32] [--model FOLDER]
 *
 * All is compared with being told that all is free, which takes the same messages without a mask. The *masks* are full,
 * so what is drawn is the same; they come at once, by a promise, or so late that the step waits for nothing but them.
 * The *grammars* are followed as the server does it, in the grammar worker: any text, a long JSON string, and digits,
 * where few tokens are left to draw from. They were followed before: what a first mask costs, `bench:grammar` says.
 *
 * @module
 */
import { Engine } from "../../src/engine/engine.ts";
import { openNativeCore } from "../../src/ffi/native_core.ts";
import type { Allowance, TokenGuide } from "../../src/flow.ts";
import { parseEbnf } from "../../src/grammar/ebnf.ts";
import type { Grammar } from "../../src/grammar/expr.ts";
import { compileSchema } from "../../src/grammar/schema/compile.ts";
import { GrammarGuide } from "../../src/guide/grammar_guide.ts";
import { GrammarWorker } from "../../src/guide/grammar_worker.ts";
import { loadTextFiles } from "../../src/prompt/text_files.ts";
import { toTokenTable } from "../../src/prompt/token_bytes.ts";
import { openReport } from "../../src/setup/report.ts";
import { ensureCore, ensureDefaultModel } from "../../src/setup/setup.ts";
import { alternate, type Figure, printSamples, type Side } from "../alternate.ts";
import { readFlags } from "../flags.ts";
import { generate } from "../generate.ts";
import { printLoad, printMachine } from "../machine.ts";
import { toPrompt } from "../prompts.ts";

const STREAM_COUNTS = [1, 8];
const LATE_MS = 3;

const FIGURES: readonly Figure[] = STREAM_COUNTS.map((count) => ({
  name: `token${count}`,
  title: `a decode step, ${count} streams`,
  unit: "µs",
  better: "lower",
}));

const flags = readFlags({ rounds: 9, tokens: 64, prompt: 32 }, ["model"]);
const report = openReport();
const { library } = await ensureCore();
const folder = flags.model ?? await ensureDefaultModel();
await printMachine("bench:mask", library);

const engine = new Engine(openNativeCore(library, {}));
const model = await engine.loadModel(folder, {});
const { vocabularySize } = engine.modelInfo(model);
const all = new Uint32Array(Math.ceil(vocabularySize / 32)).fill(0xffff_ffff);
const files = await loadTextFiles(folder);
// Without end tokens no answer is over before all of its tokens are drawn.
const vocabulary = { table: toTokenTable(files.tokenizer), size: vocabularySize, endTokens: [] };
const worker = new GrammarWorker();

const GUIDES: readonly [name: string, next: TokenGuide["next"]][] = [
  ["told to be free", () => ({ type: "free", positions: 1 })],
  ["mask at once", () => ({ type: "mask", words: all })],
  ["mask by promise", () => Promise.resolve<Allowance>({ type: "mask", words: all })],
  [`mask ${LATE_MS} ms late`, () => later({ type: "mask", words: all })],
];
const GRAMMARS: readonly [name: string, grammar: Grammar][] = [
  ["grammar: any text", parseEbnf("root ::= [^\\x00]*")],
  ["grammar: a string", compileSchema({ type: "string", minLength: 20_000, maxLength: 40_000 })],
  ["grammar: digits", parseEbnf("root ::= [0-9]+")],
];
const [told, ...others] = GUIDES.map(([name, next]) => toSide(name, () => ({ next, close: () => {} })));
if (told === undefined) throw new Error("Nothing to compare with");
const sides: [Side, ...Side[]] = [
  told,
  toSide("free", undefined),
  ...others,
  ...GRAMMARS.map(([key, grammar]) =>
    toSide(key, () => new GrammarGuide({ worker, vocabulary, key, source: { grammar } }))
  ),
];
for (const side of sides) await side.measure();
const samples = await alternate(sides, FIGURES, flags.rounds, (round) => {
  report.progress(`round ${round} of ${flags.rounds}`);
});
samples.forEach(printSamples);
printLoad();
worker.close();
await engine.close();

function toSide(name: string, makeGuide: (() => TokenGuide) | undefined): Side {
  return {
    name,
    measure: async () => {
      const figures: Record<string, number> = {};
      for (const count of STREAM_COUNTS) {
        const prompts = Array.from({ length: count }, (_, at) => toPrompt(flags.prompt, at + 1));
        const { decodeMs } = await generate(engine, model, prompts, flags.tokens, makeGuide);
        figures[`token${count}`] = decodeMs * 1000 / (flags.tokens - 1);
      }
      return figures;
    },
  };
}

function later(allowance: Allowance): Promise<Allowance> {
  return new Promise((resolve) => setTimeout(() => resolve(allowance), LATE_MS));
}
