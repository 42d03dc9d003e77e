/**
 * Remakes the expected ids and prompts with the reference programs: `deno task golden:text`.
 *
 * Builds a Python environment in build/golden-venv with the pinned versions of reference/requirements.txt, runs the
 * scripts of reference/ and says which files changed. Needs Python with venv and the package index.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { TEMPLATE_SDIST } from "../support/template_sdist.ts";
import { GOLDEN_MODELS, type GoldenModel, requireTextFolder, sourceOf } from "../support/text_models.ts";
import { loadTextFiles } from "../../src/prompt/text_files.ts";
import { toTokenTable } from "../../src/prompt/token_bytes.ts";
import { CONVERSATIONS, HOSTILE } from "./templates/conversations.ts";
import { digestText, type GoldenTemplate, goldenTemplates, TEMPLATED_MODELS } from "./templates/golden.ts";
import small from "./templates/snippets.json" with { type: "json" };
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

interface Rendered {
  text?: string;
  error?: string;
}

interface TemplateResults {
  versions: Record<string, string>;
  templates: Record<string, Record<string, Rendered>>;
  snippets: Rendered[];
  ids: Record<string, Record<string, string>>;
}

async function updateTemplates(python: string): Promise<void> {
  const templates: Record<string, GoldenTemplate> = await goldenTemplates();
  const folders: Record<string, string> = {};
  for (const model of TEMPLATED_MODELS) folders[model] = await requireTextFolder(model);
  const task = {
    templates,
    folders,
    conversations: CONVERSATIONS,
    hostile: HOSTILE,
    snippets: small.snippets,
    variables: small.variables,
  };
  const results: TemplateResults = JSON.parse(
    await run(python, [`${HERE}/reference/templates.py`], JSON.stringify(task)),
  );
  const { name, version, sha256 } = TEMPLATE_SDIST;
  const sources = { sdist: `PyPI ${name} ${version}, sha256 ${sha256}`, ...sourcesOf(TEMPLATED_MODELS) };
  await write("templates/expected.json", {
    versions: results.versions,
    sources,
    conversations: Object.keys(CONVERSATIONS),
    templates: Object.fromEntries(Object.entries(results.templates).map(([key, byName]) => [key, lines(byName)])),
  });
  await write("templates/expected_snippets.json", { versions: results.versions, snippets: results.snippets });
  await write("templates/expected_ids.json", {
    versions: results.versions,
    sources: sourcesOf(TEMPLATED_MODELS),
    ids: Object.fromEntries(Object.entries(results.ids).map(([key, byName]) => [key, hashedOrdinary(byName)])),
  });
}

function sourcesOf(models: readonly GoldenModel[]): Record<string, string> {
  return Object.fromEntries(models.map((model) => [model, sourceOf(model)]));
}

/** A hash a prompt, in the order of the conversations; an error in its own words. */
function lines(results: Record<string, Rendered>): string[] {
  return Object.keys(CONVERSATIONS).map((name) => {
    const { text, error } = results[name] ?? {};
    return text === undefined ? `error: ${error}` : digestText(text);
  });
}

/** Ids of the hostile conversations in full, of the others a hash. */
function hashedOrdinary(ids: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(ids).map(([name, text]) => [
      name,
      name in HOSTILE || text.startsWith("error: ") ? text : digestText(text),
    ]),
  );
}

const python = await ensureReference();
await updateTokens(python);
await updateTemplates(python);
