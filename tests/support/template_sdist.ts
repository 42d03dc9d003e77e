/**
 * Chat templates of many models for tests: `models/templates` in the source package of llama-cpp-python, fetched by pip
 * at test time, pinned by hash, kept under build/.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";

/** The package, and the sha256 of its source archive. */
export const TEMPLATE_SDIST = {
  name: "llama-cpp-python",
  version: "0.3.36",
  sha256: "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e",
} as const;

const ARCHIVE = `llama_cpp_python-${TEMPLATE_SDIST.version}`;
const FOLDER = fileURLToPath(new URL(`../../build/golden/${ARCHIVE}`, import.meta.url));

/** Only the templates leave the archive, whatever else is in it. */
const UNPACK = `
import pathlib, sys, tarfile
archive, target = sys.argv[1:]
folder = "${ARCHIVE}/vendor/llama.cpp/models/templates/"
with tarfile.open(archive) as files:
    for member in files:
        name = member.name.removeprefix(folder)
        if member.isfile() and member.name.startswith(folder) and "/" not in name and name.endswith(".jinja"):
            pathlib.Path(target, name).write_bytes(files.extractfile(member).read())
`;

/** Template sources by file name without `.jinja`, in order. @throws {Error} If the package can't be fetched. */
export async function requireTemplates(): Promise<Map<string, string>> {
  if (!await Deno.stat(FOLDER).then(() => true, () => false)) await fetchTemplates();
  const names: string[] = [];
  for await (const { name } of Deno.readDir(FOLDER)) names.push(name.replace(/\.jinja$/, ""));
  const templates = new Map<string, string>();
  for (const name of names.sort()) templates.set(name, await Deno.readTextFile(`${FOLDER}/${name}.jinja`));
  return templates;
}

async function fetchTemplates(): Promise<void> {
  const draft = `${FOLDER}.${Deno.pid}`;
  await Deno.mkdir(`${draft}/templates`, { recursive: true });
  try {
    const { name, version, sha256 } = TEMPLATE_SDIST;
    const source = ["--no-deps", "--no-binary", name, "--dest", draft, `${name}==${version}`];
    await run("python3", ["-m", "pip", "download", "--quiet", "--no-input", ...source]);
    const archive = `${draft}/${ARCHIVE}.tar.gz`;
    const found = createHash("sha256").update(await Deno.readFile(archive)).digest("hex");
    if (found !== sha256) throw new Error(`${name} ${version} has the sha256 ${found}; expected is ${sha256}`);
    await run("python3", ["-c", UNPACK, archive, `${draft}/templates`]);
    await Deno.rename(`${draft}/templates`, FOLDER);
  } finally {
    await Deno.remove(draft, { recursive: true });
  }
}

async function run(program: string, args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args, stdout: "null" }).output();
  if (!success) throw new Error(`Cannot fetch chat templates: ${new TextDecoder().decode(stderr).trim()}`);
}
