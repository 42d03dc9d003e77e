/**
 * `deno task link`: puts the launcher `rapid-mlx` into `~/.local/bin`.
 *
 * @module
 */
import { join } from "node:path";
import { SetupError } from "./errors.ts";
import { homeFolder, PROJECT_FOLDER } from "./folders.ts";
import { writeLauncher } from "./launcher.ts";
import { openReport } from "./report.ts";

const report = openReport();
const folder = join(homeFolder(), ".local/bin");
try {
  const target = { deno: Deno.execPath(), denoVersion: Deno.version.deno, projectFolder: PROJECT_FOLDER };
  report.note(`${await writeLauncher(folder, target)} starts these sources.`);
  const isOnPath = (Deno.env.get("PATH") ?? "").split(":").includes(folder);
  if (!isOnPath) {
    report.note(`${folder} is not on your PATH: add  export PATH="$HOME/.local/bin:$PATH"  to your shell's file.`);
  }
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  report.note(error.message);
  Deno.exit(1);
}
