/**
 * Remakes the expected ids and prompts with the reference programs: `deno task golden:text`.
 *
 * Builds a Python environment in build/golden-venv with the pinned versions of reference/requirements.txt, runs the
 * scripts of reference/ and says which files changed. Needs Python with venv and the package index.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { GOLDEN_MODELS, requireTextFolder, sourceOf } from "../support/text_models.ts";
import { loadTextFiles } from "../../src/prompt/text_files.ts";
import { toTokenTable } from "../../src/prompt/token_bytes.ts";
import { CHUNK, mixtures, randomIds, READABLE } from "./tokens/texts.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const VENV = fileURLToPath(new URL("../../build/golden-venv", import.meta.url));

async function run(program: string, args: string[], input = ""): Promise<string> {
  const child = new Deno.Command(program, { args, stdin: "piped", stdout: "piped", stderr: "inherit" }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { success, code, stdout } = await child.output();
  if (!success) throw new Error(`${program} ${args.join(" ")} ended with ${code}`);
  return new TextDecoder().decode(stdout);
}

async function ensureReference(): Promise<string> {
  const python = `${VENV}/bin/python`;
  if (!await Deno.stat(python).then(() => true, () => false)) await run("python3", ["-m", "venv", VENV]);
  await run(python, ["-m", "pip", "install", "--quiet", "-r", `${HERE}/reference/requirements.txt`]);
  return python;
}

async function write(name: string, value: unknown): Promise<void> {
  const path = `${HERE}/${name}`;
  const text = JSON.stringify(value, null, 1) + "\n";
  const before = await Deno.readTextFile(path).catch(() => "");
  await Deno.writeTextFile(path, text);
  // deno-lint-ignore no-console -- a program of the command line
  console.log(`${name}: ${before === text ? "unchanged" : "CHANGED"}`);
}

async function updateTokens(python: string): Promise<void> {
  const models: Record<string, string> = {};
  const sequences: Record<string, number[][]> = {};
  for (const model of GOLDEN_MODELS) {
    models[model] = await requireTextFolder(model);
    sequences[model] = randomIds(toTokenTable((await loadTextFiles(models[model])).tokenizer).special.length);
  }
  const task = { models, sequences, readable: READABLE, mixtures: mixtures(), chunk: CHUNK };
  const expected = JSON.parse(await run(python, [`${HERE}/reference/tokens.py`], JSON.stringify(task)));
  for (const model of GOLDEN_MODELS) expected.models[model].source = sourceOf(model);
  expected.models = Object.fromEntries(GOLDEN_MODELS.map((model) => [model, compact(expected.models[model])]));
  await write("tokens/expected.json", expected);
}

/** Ids as one string a text: one line each instead of one line an id. */
function compact(model: { readable: number[][] }): unknown {
  return { ...model, readable: model.readable.map((ids) => ids.join(" ")) };
}

const python = await ensureReference();
await updateTokens(python);
