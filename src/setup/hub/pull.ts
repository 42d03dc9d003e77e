/**
 * `rapid-mlx pull OWNER/NAME`: a model from the hub into the Hugging Face cache, whole or to be continued.
 *
 * The snapshot appears when every blob is there and checked. What is on the disk already is not fetched again.
 *
 * @module
 */
import { dirname, join } from "node:path";
import { withLock } from "../lock.ts";
import { megabytes, type Report } from "../report.ts";
import { requireSpace } from "../requirements.ts";
import { blobPath, findCached, repositoryFolder, writeSnapshot } from "./cache.ts";
import { downloadBlob, type DownloadOptions } from "./download.ts";
import { type HubEndpoint, HubError } from "./endpoint.ts";
import { listRepository, type RepositoryFile, requireRepositoryId, selectFiles } from "./repository.ts";

/** What to pull. */
export interface PullRequest {
  /** `owner/name`. */
  readonly id: string;
  /** Branch, tag or commit. */
  readonly revision?: string;
  /** Only these files; empty: what a model needs. */
  readonly files?: readonly string[];
}

/** Where from, where to. */
export interface PullOptions extends Omit<DownloadOptions, "onBytes"> {
  /** The hub. */
  readonly endpoint: HubEndpoint;
  /** The cache folder. */
  readonly cache: string;
  /** Where progress goes. */
  readonly report: Report;
}

/** Files on their way at once. */
const PARALLEL_DOWNLOADS = 4;
/** The hub's pages allow any; a cache entry must not leave its folder. */
const REVISION = /^[A-Za-z0-9][\w.-]{0,127}(\/[A-Za-z0-9][\w.-]{0,127})*$/;

/**
 * Brings the files to the cache.
 *
 * @returns Folder of the snapshot.
 * @throws {HubError} If the hub refuses, fails, or a hash is wrong. What arrived stays and is used the next time.
 * @throws {SetupError} If the disk has no room.
 */
export async function pullModel(request: PullRequest, options: PullOptions): Promise<string> {
  const id = requireRepositoryId(request.id);
  const revision = request.revision ?? "main";
  if (!REVISION.test(revision)) throw new HubError(`${JSON.stringify(revision)} is no branch, tag or commit.`);
  if (options.endpoint.isOffline) return await requireCached(options.cache, id, revision);
  const repository = await listRepository(options.endpoint, id, revision);
  const files = selectFiles(repository, request.files ?? []);
  const lock = join(options.cache, ".locks", `models--${id.replace("/", "--")}`, "pull.lock");
  return await withLock(lock, options.report, async () => {
    await Deno.mkdir(join(repositoryFolder(options.cache, id), "blobs"), { recursive: true });
    const urlOf = ({ path }: RepositoryFile): string =>
      `${options.endpoint.url}/${id}/resolve/${repository.commit}/${path.split("/").map(encodeURIComponent).join("/")}`;
    await downloadAll(id, files, urlOf, options);
    return await writeSnapshot(options.cache, repository, files);
  });
}

async function requireCached(cache: string, id: string, revision: string): Promise<string> {
  const cached = await findCached(cache, id, revision);
  if (cached !== undefined && cached.missing === undefined) return cached.directory;
  const found = cached === undefined ? "not on this disk" : `not whole on this disk (${cached.missing} is missing)`;
  throw new HubError(`HF_HUB_OFFLINE is set and ${id} is ${found}. Unset it and pull again.`);
}

async function downloadAll(
  id: string,
  files: readonly RepositoryFile[],
  urlOf: (file: RepositoryFile) => string,
  options: PullOptions,
): Promise<void> {
  const { endpoint, cache, report } = options;
  // Two paths may hold the same content: one blob then.
  const wanted = new Map(files.map((file) => [file.hash, file]));
  for (const [hash, file] of wanted) {
    const present = await Deno.stat(blobPath(cache, id, file)).catch(() => undefined);
    if (present?.size === file.sizeBytes) wanted.delete(hash);
  }
  if (wanted.size === 0) return;
  const totalBytes = [...wanted.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  report.step(`Pulling ${id}: ${wanted.size} files, ${megabytes(totalBytes)}`);
  await requireSpace(dirname(blobPath(cache, id, files[0]!)), totalBytes, `Pulling ${id}`);
  let doneBytes = 0;
  const onBytes = (countBytes: number): void => {
    doneBytes += countBytes;
    const percent = totalBytes === 0 ? 100 : Math.floor(doneBytes / totalBytes * 100);
    report.progress(`${id}: ${megabytes(doneBytes)} of ${megabytes(totalBytes)} (${percent} %)`);
  };
  const queue = [...wanted.values()].sort((left, right) => left.sizeBytes - right.sizeBytes);
  const failed = new AbortController();
  const worker = async (): Promise<void> => {
    for (let file = queue.shift(); file !== undefined && !failed.signal.aborted; file = queue.shift()) {
      const target = blobPath(cache, id, file);
      await downloadBlob(endpoint, urlOf(file), file, target, { ...options, onBytes, signal: failed.signal });
    }
  };
  // The first failure ends the others, and is the one that is told.
  const outcome = Promise.withResolvers<never>();
  outcome.promise.catch(() => {});
  const workers = Array.from({ length: PARALLEL_DOWNLOADS }, () =>
    worker().catch((error: unknown) => {
      outcome.reject(error);
      failed.abort();
    }));
  await Promise.all(workers);
  if (failed.signal.aborted) await outcome.promise;
}
