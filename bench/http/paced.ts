/**
 * `deno task bench:paced`: how late tokens leave a server whose core keeps a pace of 100 tokens a second a stream, and
 * what the server's process uses meanwhile. Wanted: 99 of 100 tokens within 5 ms of their step, also while prompts of
 * 60,000 tokens are encoded and sixty tools are compiled; less than one processor.
 *
 *     deno task bench:paced [--streams 32] [--seconds 20] [--model FOLDER] [--only alone|prompts|tools|all]
 *
 * A delay is measured from the step's time to the arrival at a client: the way to the server's thread, the server, the
 * socket and this process are all in it. A second table is by the server's own clock: up to the write to the socket.
 *
 * @module
 */
import { join } from "node:path";
import { print } from "../../src/cli/terminal.ts";
import { PROJECT_FOLDER } from "../../src/setup/folders.ts";
import { ensureCore, ensureDefaultModel } from "../../src/setup/setup.ts";
import { readFlags } from "../flags.ts";
import { printLoad, printMachine } from "../machine.ts";
import { readCpuSeconds, readThreadCpuSeconds, readThreadWaitSeconds } from "../process_usage.ts";
import { toQuantile } from "../statistics.ts";
import { goFirst, STEP_MS, toEpochMs } from "./pace.ts";
import type { LoadDone, LoadKind, LoadMessage } from "./paced_load.ts";
import { type PacedStream, streamPaced, toDelays } from "./paced_streams.ts";
import type { Writes } from "./paced_writes.ts";
import { type ServerProcess, startProgram, toDeno } from "./server_process.ts";

/** What runs beside the streams, over and over, until they have ended. */
const BESIDE: Readonly<Record<string, readonly LoadKind[]>> = {
  alone: [],
  prompts: ["prompts"],
  tools: ["tools"],
  all: ["prompts", "tools"],
};

/** What one situation gave. */
interface Measured {
  name: string;
  /** Milliseconds since the epoch. */
  startMs: number;
  endMs: number;
}

const flags = readFlags({ streams: 32, seconds: 20 }, ["model", "only"]);
const { library } = await ensureCore();
const folder = flags.model ?? await ensureDefaultModel();
await printMachine("bench:paced", library);
const account = await Deno.makeTempFile();
const measured: Measured[] = [];
{
  const program = toDeno(join(PROJECT_FOLDER, "bench/http/paced_server.ts"), folder, account);
  await using server = await startProgram(program);
  if (!goFirst()) print("client and core wait for processors like the server: run as root on Linux to leave that out");
  // The compiler of the runtime needs some thousand tokens to settle, the workers their first long text.
  await measure(server, "all", 3);
  print(
    `\n${flags.streams} streams of 100 tokens/s, ${flags.seconds} s each   delay of a token (ms)      processors   ` +
      "main    end of body (ms)",
  );
  print("beside them            asked   p50    p99    p99.9  most     all     main    waits   median  most");
  for (const name of Object.keys(BESIDE)) {
    if (flags.only !== undefined && flags.only !== name) continue;
    const startMs = toEpochMs();
    print(await measure(server, name, flags.seconds));
    measured.push({ name, startMs, endMs: toEpochMs() });
  }
}
print("\nof that in the server, up to the write to the socket");
const writes: Writes[] = JSON.parse(await Deno.readTextFile(account));
await Deno.remove(account);
for (const { name, startMs, endMs } of measured) {
  const tokens = flags.seconds * 1000 / STEP_MS;
  // Connections of the load have a token an answer.
  const own = writes.filter((times) =>
    times.length === tokens && (times[0] ?? 0) >= startMs && (times[0] ?? 0) < endMs
  );
  if (own.length !== flags.streams) throw new Error(`The server wrote ${own.length} whole streams`);
  print(`${name.padEnd(30)} ${toDelayCells(own.flatMap((times) => toDelays(times, tokens)))}`);
}
printLoad();

async function measure(server: ServerProcess, name: string, seconds: number): Promise<string> {
  const load = startLoad(server.url, BESIDE[name] ?? []);
  const [startMs, before] = [performance.now(), await readUsage(server.pid)];
  const tokens = seconds * 1000 / STEP_MS;
  const streams = await Promise.all(Array.from({ length: flags.streams }, () => streamPaced(server.url, tokens)));
  const after = await readUsage(server.pid);
  const takenSeconds = (performance.now() - startMs) / 1000;
  const shares = after.map((value, index) => (value - (before[index] ?? 0)) / takenSeconds);
  return toLine(name, await load.stop(), streams, shares);
}

/** Processor time of the process and of its main thread, and how long that has waited for a processor; seconds. */
async function readUsage(pid: number): Promise<number[]> {
  return [await readCpuSeconds(pid), await readThreadCpuSeconds(pid, pid), await readThreadWaitSeconds(pid, pid)];
}

function toLine(name: string, asked: number, streams: readonly PacedStream[], shares: readonly number[]): string {
  const ends = streams.map(({ endMs }) => endMs);
  return [
    name.padEnd(22),
    String(asked).padEnd(7),
    toDelayCells(streams.flatMap(({ delaysMs }) => delaysMs)),
    "  ",
    ...shares.map((share) => share.toFixed(2).padEnd(7)),
    toQuantile(ends, 0.5).toFixed(2).padEnd(7),
    toQuantile(ends, 1).toFixed(2),
  ].join(" ");
}

function toDelayCells(delays: readonly number[]): string {
  return [0.5, 0.99, 0.999, 1].map((share) => toQuantile(delays, share).toFixed(2).padEnd(6)).join(" ");
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
