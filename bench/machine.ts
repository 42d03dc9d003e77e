/**
 * Where a figure comes from: machine, system, commit, and how busy the machine is.
 *
 * @module
 */
import { print } from "../src/cli/terminal.ts";
import { Library } from "../src/ffi/library.ts";
import { PROJECT_FOLDER } from "../src/setup/folders.ts";
import { readOutput } from "../src/setup/run_command.ts";

/** Prints the first lines of a benchmark. @param what Task and flags as they were given. @param library The core's. */
export async function printMachine(what: string, library: string): Promise<void> {
  const opened = Library.open(library);
  const device = opened.deviceInfo();
  const { core, mlx, platform } = opened.version;
  opened.close();
  const commit = await readOutput(["git", "-C", PROJECT_FOLDER, "rev-parse", "--short", "HEAD"]);
  print(`${new Date().toISOString().slice(0, 16)} ${what} ${Deno.args.join(" ")}`.trimEnd());
  print(
    `${device.name}, ${device.threads} threads, ${device.cpuVariant} kernels, ${platform}, deno ${Deno.version.deno}`,
  );
  print(`core ${core} at ${commit?.trim() ?? "an unknown commit"}, MLX ${mlx}`);
  printLoad();
}

/** Prints how busy the machine is. A load over the processors says: trust ratios, and only far from the A/A ratio. */
export function printLoad(): void {
  const [oneMinute = 0] = Deno.loadavg();
  print(`load ${oneMinute.toFixed(1)} on ${navigator.hardwareConcurrency} processors`);
}
