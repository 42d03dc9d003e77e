/**
 * Hugging Face's cache folder: `models--owner--name/{blobs,refs,snapshots}`, snapshots being links to blobs.
 *
 * Reads what any library left there and writes the same layout.
 * Source: https://huggingface.co/docs/huggingface_hub/guides/manage-cache.
 *
 * @module
 */
import { dirname, join, relative } from "node:path";
import type { Repository, RepositoryFile } from "./repository.ts";

/** A model in the cache. */
export interface CachedModel {
  /** `owner/name`. */
  readonly id: string;
  /** Commit of the snapshot. */
  readonly commit: string;
  /** Folder to load. */
  readonly directory: string;
  /** Bytes of its files. */
  readonly sizeBytes: number;
  /** Why it can't be loaded yet; undefined when it is whole. */
  readonly missing: string | undefined;
}

/** Folder of a repository in the cache. */
export function repositoryFolder(cache: string, id: string): string {
  return join(cache, `models--${id.replace("/", "--")}`);
}

/** Path of a blob. */
export function blobPath(cache: string, id: string, file: RepositoryFile): string {
  return join(repositoryFolder(cache, id), "blobs", file.hash);
}

/** Makes the snapshot: a link for each file, then the ref that says which commit a branch means. */
export async function writeSnapshot(
  cache: string,
  repository: Repository,
  files: readonly RepositoryFile[],
): Promise<string> {
  const folder = repositoryFolder(cache, repository.id);
  const snapshot = join(folder, "snapshots", repository.commit);
  for (const file of files) {
    const link = join(snapshot, file.path);
    await Deno.mkdir(dirname(link), { recursive: true });
    const draft = `${link}.${Deno.pid}`;
    await Deno.remove(draft).catch(() => {});
    await Deno.symlink(relative(dirname(link), blobPath(cache, repository.id, file)), draft);
    await Deno.rename(draft, link);
  }
  const ref = join(folder, "refs", repository.revision);
  await Deno.mkdir(dirname(ref), { recursive: true });
  await Deno.writeTextFile(`${ref}.${Deno.pid}`, repository.commit);
  await Deno.rename(`${ref}.${Deno.pid}`, ref);
  return snapshot;
}

/** All models in the cache, by id. A cache that does not exist holds none. */
export async function listCached(cache: string): Promise<CachedModel[]> {
  const ids: string[] = [];
  try {
    for await (const entry of Deno.readDir(cache)) {
      const parts = entry.name.split("--");
      if (parts[0] === "models" && parts.length >= 3) ids.push(`${parts[1]}/${parts.slice(2).join("--")}`);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const models = await Promise.all(ids.sort().map((id) => findCached(cache, id)));
  return models.filter((model) => model !== undefined);
}

/** A model in the cache at a branch, tag or commit. */
export async function findCached(cache: string, id: string, revision = "main"): Promise<CachedModel | undefined> {
  const folder = repositoryFolder(cache, id);
  const ref = await Deno.readTextFile(join(folder, "refs", revision)).catch(() => undefined);
  const commit = ref?.trim() ?? (/^[0-9a-f]{40}$/.test(revision) ? revision : undefined);
  if (commit === undefined || !/^[0-9a-f]{40}$/.test(commit)) return undefined;
  const directory = join(folder, "snapshots", commit);
  const sizes = await readSizes(directory, "").catch(() => undefined);
  if (sizes === undefined) return undefined;
  const sizeBytes = [...sizes.values()].reduce<number>((sum, size) => sum + (size ?? 0), 0);
  return { id, commit, directory, sizeBytes, missing: await findMissing(directory, sizes) };
}

/** Sizes by path; undefined for a link to a blob that is not there. */
async function readSizes(root: string, under: string): Promise<Map<string, number | undefined>> {
  const sizes = new Map<string, number | undefined>();
  for await (const entry of Deno.readDir(join(root, under))) {
    const path = under === "" ? entry.name : `${under}/${entry.name}`;
    if (entry.isDirectory) (await readSizes(root, path)).forEach((size, name) => sizes.set(name, size));
    else sizes.set(path, await Deno.stat(join(root, path)).then(({ size }) => size, () => undefined));
  }
  return sizes;
}

/** The first thing that loading would miss: a blob, the configuration, a shard that the index names. */
async function findMissing(
  directory: string,
  sizes: ReadonlyMap<string, number | undefined>,
): Promise<string | undefined> {
  for (const [path, size] of sizes) if (size === undefined) return path;
  if (!sizes.has("config.json")) return "config.json";
  if (sizes.has("model.safetensors.index.json")) {
    const text = await Deno.readTextFile(join(directory, "model.safetensors.index.json"));
    const shards = new Set<unknown>(Object.values(readWeightMap(text)));
    for (const shard of shards) if (typeof shard !== "string" || !sizes.has(shard)) return String(shard);
    return undefined;
  }
  return [...sizes.keys()].some((path) => path.endsWith(".safetensors")) ? undefined : "model.safetensors";
}

function readWeightMap(text: string): object {
  try {
    const { weight_map: map } = JSON.parse(text) as { weight_map?: unknown };
    return typeof map === "object" && map !== null ? map : {};
  } catch {
    return {};
  }
}
