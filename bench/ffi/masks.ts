/**
 * `deno task bench:mask`: what it costs that somebody says token by token what may be drawn: decode of SmolLM2 free,
 * and with guides of several kinds, in turn.
 *
 *     deno task bench:mask [--rounds 5] [--tokens 64] [--prompt 32] [--model FOLDER]
 *
 * Every guide allows all that the free side draws, so all sides do the same work but for the guide. *steps*: a step
 * waits for its mask only where the answer comes after the forward pass; `late` is a guide that takes 3 ms for it.
 *
 * @module
 */
import { Engine } from "../../src/engine/engine.ts";
import { openNativeCore } from "../../src/ffi/native_core.ts";
import type { Allowance, TokenGuide } from "../../src/flow.ts";
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

const flags = readFlags({ rounds: 5, tokens: 64, prompt: 32 }, ["model"]);
const report = openReport();
const { library } = await ensureCore();
const folder = flags.model ?? await ensureDefaultModel();
await printMachine("bench:mask", library);

const engine = new Engine(openNativeCore(library, {}));
const model = await engine.loadModel(folder, {});
const all = new Uint32Array(Math.ceil(engine.modelInfo(model).vocabularySize / 32)).fill(0xffff_ffff);

const GUIDES: readonly [name: string, next: TokenGuide["next"]][] = [
  ["told to be free", () => ({ type: "free", positions: 1 })],
  ["mask at once", () => ({ type: "mask", words: all })],
  ["mask by promise", () => Promise.resolve<Allowance>({ type: "mask", words: all })],
  [`mask ${LATE_MS} ms late`, () => later({ type: "mask", words: all })],
];
const sides = [
  toSide("free", undefined),
  ...GUIDES.map(([name, next]) => toSide(name, next)),
] as [Side, ...Side[]];
for (const side of sides) await side.measure();
const samples = await alternate(sides, FIGURES, flags.rounds, (round) => {
  report.progress(`round ${round} of ${flags.rounds}`);
});
samples.forEach(printSamples);
printLoad();
await engine.close();

function toSide(name: string, next: TokenGuide["next"] | undefined): Side {
  return {
    name,
    measure: async () => {
      const figures: Record<string, number> = {};
      for (const count of STREAM_COUNTS) {
        const prompts = Array.from({ length: count }, (_, at) => toPrompt(flags.prompt, at + 1));
        const { decodeMs } = await generate(engine, model, prompts, flags.tokens, next && (() => toGuide(next)));
        figures[`token${count}`] = decodeMs * 1000 / (flags.tokens - 1);
      }
      return figures;
    },
  };
}

function toGuide(next: TokenGuide["next"]): TokenGuide {
  return { next, close: () => {} };
}

function later(allowance: Allowance): Promise<Allowance> {
  return new Promise((resolve) => setTimeout(() => resolve(allowance), LATE_MS));
}
