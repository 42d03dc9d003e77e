/**
 * A server in a process of its own, as a user runs it.
 *
 * @module
 */
import { join } from "node:path";
import { PROJECT_FOLDER } from "../../src/setup/folders.ts";
import { V8_FLAGS } from "../../src/setup/v8_flags.ts";
import { readLines } from "../lines.ts";
import type { PeerCommand } from "../python.ts";

/** A server that listens and has loaded its model. */
export interface ServerProcess extends AsyncDisposable {
  /** e.g. `http://127.0.0.1:41123`, without `/v1`. */
  readonly url: string;
  /** Of its process. */
  readonly pid: number;
}

/** `rapid-mlx serve` with these arguments, on a free port. @throws If it ends before it listens. */
export function startServe(...args: string[]): Promise<ServerProcess> {
  return startProgram(toServe(...args, "--port", "0"));
}

/** The server on the fake core: see fake_server.ts. @throws If it ends before it listens. */
export function startFakeServer(): Promise<ServerProcess> {
  return startProgram(toDeno(join(PROJECT_FOLDER, "bench/http/fake_server.ts")));
}

/** How `serve` is run with these arguments. */
export function toServe(...args: string[]): PeerCommand {
  return toDeno(join(PROJECT_FOLDER, "main.ts"), "serve", ...args);
}

/** A server that prints `base URL  http://…/v1` once it can answer. @throws If it ends before that. */
export async function startProgram(program: PeerCommand): Promise<ServerProcess> {
  const child = spawn(program, "piped");
  let url: string | undefined;
  const lines = readLines(child.stdout);
  while (url === undefined) {
    const line = await lines.next();
    if (line.done) throw new Error(`${program.command.join(" ")} ended before it listened; run it to see why`);
    url = /base URL\s+(http:\S+)\/v1$/.exec(line.value)?.[1];
  }
  return { url, pid: child.pid, [Symbol.asyncDispose]: () => end(child, () => lines.return()) };
}

/**
 * A server at a port that is known, as soon as its health probe says that it can answer.
 *
 * @param path Of the probe, which gives 200 then.
 * @throws If it ends before that.
 */
export async function startAt(program: PeerCommand, port: number, path: string): Promise<ServerProcess> {
  const child = spawn(program, "null");
  const url = `http://127.0.0.1:${port}`;
  let hasEnded = false;
  void child.status.then(() => hasEnded = true);
  while (!await fetch(url + path).then(async (r) => (await r.body?.cancel(), r.ok), () => false)) {
    if (hasEnded) throw new Error(`${program.command.join(" ")} ended before it listened; run it to see why`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return { url, pid: child.pid, [Symbol.asyncDispose]: () => end(child, () => Promise.resolve()) };
}

/** Between two probes of a server that starts. */
const POLL_MS = 5;

/** A port that nobody listens on now. */
export function findPort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** How a program of this project is run. */
export function toDeno(...args: string[]): PeerCommand {
  return { command: [Deno.execPath(), "run", "-A", V8_FLAGS, ...args], environment: {} };
}

function spawn({ command, environment }: PeerCommand, stdout: "piped" | "null"): Deno.ChildProcess {
  const [program, ...args] = command;
  return new Deno.Command(program, { args, env: { ...environment }, stdout, stderr: "null" }).spawn();
}

async function end(child: Deno.ChildProcess, close: () => Promise<unknown>): Promise<void> {
  child.kill("SIGTERM");
  await child.status;
  await close();
}
