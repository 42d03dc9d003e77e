/**
 * Who is compared on a CPU, and how each is started. All compute from the weights of one GGUF file: ours and mlx-lm
 * from the folder that `convert` makes of it, llama.cpp from the file.
 *
 * @module
 */
import { join } from "node:path";
import type { EngineConfig } from "../../src/ffi/core.ts";
import { fetchDefaultGguf } from "../../src/setup/default_model.ts";
import type { Report } from "../../src/setup/report.ts";
import { ensureDefaultModel } from "../../src/setup/setup.ts";
import { rapidMlxPeer } from "../peer.ts";
import { BENCH_FOLDER, ensurePeer, LLAMA_CPP, MLX_LM, type PeerCommand } from "../python.ts";

/** One that is compared. */
export interface Contestant {
  /** For tables. */
  readonly name: string;
  /** Starts it. */
  readonly command: PeerCommand;
}

/** Who is wanted. */
export interface Wanted {
  /** Our core. */
  readonly library: string;
  /** Of each side that can be told. */
  readonly threads: number;
  /** Of ours, in this order; the first is the one that ratios are about. */
  readonly arithmetic: readonly string[];
  /** `llama.cpp`, `mlx-lm`. */
  readonly peers: readonly string[];
  /** Peer → folder of a Python environment that has it. */
  readonly environments: Readonly<Record<string, string | undefined>>;
}

/** Tokens that llama.cpp's cache is made for: the longest prompt and its answer, or all streams. */
const LLAMA_CONTEXT_TOKENS = 4608;
const LLAMA_STREAMS = 8;

/**
 * Makes what they need and says how to start them.
 *
 * @throws {TypeError} If a name is none of ours; names it.
 * @throws {SetupError} If a peer or the weights can't be fetched.
 */
export async function findContestants(wanted: Wanted, report: Report): Promise<Contestant[]> {
  const folder = await ensureDefaultModel();
  const ours = wanted.arithmetic.map((name): Contestant => {
    const config: EngineConfig = { threads: wanted.threads, cpuArithmetic: toArithmetic(name) };
    return { name: `rapid-mlx ${name}`, command: rapidMlxPeer(wanted.library, folder, config) };
  });
  const peers: Contestant[] = [];
  for (const name of wanted.peers) {
    if (name === "mlx-lm") {
      const started = await ensurePeer(MLX_LM, wanted.environments[name], report);
      peers.push({ name, command: withArguments(started, folder, "float32") });
    } else if (name === "llama.cpp") {
      const started = await ensurePeer(LLAMA_CPP, wanted.environments[name], report);
      const gguf = await fetchDefaultGguf(join(BENCH_FOLDER, "gguf"), "forbidden", report);
      const numbers = [wanted.threads, LLAMA_CONTEXT_TOKENS, LLAMA_STREAMS].map(String);
      peers.push({ name, command: withArguments(started, gguf, ...numbers) });
    } else throw new TypeError(`--peers has ${JSON.stringify(name)}; there are llama.cpp, mlx-lm`);
  }
  return [...ours, ...peers];
}

function toArithmetic(name: string): "exact" | "fast" {
  if (name === "exact" || name === "fast") return name;
  throw new TypeError(`--arithmetic has ${JSON.stringify(name)}; there are exact, fast`);
}

function withArguments({ command, environment }: PeerCommand, ...more: readonly string[]): PeerCommand {
  return { command: [...command, ...more], environment };
}
