/**
 * The core inside a compiled executable: its libraries travel in the executable and are written to a cache folder
 * before they can be opened, because the system's loader reads files only.
 *
 * `deno task compile` writes the list with hashes (`build/embedded.json`) and includes it with the files. The cache
 * folder is named after the list's hash, so versions live side by side, and is complete or absent.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { z } from "zod";
import { SetupError } from "./errors.ts";
import { hashFile } from "./stamp.ts";

/** Files by path relative to the build folder, with their sha256. */
const FileList = z.record(z.string().regex(/^(?!\/)(?!.*\.\.)[\w./+-]+$/), z.string().regex(/^[0-9a-f]{64}$/));

/** Name of the list in the build folder. */
export const EMBEDDED_LIST = "embedded.json";

/** Lists files of the build folder with their hashes, and writes the list there. */
export async function writeEmbeddedList(buildFolder: string, paths: readonly string[]): Promise<void> {
  const entries = await Promise.all(paths.map(async (path) => [path, await hashFile(join(buildFolder, path))]));
  await Deno.writeTextFile(join(buildFolder, EMBEDDED_LIST), JSON.stringify(Object.fromEntries(entries), null, 2));
}

/**
 * Writes the embedded files to a folder under `cache`, unless they are there.
 *
 * @param embedded The build folder as the executable sees it.
 * @returns Path of that folder; paths below it are as in the list.
 * @throws {SetupError} If a file's hash is not the listed one, or the cache can't be written.
 */
export async function extractEmbedded(embedded: string, cache: string): Promise<string> {
  const text = await Deno.readTextFile(join(embedded, EMBEDDED_LIST));
  const files = Object.entries(FileList.parse(JSON.parse(text)));
  const folder = join(cache, "core", createHash("sha256").update(text).digest("hex").slice(0, 16));
  if (await isWhole(folder, files)) return folder;
  await Deno.mkdir(dirname(folder), { recursive: true });
  const draft = await Deno.makeTempDir({ dir: dirname(folder), prefix: ".draft-" });
  try {
    for (const [path, hash] of files) {
      const content = await Deno.readFile(join(embedded, path));
      if (createHash("sha256").update(content).digest("hex") !== hash) {
        throw new SetupError(`The executable is damaged: its file ${path} has another hash than listed.`);
      }
      await Deno.mkdir(dirname(join(draft, path)), { recursive: true });
      await Deno.writeFile(join(draft, path), content, { mode: 0o755 });
    }
    await Deno.remove(folder, { recursive: true }).catch(() => {});
    await Deno.rename(draft, folder);
  } catch (error) {
    await Deno.remove(draft, { recursive: true }).catch(() => {});
    // Another process of the same executable may have been faster.
    if (await isWhole(folder, files)) return folder;
    if (error instanceof SetupError) throw error;
    throw new SetupError(
      `Cannot write the core's libraries to ${folder}: ${error instanceof Error ? error.message : error}`,
    );
  }
  return folder;
}

/** Every file is there with its hash: libraries of a cache folder are code, so they are checked before each use. */
async function isWhole(folder: string, files: readonly (readonly [string, string])[]): Promise<boolean> {
  for (const [path, hash] of files) {
    if (await hashFile(join(folder, path)).catch(() => "") !== hash) return false;
  }
  return true;
}
