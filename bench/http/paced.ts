/**
 * `deno task bench:paced`: how late tokens leave a server whose core keeps a pace of 100 tokens a second a stream, and
 * what the server's process uses meanwhile. Wanted: 99 of 100 tokens within 5 ms of their step, also while prompts of
 * 60,000 tokens are encoded and sixty tools are compiled; less than one processor.
 *
 *     deno task bench:paced [--streams 32] [--seconds 20] [--model FOLDER] [--only alone|prompts|tools|all]
 *
 * A delay is measured from the step's time to the arrival at a client: the way to the server's thread, the server, the
 * socket and this process are all in it.
 *
 * @module
 */
import { join } from "node:path";
import { print } from "../../src/cli/terminal.ts";
import { PROJECT_FOLDER } from "../../src/setup/folders.ts";
import { ensureCore, ensureDefaultModel } from "../../src/setup/setup.ts";
import { readFlags } from "../flags.ts";
import { printLoad, printMachine } from "../machine.ts";
import { readCpuSeconds, readThreadCpuSeconds } from "../process_usage.ts";
import { toQuantile } from "../statistics.ts";
import { goFirst, STEP_MS } from "./pace.ts";
import type { LoadDone, LoadKind, LoadMessage } from "./paced_load.ts";
import { type PacedStream, streamPaced } from "./paced_streams.ts";
import { type ServerProcess, startProgram, toDeno } from "./server_process.ts";

/** What runs beside the streams, over and over, until they have ended. */
const BESIDE: Readonly<Record<string, readonly LoadKind[]>> = {
  alone: [],
  prompts: ["prompts"],
  tools: ["tools"],
  all: ["prompts", "tools"],
};

const flags = readFlags({ streams: 32, seconds: 20 }, ["model", "only"]);
const { library } = await ensureCore();
const folder = flags.model ?? await ensureDefaultModel();
await printMachine("bench:paced", library);
{
  await using server = await startProgram(toDeno(join(PROJECT_FOLDER, "bench/http/paced_server.ts"), folder));
  if (!goFirst()) print("client and core wait for processors like the server: run as root on Linux to leave that out");
  // The compiler of the runtime needs some thousand tokens to settle, the workers their first long text.
  await measure(server, "all", 3);
  print(
    `\n${flags.streams} streams of 100 tokens/s, ${flags.seconds} s each   delay of a token (ms)      processors      ` +
      "end of body (ms)",
  );
  print("beside them            asked   p50    p99    p99.9  most     all    main    median  most");
  for (const name of Object.keys(BESIDE)) {
    if (flags.only === undefined || flags.only === name) print(await measure(server, name, flags.seconds));
  }
}
printLoad();

async function measure(server: ServerProcess, name: string, seconds: number): Promise<string> {
  const load = startLoad(server.url, BESIDE[name] ?? []);
  const [startMs, startCpu, startMain] = [performance.now(), ...await readBoth(server.pid)];
  const tokens = seconds * 1000 / STEP_MS;
  const streams = await Promise.all(Array.from({ length: flags.streams }, () => streamPaced(server.url, tokens)));
  const [endCpu, endMain] = await readBoth(server.pid);
  const takenSeconds = (performance.now() - startMs) / 1000;
  return toLine(name, await load.stop(), streams, [
    (endCpu - startCpu) / takenSeconds,
    (endMain - startMain) / takenSeconds,
  ]);
}

async function readBoth(pid: number): Promise<[all: number, main: number]> {
  return [await readCpuSeconds(pid), await readThreadCpuSeconds(pid, pid)];
}

function toLine(name: string, asked: number, streams: readonly PacedStream[], processors: readonly number[]): string {
  const delays = streams.flatMap(({ delaysMs }) => delaysMs);
  const ends = streams.map(({ endMs }) => endMs);
  const cells = [0.5, 0.99, 0.999, 1].map((share) => toQuantile(delays, share).toFixed(2).padEnd(6));
  return [
    name.padEnd(22),
    String(asked).padEnd(7),
    ...cells,
    "  ",
    ...processors.map((share) => share.toFixed(2).padEnd(7)),
    toQuantile(ends, 0.5).toFixed(2).padEnd(7),
    toQuantile(ends, 1).toFixed(2),
  ].join(" ");
}

/** @returns Ends it, and gives how many answers came. @throws If one of them was refused. */
function startLoad(url: string, kinds: readonly LoadKind[]): { stop(): Promise<number> } {
  const worker = new Worker(new URL("paced_load.ts", import.meta.url), { type: "module" });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  worker.onmessage = ({ data }: MessageEvent<LoadDone>): void => {
    if (data.error === undefined) resolve(data.asked);
    else reject(new Error(data.error));
    worker.terminate();
  };
  worker.postMessage({ url, kinds } satisfies LoadMessage);
  return {
    stop(): Promise<number> {
      worker.postMessage("stop" satisfies LoadMessage);
      return promise;
    },
  };
}
