/**
 * Binary parts that come from the Python package index: pinned wheels, fetched by pip, checked, unpacked.
 *
 * pip is the ordinary client, so its settings (mirror, proxy, certificates) hold here too. Nothing is installed into a
 * Python environment: a wheel is a zip file, and its files are used where they are unpacked.
 *
 * @module
 */
import { join } from "node:path";
import { SetupError } from "./errors.ts";
import { megabytes, type Report } from "./report.ts";
import { requireSpace } from "./requirements.ts";
import { runCommand } from "./run_command.ts";
import { hashFile } from "./stamp.ts";

/** A wheel of a fixed version. */
export interface Wheel {
  /** Name on the index. */
  readonly name: string;
  /** Exact. */
  readonly version: string;
  /** Platform tag as pip takes it; `any` for pure Python. */
  readonly platform: string;
  /** Of the wheel. */
  readonly sizeBytes: number;
  /** Of the wheel. */
  readonly sha256: string;
}

/** How to reach pip: the program and its first arguments. */
export type Pip = readonly [string, ...string[]];

const RUN_AGAIN =
  "Set-up uses pip with your own settings (index, proxy, certificates); when it works, run the command " +
  "again: it goes on where it stopped.";

/**
 * Brings the wheel into `folder`, or finds it there, and checks its hash.
 *
 * @returns Path of the wheel.
 * @throws {SetupError} If the disk is full, pip fails, or the hash is not the pinned one.
 */
export async function fetchWheel(wheel: Wheel, folder: string, pip: Pip, report: Report): Promise<string> {
  await Deno.mkdir(folder, { recursive: true });
  const found = await findWheel(wheel, folder);
  if (found !== undefined && await hashFile(found) === wheel.sha256) return found;
  if (found !== undefined) await Deno.remove(found);
  await requireSpace(folder, wheel.sizeBytes, `The download of ${wheel.name}`);
  const task = `downloading ${wheel.name} ${wheel.version} (${megabytes(wheel.sizeBytes)})`;
  const platform = wheel.platform === "any" ? [] : ["--platform", wheel.platform];
  const command = [...pip, "download", "--no-deps", "--only-binary=:all:", "--no-input", ...platform];
  const target = ["--progress-bar=off", "--dest", folder, `${wheel.name}==${wheel.version}`];
  try {
    await runCommand([...command, ...target], { report, task, logPath: join(folder, "pip.log") });
  } catch (error) {
    if (error instanceof SetupError) throw new SetupError(`${error.message}\n${RUN_AGAIN}`);
    throw error;
  }
  const path = await findWheel(wheel, folder);
  if (path === undefined) throw new SetupError(`pip reported success but left no wheel of ${wheel.name} in ${folder}.`);
  const hash = await hashFile(path);
  if (hash === wheel.sha256) return path;
  await Deno.remove(path);
  throw new SetupError(
    `The wheel ${wheel.name} ${wheel.version} has the sha256 ${hash}; expected is ${wheel.sha256}. It was deleted: ` +
      "either the download was damaged or the index serves something else.",
  );
}

/** Unpacks a wheel into `folder`, which must not exist, whole or not at all. */
export async function unpackWheel(path: string, folder: string, python: string, report: Report): Promise<void> {
  const draft = `${folder}.${Deno.pid}`;
  const logPath = `${path}.log`;
  try {
    await runCommand([python, "-m", "zipfile", "-e", path, draft], { report, task: `unpacking ${path}`, logPath });
    await Deno.rename(draft, folder);
  } catch (error) {
    await Deno.remove(draft, { recursive: true }).catch(() => {});
    throw error;
  }
}

async function findWheel(wheel: Wheel, folder: string): Promise<string | undefined> {
  const prefix = `${wheel.name.replaceAll("-", "_")}-${wheel.version}-`;
  for await (const entry of Deno.readDir(folder)) {
    const isOurs = entry.name.startsWith(prefix) && entry.name.endsWith(`${wheel.platform}.whl`);
    if (entry.isFile && isOurs) return join(folder, entry.name);
  }
  return undefined;
}
