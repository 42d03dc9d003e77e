/**
 * `deno task bench:cpu`: our core on a plain CPU beside llama.cpp and mlx-lm, in turn, on the same weights.
 *
 *     deno task bench:cpu [--rounds 9] [--only decode,rows,start] [--peers llama.cpp,mlx-lm] [--threads 2]
 *                         [--arithmetic fast,exact] [--mlx-lm FOLDER] [--llama-cpp FOLDER]
 *
 * `--only` takes names of cases.ts or their beginnings; `start` is the time from exec to the first token. `--mlx-lm`
 * and `--llama-cpp` name Python environments that have the packages; without them they are installed under build/
 * (llama.cpp is compiled there, for this processor).
 *
 * @module
 */
import { print, printTable, toSize } from "../../src/cli/terminal.ts";
import { openReport } from "../../src/setup/report.ts";
import { ensureCore } from "../../src/setup/setup.ts";
import { alternate, printSamples, type Samples, type Side, toText } from "../alternate.ts";
import { readFlags } from "../flags.ts";
import { printLoad, printMachine } from "../machine.ts";
import { Peer } from "../peer.ts";
import { readPeakBytes, readRssBytes } from "../process_usage.ts";
import { toPrompt } from "../prompts.ts";
import { toQuantile } from "../statistics.ts";
import { findCases, ROW_COUNTS } from "./cases.ts";
import { type Contestant, findContestants } from "./contestants.ts";

/** Tokens of the prompt whose first token ends a start. */
const START_PROMPT_TOKENS = 16;

const processors = navigator.hardwareConcurrency;
const flags = readFlags({ rounds: 9, threads: processors }, ["only", "peers", "arithmetic", "mlx-lm", "llama-cpp"]);
const toList = (text: string): string[] => text.split(",").filter((item) => item !== "");
const wanted = toList(flags.only ?? "");
const withStart = wanted.length === 0 || wanted.includes("start");
const cases = withStart && wanted.length === 1 ? [] : findCases(wanted.filter((name) => name !== "start"));
const report = openReport();
const { library } = await ensureCore();
const contestants = await findContestants({
  library,
  threads: flags.threads,
  arithmetic: toList(flags.arithmetic ?? "fast,exact"),
  peers: toList(flags.peers ?? "llama.cpp,mlx-lm"),
  environments: { "mlx-lm": flags["mlx-lm"], "llama.cpp": flags["llama-cpp"] },
}, report);
await printMachine("bench:cpu", library);
if (withStart) await measureStart();
if (cases.length > 0) await measureCases();
printLoad();

async function measureStart(): Promise<void> {
  const [first, ...others] = contestants.map((contestant): Side => ({
    name: contestant.name,
    measure: async () => {
      const startMs = performance.now();
      await using peer = Peer.start(contestant.command);
      await peer.generate([toPrompt(START_PROMPT_TOKENS, 1)], 1);
      return { start: performance.now() - startMs };
    },
  }));
  if (!first) return;
  const figure = { name: "start", title: "from exec to the first token", unit: "ms", better: "lower" } as const;
  (await alternate([first, ...others], [figure], flags.rounds)).forEach(printSamples);
}

async function measureCases(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const peers = contestants.map((contestant) => ({ contestant, peer: stack.use(Peer.start(contestant.command)) }));
  let seed = 0;
  const taken: Samples[] = [];
  for (const one of cases) {
    const [first, ...others] = peers
      .filter(({ contestant }) => !one.tooSlow.includes(contestant.name))
      .map(({ contestant, peer }): Side => ({
        name: contestant.name,
        measure: async () => ({ [one.name]: await one.measure(peer, ++seed) }),
      }));
    if (!first) continue;
    for (const side of [first, ...others]) await side.measure();
    const onRound = (round: number): void => report.progress(`${one.name}: round ${round} of ${flags.rounds}`);
    const samples = await alternate([first, ...others], [one.figure], flags.rounds, onRound);
    samples.forEach(printSamples);
    taken.push(...samples);
  }
  printRows(taken);
  await printMemory(peers);
}

/** What a row more costs, which decides what drafting gains. */
function printRows(taken: readonly Samples[]): void {
  const steps = ROW_COUNTS.map((count) => taken.find(({ figure }) => figure.name === `rows-${count}`));
  if (steps.some((samples) => samples === undefined)) return;
  const toCost = (name: string, samples: Samples | undefined): number => {
    const [step, one] = [samples, steps[0]].map((of) => toQuantile(of?.sides.get(name) ?? [NaN], 0.5));
    return (step ?? NaN) / (one ?? NaN);
  };
  print("\ncost of a step by its rows, one row = 1 (medians)");
  printTable([
    ["", ...ROW_COUNTS.map(String)],
    ...contestants.map(({ name }) => [name, ...steps.map((samples) => toText(toCost(name, samples)))]),
  ]);
}

async function printMemory(peers: readonly { contestant: Contestant; peer: Peer }[]): Promise<void> {
  print("\nresident memory after all cases (ours holds Deno too)");
  const rows = await Promise.all(peers.map(async ({ contestant, peer }) => {
    const peak = await readPeakBytes(peer.pid);
    return [contestant.name, toSize(await readRssBytes(peer.pid)), peak === undefined ? "–" : toSize(peak)];
  }));
  printTable([["", "now", "high-water mark"], ...rows]);
}
