/**
 * `deno task core:build`: set-up by itself, for developers. `--model` makes the embedded model too.
 *
 * @module
 */
import { SetupError } from "./errors.ts";
import { openReport } from "./report.ts";
import { ensureCore, ensureDefaultModel } from "./setup.ts";

const report = openReport();
try {
  report.note((await ensureCore()).library);
  if (Deno.args.includes("--model")) report.note(await ensureDefaultModel());
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  report.note(error.message);
  Deno.exit(1);
}
