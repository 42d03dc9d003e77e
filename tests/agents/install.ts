/**
 * The real programs at pinned versions, installed once into build/agents: npm for most, pip in a folder of its own for
 * those of Python. An installation that is there is not touched.
 *
 * @module
 */
import { join } from "node:path";
import { BUILD_FOLDER } from "../../src/setup/folders.ts";

/** Node that the newest agents need; the package carries the program itself. */
export const NODE = { name: "node", version: "22.23.3" } as const;

/** What to install. */
export interface Package {
  /** Where from. */
  readonly from: "npm" | "pip";
  /** Its name there. */
  readonly name: string;
  /** Exactly this one. */
  readonly version: string;
  /** The program in it. */
  readonly program: string;
}

/** Where an installation is, and what its PATH begins with. */
export interface Installed {
  /** The program's path. */
  readonly program: string;
  /** Folders for PATH. */
  readonly path: readonly string[];
}

const FOLDER = join(BUILD_FOLDER, "agents");
const INSTALL_MS = 600_000;
/** File that says that an installation is whole. */
const STAMP = "installed";

/** Installs a program, unless it is there. @throws {Error} With what the installer says. */
export async function ensureProgram({ from, name, version, program }: Package): Promise<Installed> {
  if (from === "pip") {
    const folder = toFolder(name, version);
    await once(folder, async () => {
      await execute("python3", ["-m", "venv", folder]);
      await execute(join(folder, "bin/pip"), ["install", "--no-input", "--quiet", `${name}==${version}`]);
    });
    return { program: join(folder, "bin", program), path: [join(folder, "bin")] };
  }
  const node = join(toFolder(NODE.name, NODE.version), "node_modules/node/bin");
  await installNpm(NODE.name, NODE.version, []);
  await installNpm(name, version, [node]);
  const bin = join(toFolder(name, version), "node_modules/.bin");
  return { program: join(bin, program), path: [node, bin] };
}

/** Whether a program is there. */
export async function isInstalled({ from, name, version }: Package): Promise<boolean> {
  const folders = [toFolder(name, version), ...from === "npm" ? [toFolder(NODE.name, NODE.version)] : []];
  for (const folder of folders) {
    if (!await Deno.stat(join(folder, STAMP)).then(() => true, () => false)) return false;
  }
  return true;
}

function toFolder(name: string, version: string): string {
  return join(FOLDER, `${name.replace(/^@/, "").replace("/", "-")}-${version}`);
}

async function installNpm(name: string, version: string, path: readonly string[]): Promise<void> {
  const folder = toFolder(name, version);
  await once(folder, async () => {
    await Deno.mkdir(folder, { recursive: true });
    const args = ["install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, `${name}@${version}`];
    await execute("npm", args, [...path, Deno.env.get("PATH") ?? ""].join(":"));
  });
}

const running = new Map<string, Promise<void>>();

/** Runs an installation that has no stamp yet; those who ask meanwhile wait for the same one. */
async function once(folder: string, install: () => Promise<void>): Promise<void> {
  const stamp = join(folder, STAMP);
  if (await Deno.stat(stamp).then(() => true, () => false)) return;
  let found = running.get(folder);
  if (found === undefined) {
    found = install().then(() => Deno.writeTextFile(stamp, ""));
    running.set(folder, found);
  }
  await found;
}

async function execute(program: string, args: string[], path?: string): Promise<void> {
  const env = path === undefined ? {} : { PATH: path };
  const signal = AbortSignal.timeout(INSTALL_MS);
  const { success, stdout, stderr } = await new Deno.Command(program, { args, env, signal, stdin: "null" }).output();
  if (success) return;
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  throw new Error(`${program} ${args.join(" ")} failed:\n${said.slice(-3000)}`);
}
