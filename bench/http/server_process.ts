/**
 * A server in a process of its own, as a user runs it.
 *
 * @module
 */
import { join } from "node:path";
import { PROJECT_FOLDER } from "../../src/setup/folders.ts";
import { readLines } from "../lines.ts";

/** A server that listens and has loaded its model. */
export interface ServerProcess extends AsyncDisposable {
  /** e.g. `http://127.0.0.1:41123`, without `/v1`. */
  readonly url: string;
  /** Of its process. */
  readonly pid: number;
}

/** `rapid-mlx serve` with these arguments, on a free port. @throws If it ends before it listens. */
export function startServe(...args: string[]): Promise<ServerProcess> {
  return start(join(PROJECT_FOLDER, "main.ts"), "serve", ...args, "--port", "0");
}

/** The server on the fake core: see fake_server.ts. @throws If it ends before it listens. */
export function startFakeServer(): Promise<ServerProcess> {
  return start(join(PROJECT_FOLDER, "bench/http/fake_server.ts"));
}

async function start(...args: string[]): Promise<ServerProcess> {
  const command = new Deno.Command(Deno.execPath(), { args: ["run", "-A", ...args], stdout: "piped", stderr: "null" });
  const child = command.spawn();
  let url: string | undefined;
  const lines = readLines(child.stdout);
  while (url === undefined) {
    const line = await lines.next();
    if (line.done) throw new Error(`deno ${args.join(" ")} ended before it listened; run it by hand to see why`);
    url = /base URL\s+(http:\S+)\/v1$/.exec(line.value)?.[1];
  }
  return {
    url,
    pid: child.pid,
    async [Symbol.asyncDispose](): Promise<void> {
      child.kill("SIGTERM");
      await child.status;
      await lines.return();
    },
  };
}
