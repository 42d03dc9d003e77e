/**
 * `deno task bench:perplexity`: what `--cpu-arithmetic fast` loses against `exact` on a fixed text.
 *
 *     deno task bench:perplexity [--tokens 4096] [--window 1024] [--threads 2] [--model FOLDER] [--library FILE]
 *
 * The text (text.txt: English about this project, frozen) is cut into windows, each a sequence of its own. Every token
 * but a window's first is told to the core, which answers with its probability, through the same steps as any
 * generation. The perplexity is e^(-mean of the natural logs). Wanted: a loss under 0.5 %. `--library` measures another
 * build of the core.
 *
 * @module
 */
import { Engine } from "../../src/engine/engine.ts";
import type { ModelHandle } from "../../src/ffi/core.ts";
import { openNativeCore } from "../../src/ffi/native_core.ts";
import type { GenerationRequest, TokenGuide } from "../../src/flow.ts";
import { print } from "../../src/cli/terminal.ts";
import { openTextModel } from "../../src/prompt/text_model.ts";
import { openReport } from "../../src/setup/report.ts";
import { ensureCore, ensureDefaultModel } from "../../src/setup/setup.ts";
import { readFlags } from "../flags.ts";
import { toRequest } from "../generate.ts";
import { printMachine } from "../machine.ts";

/** Above this, `fast` must not be the default. */
const LOSS_MAX_PERCENT = 0.5;
/** Tokens that one call of the core takes. */
const FORCED_MAX = 32;
/** Sequences at a time. */
const STREAMS = 4;

const flags = readFlags({ tokens: 4096, window: 1024, threads: navigator.hardwareConcurrency }, ["model", "library"]);
const report = openReport();
const library = flags.library ?? (await ensureCore()).library;
const folder = flags.model ?? await ensureDefaultModel();
const windows = await readWindows();
const known = windows.reduce((sum, window) => sum + window.length - 1, 0);
await printMachine("bench:perplexity", library);
const exact = await measure("exact");
const fast = await measure("fast");
const lossPercent = (fast / exact - 1) * 100;
print(`${known} tokens in windows of ${flags.window}`);
print(`exact  perplexity ${exact.toFixed(4)}`);
print(`fast   perplexity ${fast.toFixed(4)}`);
print(`loss   ${lossPercent.toFixed(3)} % (wanted: under ${LOSS_MAX_PERCENT} %)`);
if (lossPercent >= LOSS_MAX_PERCENT) Deno.exitCode = 1;

async function readWindows(): Promise<Int32Array[]> {
  const text = await Deno.readTextFile(new URL("text.txt", import.meta.url));
  const model = await openTextModel(folder);
  const ids = await model.encode(text, { addSpecial: false, parseSpecial: false });
  await model.close();
  if (ids.length < flags.tokens) {
    throw new Error(`The text has ${ids.length} tokens, fewer than --tokens ${flags.tokens}`);
  }
  const starts = Array.from({ length: Math.floor(flags.tokens / flags.window) }, (_, i) => i * flags.window);
  if (starts.length === 0) throw new Error(`--window ${flags.window} is longer than --tokens ${flags.tokens}`);
  return starts.map((start) => Int32Array.from(ids.subarray(start, start + flags.window)));
}

async function measure(cpuArithmetic: "exact" | "fast"): Promise<number> {
  const engine = new Engine(openNativeCore(library, { threads: flags.threads, cpuArithmetic }));
  const model = await engine.loadModel(folder, {});
  let sum = 0;
  for (let first = 0; first < windows.length; first += STREAMS) {
    report.progress(`${cpuArithmetic}: window ${first + 1} of ${windows.length}`);
    const some = windows.slice(first, first + STREAMS);
    const sums = await Promise.all(some.map((window) => sumLogprobs(engine, model, window)));
    sum += sums.reduce((a, b) => a + b, 0);
  }
  await engine.close();
  return Math.exp(-sum / known);
}

async function sumLogprobs(engine: Engine, model: ModelHandle, window: Int32Array): Promise<number> {
  const told = [...window.subarray(1)];
  const plain = toRequest(model, window.subarray(0, 1), told.length, 0);
  const request: GenerationRequest = {
    ...plain,
    limits: { ...plain.limits, logprobsTop: 0 },
    guide: dictate(told),
  };
  let sum = 0;
  let count = 0;
  for await (const event of engine.generate(request, new AbortController().signal)) {
    if (event.type !== "token") continue;
    if (event.logprob === undefined) throw new Error(`Token ${event.index} came without its probability`);
    if (event.token !== told[event.index]) throw new Error(`Token ${event.index} is not the one that was told`);
    sum += event.logprob;
    count++;
  }
  if (count !== told.length) throw new Error(`${count} of ${told.length} tokens came back`);
  return sum;
}

/** A guide that says every token. */
function dictate(tokens: readonly number[]): TokenGuide {
  return {
    next: (position) => ({ type: "force", tokens: tokens.slice(position, position + FORCED_MAX) }),
    close: () => {},
  };
}
