/**
 * `deno task golden:logits`: remakes the tiny checkpoints and all logits of this folder with mlx-lm.
 *
 * Makes a Python environment with the exact versions of requirements.txt in build/, converts the embedded model if it
 * is not there, and runs make.py. Takes some minutes: mlx-lm in float32 on a CPU does about 8 tokens a second.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { openReport } from "../../../src/setup/report.ts";
import { runCommand } from "../../../src/setup/run_command.ts";
import { ensureDefaultModel } from "../../../src/setup/setup.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const repository = fileURLToPath(new URL("../../..", import.meta.url));
const environment = `${repository}build/golden-logits`;
const report = openReport();

await runCommand(["python3", "-m", "venv", environment], {
  report,
  task: "making a Python environment",
  logPath: `${repository}build/golden-logits-venv.log`,
});
await runCommand([`${environment}/bin/pip`, "install", "--quiet", "-r", `${here}requirements.txt`], {
  report,
  task: "installing mlx-lm",
  logPath: `${repository}build/golden-logits-pip.log`,
});
const model = await ensureDefaultModel();
await runCommand([`${environment}/bin/python`, `${here}make.py`, repository, model], {
  report,
  task: "computing logits",
  logPath: `${repository}build/golden-logits.log`,
});
report.note("tests/golden/logits and tests/golden/checkpoints are new; `git diff --stat` says what changed");
