/**
 * Python with pinned packages for tests that need a reference program: installed once by pip into the build folder.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { BUILD_FOLDER } from "../../src/setup/folders.ts";
import { findPython } from "../../src/setup/toolchain.ts";

/** A Python that finds the packages. */
export interface PythonWithPackages {
  /** Runs a script on a JSON value and gives the JSON lines that it prints. @throws {Error} With its stderr. */
  run(script: string, input: unknown): Promise<Record<string, unknown>[]>;
}

/**
 * Installs what a requirements file pins, unless it is there already.
 *
 * @throws {Error} If there is no Python with pip, or pip fails.
 */
export async function ensurePythonPackages(requirements: string): Promise<PythonWithPackages> {
  const tools = await findPython();
  if (tools === undefined) throw new Error("This test needs Python 3 with pip (Debian: python3-pip).");
  const hash = createHash("sha256").update(await Deno.readTextFile(requirements)).digest("hex").slice(0, 16);
  const folder = join(BUILD_FOLDER, "test", `python-${hash}`);
  const stamp = join(folder, "installed");
  if (!await exists(stamp)) {
    const [program, ...args] = tools.pip;
    const install = ["install", "--no-input", "--disable-pip-version-check", "--target", folder, "-r", requirements];
    await execute(program, [...args, ...install], {});
    await Deno.writeTextFile(stamp, "");
  }
  return {
    async run(script, input): Promise<Record<string, unknown>[]> {
      const text = await execute(tools.python, [script], { PYTHONPATH: folder, PYTHONIOENCODING: "utf-8" }, input);
      return text.trimEnd().split("\n").map((line) => JSON.parse(line));
    },
  };
}

async function execute(
  program: string,
  args: string[],
  env: Record<string, string>,
  input: unknown = null,
): Promise<string> {
  const child = new Deno.Command(program, { args, env, stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  const written = new Response(JSON.stringify(input)).body?.pipeTo(child.stdin).catch(() => {}); // it may not read it
  const { success, stdout, stderr } = await child.output();
  await written;
  if (success) return new TextDecoder().decode(stdout);
  throw new Error(`${program} ${args.join(" ")} failed:\n${new TextDecoder().decode(stderr).slice(-4000)}`);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
