/**
 * `deno task compile`: one executable with server and core, `build/rapid-mlx`.
 *
 * The base runtime that `deno compile` fetches comes from Deno's own download site; where that can't be reached,
 * DENORT_BIN names a copy. The executable runs on this kind of machine (same system, processor, C library).
 *
 * @module
 */
import { join } from "node:path";
import { coreFiles } from "./core_files.ts";
import { EMBEDDED_LIST, writeEmbeddedList } from "./embedded.ts";
import { SetupError } from "./errors.ts";
import { BUILD_FOLDER, PROJECT_FOLDER } from "./folders.ts";
import { openReport } from "./report.ts";
import { runCommand } from "./run_command.ts";
import { ensureCore } from "./setup.ts";
import { V8_FLAGS } from "./v8_flags.ts";

const report = openReport();
try {
  await ensureCore({ report });
  const files = await coreFiles(BUILD_FOLDER);
  await writeEmbeddedList(BUILD_FOLDER, files);
  const output = join(BUILD_FOLDER, "rapid-mlx");
  const embedded = [EMBEDDED_LIST, ...files].map((path) => join("build", path));
  // The worker and the profiles are found by URL at run time, so nothing but this names them.
  const includes = [...embedded, "profiles", "src/prompt/worker.ts"].flatMap((path) => ["--include", path]);
  report.step(`Executable: ${output}`);
  const command = [Deno.execPath(), "compile", "-A", "--quiet", V8_FLAGS, "--output", output, ...includes, "main.ts"];
  const logPath = join(BUILD_FOLDER, "logs/compile.log");
  await runCommand(command, { report, task: "compiling", logPath, folder: PROJECT_FOLDER }).catch((error: unknown) => {
    if (!(error instanceof SetupError)) throw error;
    const hint = "If the base runtime (denort) can't be downloaded, set DENORT_BIN to a copy of it.";
    throw new SetupError(`${error.message}\n${hint}`);
  });
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  report.note(error.message);
  Deno.exit(1);
}
