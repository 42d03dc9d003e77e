/**
 * `deno task bench:servers`: `serve` beside llama.cpp's own C++ server, over HTTP, in turn, on the same weights.
 *
 *     deno task bench:servers [--rounds 9] [--only start|answers] [--threads 2] [--tokens 96] [--streams 8]
 *                             [--xllamacpp FOLDER] [--model FOLDER]
 *
 * `start`: both processes from exec to the first success of their health probe, first token of a first request, and
 * resident memory after it. `answers`: both stay up; first token and gap of one stream, all tokens of many streams.
 * `--xllamacpp` names a Python environment that has the package; without it, it is installed under build/.
 *
 * @module
 */
import { join } from "node:path";
import { fetchDefaultGguf } from "../../src/setup/default_model.ts";
import { openReport } from "../../src/setup/report.ts";
import { ensureCore, ensureDefaultModel } from "../../src/setup/setup.ts";
import { alternate, type Figure, printSamples, type Side } from "../alternate.ts";
import { readFlags } from "../flags.ts";
import { printLoad, printMachine } from "../machine.ts";
import { readRssBytes } from "../process_usage.ts";
import { toWords } from "../prompts.ts";
import { BENCH_FOLDER, ensurePeer, type PeerCommand, XLLAMACPP } from "../python.ts";
import { streamChat, toGapMs } from "./client.ts";
import { findPort, type ServerProcess, startAt, toServe } from "./server_process.ts";

/** Words of a question that makes a prompt of some 47 tokens with SmolLM2's template. */
const WORDS = 11;
/** Of each of llama.cpp's slots. */
const SLOT_TOKENS = 1024;

/** One that is compared. */
interface Contestant {
  readonly name: string;
  readonly toCommand: (port: number) => PeerCommand;
  /** Answers 200 as soon as requests are. */
  readonly probe: string;
}

const counts = { rounds: 9, threads: navigator.hardwareConcurrency, tokens: 96, streams: 8 };
const flags = readFlags(counts, ["only", "xllamacpp", "model"]);
const report = openReport();
const onRound = (round: number): void => report.progress(`round ${round} of ${flags.rounds}`);
/** Every question is a new one: nothing may be cached. */
let question = 0;

const { library } = await ensureCore();
const folder = flags.model ?? await ensureDefaultModel();
const peer = await ensurePeer(XLLAMACPP, flags.xllamacpp, report);
const gguf = await fetchDefaultGguf(join(BENCH_FOLDER, "gguf"), "forbidden", report);
const contestants: readonly [Contestant, Contestant] = [
  {
    name: "rapid-mlx",
    toCommand: (port) => toServe(folder, "--port", String(port), "--threads", String(flags.threads)),
    probe: "/readyz",
  },
  {
    name: "llama.cpp server",
    toCommand: (port) => {
      const numbers = [flags.threads, flags.streams, SLOT_TOKENS, port].map(String);
      return { ...peer, command: [...peer.command, gguf, ...numbers] };
    },
    probe: "/health",
  },
];
await printMachine("bench:servers", library);
if (flags.only !== "answers") await measureStarts();
if (flags.only !== "start") await measureAnswers();
printLoad();

function start({ toCommand, probe }: Contestant): Promise<ServerProcess> {
  const port = findPort();
  return startAt(toCommand(port), port, probe);
}

function ask(server: ServerProcess, tokens: number, client = "bench"): ReturnType<typeof streamChat> {
  const text = `Tell me a long story about ${toWords(WORDS, ++question)}.`;
  return streamChat(server.url, { text, maxTokens: tokens }, client);
}

async function measureStarts(): Promise<void> {
  const figures: Figure[] = [
    { name: "ready", title: "exec to ready", unit: "ms", better: "lower" },
    { name: "first", title: "exec to the first token", unit: "ms", better: "lower" },
    { name: "rss", title: "resident memory after the first answer", unit: "MB", better: "lower" },
  ];
  const [ours, theirs] = contestants.map((contestant): Side => ({
    name: contestant.name,
    measure: async () => {
      const startMs = performance.now();
      await using server = await start(contestant);
      const ready = performance.now() - startMs;
      const { pieceMs } = await ask(server, 8);
      return { ready, first: (pieceMs[0] ?? NaN) - startMs, rss: await readRssBytes(server.pid) / 1e6 };
    },
  }));
  if (!ours || !theirs) return;
  for (const side of [ours, theirs]) await side.measure();
  (await alternate([ours, theirs], figures, flags.rounds, onRound)).forEach(printSamples);
}

async function measureAnswers(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const figures: Figure[] = [
    { name: "ttft", title: "first token of a 47-token prompt", unit: "ms", better: "lower" },
    { name: "gap", title: "gap between tokens, one stream", unit: "ms", better: "lower" },
    { name: "added", title: "gap over the core's own step", unit: "ms", better: "lower", compared: "difference" },
    { name: "together", title: `${flags.streams} streams together`, unit: "tokens/s of all", better: "higher" },
    { name: "alone", title: "one stream", unit: "tokens/s", better: "higher" },
    { name: "rss", title: "resident memory", unit: "MB", better: "lower" },
  ];
  const sides: Side[] = [];
  for (const contestant of contestants) {
    const server = stack.use(await start(contestant));
    sides.push({ name: contestant.name, measure: () => measure(server) });
  }
  const [ours, theirs] = sides;
  if (!ours || !theirs) return;
  for (const side of sides) await side.measure();
  (await alternate([ours, theirs], figures, flags.rounds, onRound)).forEach(printSamples);
}

async function measure(server: ServerProcess): Promise<Record<string, number>> {
  const one = await ask(server, flags.tokens);
  const many = await Promise.all(
    Array.from({ length: flags.streams }, (_, i) => ask(server, flags.tokens, `client ${i}`)),
  );
  // While all of them run: prompts are another figure, and the last one alone is one stream.
  const begun = Math.max(...many.map(({ pieceMs }) => pieceMs[0] ?? NaN));
  const ended = Math.min(...many.map(({ pieceMs }) => pieceMs.at(-1) ?? NaN));
  const tokens = many.flatMap(({ pieceMs }) => pieceMs).filter((ms) => ms > begun && ms <= ended).length;
  const gap = toGapMs(one);
  return {
    ttft: (one.pieceMs[0] ?? NaN) - one.sentMs,
    gap,
    ...Number.isFinite(one.coreStepMs) && { added: gap - one.coreStepMs },
    together: tokens / (ended - begun) * 1000,
    alone: 1000 / gap,
    rss: await readRssBytes(server.pid) / 1e6,
  };
}
