/**
 * Makes hashes.json anew with MLX's own GGUF loader: `deno task golden:convert`. Needs Python 3 with venv.
 *
 * @module
 */
import { join } from "node:path";
import { fetchDefaultGguf } from "../../../src/setup/default_model.ts";
import { BUILD_FOLDER } from "../../../src/setup/folders.ts";
import { openReport } from "../../../src/setup/report.ts";
import { runCommand } from "../../../src/setup/run_command.ts";
import { writeGguf } from "../../support/gguf_writer.ts";
import { tinyModel } from "../../support/tiny_gguf.ts";

const PACKAGES = ["mlx[cpu]==0.31.1", "numpy==2.2.6"];

const report = openReport();
const work = join(BUILD_FOLDER, "golden-convert");
await Deno.mkdir(work, { recursive: true });
const tiny: string[] = [];
for (const architecture of ["llama", "qwen3"] as const) {
  const path = join(work, `tiny-${architecture}.gguf`);
  await Deno.writeFile(path, writeGguf(tinyModel(architecture)));
  tiny.push(path);
}
const smollm2 = await fetchDefaultGguf(work, "forbidden", report);
const options = { report, task: "preparing Python", logPath: join(work, "python.log") };
await runCommand(["python3", "-m", "venv", join(work, "venv")], options);
const python = join(work, "venv/bin/python");
await runCommand([python, "-m", "pip", "install", "--quiet", ...PACKAGES], options);
const script = new URL("make.py", import.meta.url).pathname;
const { success, stdout } = await new Deno.Command(python, {
  args: [script, smollm2, ...tiny],
  stderr: "inherit",
}).output();
if (!success) throw new Error(`${script} failed`);
await Deno.writeFile(new URL("hashes.json", import.meta.url), stdout);
report.note("tests/golden/convert/hashes.json is made anew");
