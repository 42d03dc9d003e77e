/**
 * The server as a user starts it: its own process, the embedded model, a free port.
 *
 * @module
 */
import { fileURLToPath } from "node:url";

/** A server that answers. */
export interface ServedProcess extends AsyncDisposable {
  /** e.g. `http://127.0.0.1:41234`. */
  readonly url: string;
  /** Ends it by SIGTERM and waits. @returns Its exit code. */
  stop(): Promise<number>;
}

/** @throws {Error} If it ends before it is ready. */
export async function serveProcess(args: readonly string[] = []): Promise<ServedProcess> {
  const main = fileURLToPath(new URL("../../main.ts", import.meta.url));
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", main, "serve", "--port", "0", ...args],
    stdout: "piped",
    stderr: "inherit",
  });
  const child = command.spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream());
  let text = "";
  let url: string | undefined;
  const reader = lines.getReader();
  while (url === undefined) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The server ended before it was ready, with code ${(await child.status).code}:\n${text}`);
    text += value;
    url = text.match(/base URL\s+(http:\/\/\S+)\/v1\n/)?.[1];
  }
  const drained = (async (): Promise<void> => {
    while (!(await reader.read()).done);
  })();
  let stopped: Promise<number> | undefined;
  const stop = async (): Promise<number> => {
    child.kill("SIGTERM");
    const { code } = await child.status;
    await drained;
    return code;
  };
  return {
    url,
    stop: () => stopped ??= stop(),
    async [Symbol.asyncDispose](): Promise<void> {
      await (stopped ??= stop());
    },
  };
}
