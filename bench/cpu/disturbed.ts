/**
 * `deno task bench:disturbed`: decode beside a process that burns a core, and with affinity to one core, in turn with
 * decode undisturbed. Wanted: at least 0.55 of the speed with the burner; one core works at one thread.
 *
 *     deno task bench:disturbed [--rounds 9] [--tokens 64] [--threads 2]
 *
 * Ratios over 1 mean that undisturbed is faster, so the bound for the burner is 1.82. Linux: affinity needs `taskset`.
 *
 * @module
 */
import { openReport } from "../../src/setup/report.ts";
import { ensureCore, ensureDefaultModel } from "../../src/setup/setup.ts";
import { alternate, type Figure, printSamples, type Side } from "../alternate.ts";
import { readFlags } from "../flags.ts";
import { printLoad, printMachine } from "../machine.ts";
import { Peer, rapidMlxPeer } from "../peer.ts";
import { toPrompt } from "../prompts.ts";

const PROMPT_TOKENS = 16;
const FIGURE: Figure = { name: "decode", title: "decode, empty context", unit: "tokens/s", better: "higher" };

const flags = readFlags({ rounds: 9, tokens: 64, threads: navigator.hardwareConcurrency }, []);
const report = openReport();
const { library } = await ensureCore();
const folder = await ensureDefaultModel();
await printMachine("bench:disturbed", library);
await using stack = new AsyncDisposableStack();
const command = rapidMlxPeer(library, folder, { threads: flags.threads, cpuArithmetic: "fast" });
const peer = stack.use(Peer.start(command));
// Its thread count is its own choice: that is what is looked at.
const free = rapidMlxPeer(library, folder, { cpuArithmetic: "fast" });
const pinned = stack.use(Peer.start({ ...free, command: ["taskset", "--cpu-list", "0", ...free.command] }));
let seed = 0;
const sides: [Side, Side, Side] = [
  { name: "undisturbed", measure: () => measure(peer) },
  { name: "beside a burner", measure: () => beside(() => measure(peer)) },
  { name: "on one core", measure: () => measure(pinned) },
];
for (const side of sides) await side.measure();
const onRound = (round: number): void => report.progress(`round ${round} of ${flags.rounds}`);
(await alternate(sides, [FIGURE], flags.rounds, onRound)).forEach(printSamples);
printLoad();

async function measure(of: Peer): Promise<Record<string, number>> {
  const { decodeMs, decodeTokens } = await of.generate([toPrompt(PROMPT_TOKENS, ++seed)], flags.tokens);
  return { [FIGURE.name]: decodeTokens / decodeMs * 1000 };
}

/** Runs `work` while another process keeps one core busy. */
async function beside<T>(work: () => Promise<T>): Promise<T> {
  const burner = new Deno.Command(Deno.execPath(), { args: ["eval", "for (;;);"], stdout: "null", stderr: "null" })
    .spawn();
  try {
    return await work();
  } finally {
    burner.kill("SIGKILL");
    await burner.status;
  }
}
