/**
 * The core for a command, and a fresh start of the command when set-up changed the system below it.
 *
 * Swift's packages bring a newer C library. A process that started before still has the old one and can't load a core
 * that was linked against the new one, so the command is run again, once, as a child with the same arguments.
 *
 * @module
 */
import { ensureCore, type SetupOptions } from "../setup/setup.ts";
import { V8_FLAGS } from "../setup/v8_flags.ts";

/** The child's own set-up finds everything in place, so it never comes here again. */
const SIGNALS: readonly Deno.Signal[] = ["SIGTERM", "SIGINT", "SIGHUP"];

/**
 * Path of the core's library. Does not return when the command was run again: it exits with the child's code.
 *
 * @throws {SetupError} If the core can't be made.
 */
export async function prepareCore(setup: Partial<SetupOptions>): Promise<string> {
  const { library, isSystemChanged } = await ensureCore(setup);
  if (isSystemChanged) Deno.exit(await runAgain());
  return library;
}

/** Runs this command in a new process, hands signals on, and gives its exit code. */
async function runAgain(): Promise<number> {
  const config = new URL("../../deno.json", import.meta.url).pathname;
  const args = ["run", "-A", V8_FLAGS, "--config", config, Deno.mainModule, ...Deno.args];
  const child = new Deno.Command(Deno.execPath(), { args, stdin: "inherit", stdout: "inherit", stderr: "inherit" })
    .spawn();
  // A terminal sends Ctrl-C to the child itself; twice would cut its drain short.
  const handed = Deno.stdin.isTerminal() ? SIGNALS.filter((signal) => signal !== "SIGINT") : SIGNALS;
  for (const signal of SIGNALS) {
    Deno.addSignalListener(signal, () => {
      if (handed.includes(signal)) child.kill(signal);
    });
  }
  const { code } = await child.status;
  return code;
}
