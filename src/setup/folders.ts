/**
 * Where things live: the project, its build folder, our caches and state, the Hugging Face cache.
 *
 * Only names are made here; nobody creates a folder by asking for its path. Paths follow docs/ARCHITECTURE.md and the
 * XDG base directories; the Hugging Face variables are those of its own Python library.
 *
 * @module
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Reads a variable of the environment. */
export type ReadVariable = (name: string) => string | undefined;

/** Variables of this process; an empty one counts as absent. */
export const readProcessVariable: ReadVariable = (name) => Deno.env.get(name) || undefined;

/** Root of the sources: the folder of `main.ts`. */
export const PROJECT_FOLDER: string = fileURLToPath(new URL("../../", import.meta.url));

/** What set-up makes inside the project: the core library, libmlx, logs, locks. */
export const BUILD_FOLDER: string = join(PROJECT_FOLDER, "build");

/** The home folder. @throws {Deno.errors.NotFound} If the environment names none. */
export function homeFolder(read: ReadVariable = readProcessVariable): string {
  const home = read("HOME");
  if (home === undefined) {
    throw new Deno.errors.NotFound("The variable HOME is not set; it must name your home folder.");
  }
  return home;
}

/** Things that can be made again: converted models, unpacked libraries. */
export function cacheFolder(read: ReadVariable = readProcessVariable): string {
  const base = read("XDG_CACHE_HOME");
  if (base !== undefined) return join(base, "rapid-mlx");
  const home = homeFolder(read);
  return Deno.build.os === "darwin" ? join(home, "Library/Caches/rapid-mlx") : join(home, ".cache/rapid-mlx");
}

/** What can't be made again: records of what was set up, kept answers. */
export function stateFolder(read: ReadVariable = readProcessVariable): string {
  const base = read("XDG_STATE_HOME");
  if (base !== undefined) return join(base, "rapid-mlx");
  const home = homeFolder(read);
  return Deno.build.os === "darwin"
    ? join(home, "Library/Application Support/rapid-mlx")
    : join(home, ".local/state/rapid-mlx");
}

/** Where Hugging Face's libraries keep models: `HF_HUB_CACHE`, `HF_HOME`, XDG, `~/.cache`, in this order. */
export function hubCacheFolder(read: ReadVariable = readProcessVariable): string {
  const named = read("HF_HUB_CACHE") ?? read("HUGGINGFACE_HUB_CACHE");
  if (named !== undefined) return named;
  const hubHome = read("HF_HOME");
  if (hubHome !== undefined) return join(hubHome, "hub");
  const cache = read("XDG_CACHE_HOME") ?? join(homeFolder(read), ".cache");
  return join(cache, "huggingface", "hub");
}
