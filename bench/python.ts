/**
 * Python environments of peers: made under build/ once, with exact versions.
 *
 * @module
 */
import { join } from "node:path";
import { BUILD_FOLDER, PROJECT_FOLDER } from "../src/setup/folders.ts";
import type { Report } from "../src/setup/report.ts";
import { runCommand } from "../src/setup/run_command.ts";
import { hasStamp, writeStamp } from "../src/setup/stamp.ts";
import { ensurePython } from "../src/setup/toolchain.ts";

/** A peer that is a Python package. */
export interface PythonPeer {
  /** Its program is bench/peers/run_NAME.py. */
  readonly name: string;
  /** File of its packages, relative to the project. */
  readonly requirements: string;
  /** What its installation is, with how long it takes. */
  readonly task: string;
  /** Variables of its build. */
  readonly environment: Readonly<Record<string, string>>;
}

/** MLX's own language model package, in the versions that our logits are compared with. */
export const MLX_LM: PythonPeer = {
  name: "mlx_lm",
  requirements: "tests/golden/logits/requirements.txt",
  task: "installing mlx-lm (a minute)",
  environment: {},
};

/** llama.cpp, compiled here for this processor. */
export const LLAMA_CPP: PythonPeer = {
  name: "llama_cpp",
  requirements: "bench/peers/llama_cpp.txt",
  task: "building llama.cpp for this processor (needs a C++ compiler; about 10 minutes on 2 cores)",
  environment: { CMAKE_ARGS: "-DGGML_NATIVE=ON", FORCE_CMAKE: "1" },
};

/** llama.cpp's own C++ server, prebuilt for any x86-64 with AVX2. */
export const XLLAMACPP: PythonPeer = {
  name: "xllamacpp",
  requirements: "bench/peers/xllamacpp.txt",
  task: "installing xllamacpp (34 MB)",
  environment: {},
};

/** Folder of what benchmarks make. */
export const BENCH_FOLDER: string = join(BUILD_FOLDER, "bench");

/** How to start a peer. */
export interface PeerCommand {
  /** Program and arguments; those of the peer follow. */
  readonly command: readonly [string, ...string[]];
  /** Variables beside those of this process. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Installs a peer's packages, unless they are there, and says how to start it.
 *
 * @param existing Folder of a Python environment that has them; undefined: they go to a folder under build/.
 * @throws {SetupError} If Python or pip is missing or the installation fails.
 */
export async function ensurePeer(peer: PythonPeer, existing: string | undefined, report: Report): Promise<PeerCommand> {
  const script = join(PROJECT_FOLDER, "bench/peers", `run_${peer.name}.py`);
  if (existing !== undefined) return { command: [join(existing, "bin/python"), script], environment: {} };
  const requirements = join(PROJECT_FOLDER, peer.requirements);
  const folder = join(BENCH_FOLDER, peer.name);
  const [stampPath, stamp] = [`${folder}.stamp`, await Deno.readTextFile(requirements)];
  const { python, pip } = await ensurePython("forbidden", report);
  const started: PeerCommand = { command: [python, script], environment: { PYTHONPATH: folder } };
  if (await hasStamp(stampPath, stamp.trimEnd())) return started;
  report.step(`${peer.name}: ${peer.task}`);
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  // Into a folder and not into a virtual environment: Debian's python3 alone can't make one.
  await runCommand([...pip, "install", "--no-input", "--target", folder, "-r", requirements], {
    report,
    task: peer.task,
    logPath: `${folder}.log`,
    environment: peer.environment,
  });
  await writeStamp(stampPath, stamp.trimEnd());
  return started;
}
