/**
 * The project's own files, for the rules about sources.
 *
 * @module
 */
import { join } from "node:path";
import { PROJECT_FOLDER } from "../../src/setup/folders.ts";

/** Folders that hold made or fetched things. */
const SKIPPED = new Set([".git", ".build", "build", "node_modules", ".claude"]);

/** A text file of the project. */
export interface Source {
  /** Relative to the project. */
  readonly path: string;
  /** Without the last newline. */
  readonly lines: readonly string[];
}

/** Files whose path matches, in order. */
export async function readSources(pattern: RegExp): Promise<Source[]> {
  const paths: string[] = [];
  await collect("", paths);
  const wanted = paths.filter((path) => pattern.test(path)).sort();
  return await Promise.all(wanted.map(async (path) => {
    const text = await Deno.readTextFile(join(PROJECT_FOLDER, path));
    return { path, lines: text.replace(/\n$/, "").split("\n") };
  }));
}

/** Names at the top of the project. */
export async function listTop(): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of Deno.readDir(PROJECT_FOLDER)) {
    if (!SKIPPED.has(entry.name)) names.push(entry.isDirectory ? `${entry.name}/` : entry.name);
  }
  return names.sort();
}

async function collect(folder: string, into: string[]): Promise<void> {
  for await (const entry of Deno.readDir(join(PROJECT_FOLDER, folder))) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (SKIPPED.has(entry.name)) continue;
    if (entry.isDirectory) await collect(path, into);
    else if (entry.isFile) into.push(path);
  }
}
