/**
 * `deno task bench:mlx-lm`: decode of SmolLM2 by our core and by mlx-lm, in turn, on the same weights. Wanted: a ratio
 * of 1 or more.
 *
 *     deno task bench:mlx-lm [--rounds 5] [--tokens 48] [--prompt 32] [--mlx-lm FOLDER] [--model FOLDER]
 *
 * mlx-lm runs twice, with the checkpoint's own dtype and widened to float32: on a CPU the second is the faster.
 * `--mlx-lm` names a Python environment that has it; without it one is made under build/.
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
import { ensurePeer, MLX_LM } from "../python.ts";

const DECODE: Figure = { name: "decode", title: "decode, one stream", unit: "tokens/s", better: "higher" };

const flags = readFlags({ rounds: 5, tokens: 48, prompt: 32 }, ["mlx-lm", "model"]);
const report = openReport();
const { library } = await ensureCore();
const folder = flags.model ?? await ensureDefaultModel();
const mlxLm = await ensurePeer(MLX_LM, flags["mlx-lm"], report);
await printMachine("bench:mlx-lm", library);

await using ours = Peer.start(rapidMlxPeer(library, folder, {}));
await using stored = Peer.start(mlxLm, folder, "checkpoint");
await using widened = Peer.start(mlxLm, folder, "float32");

const toSide = (name: string, peer: Peer): Side => ({
  name,
  measure: async () => {
    const { decodeMs, decodeTokens } = await peer.generate([toPrompt(flags.prompt, 1)], flags.tokens);
    return { decode: decodeTokens / decodeMs * 1000 };
  },
});
// Caches, page tables and lazily built graphs are no part of the question.
for (const peer of [ours, stored, widened]) await peer.generate([toPrompt(flags.prompt, 1)], 4);
const samples = await alternate(
  [toSide("rapid-mlx", ours), toSide("mlx-lm float32", widened), toSide("mlx-lm as stored", stored)],
  [DECODE],
  flags.rounds,
  (round) => report.progress(`round ${round} of ${flags.rounds}`),
);
samples.forEach(printSamples);
printLoad();
