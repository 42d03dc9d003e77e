/**
 * What a repository on the hub holds at one commit, and which of its files a model needs.
 *
 * `@huggingface/hub` lists; names and hashes that it gives are checked before they become paths.
 *
 * @module
 */
import { HubApiError, listFiles, modelInfo } from "@huggingface/hub";
import { type HubEndpoint, HubError, toFetch } from "./endpoint.ts";

/** A file of a repository. */
export interface RepositoryFile {
  /** Relative, with `/`; never leaves the folder. */
  readonly path: string;
  /** Of the content. */
  readonly sizeBytes: number;
  /** Name of the blob: sha256 of the content for large files, git's sha1 of the blob for small ones. */
  readonly hash: string;
  /** Which of the two. */
  readonly algorithm: "sha256" | "git-sha1";
}

/** A repository at a commit. */
export interface Repository {
  /** `owner/name`. */
  readonly id: string;
  /** Branch or tag that was asked for. */
  readonly revision: string;
  /** Hash of the commit. */
  readonly commit: string;
  /** All files. */
  readonly files: readonly RepositoryFile[];
}

/** More files than any model has; a listing that goes on is cut off with an error. */
const FILES_MAX = 20_000;

/** Files that loading and prompting may need; weights in other formats, pictures and code stay where they are. */
const NEEDED = /\.(safetensors|json|jinja|txt|model|tiktoken)$/;

/** Checks `owner/name`. @throws {HubError} If it is something else. */
export function requireRepositoryId(id: string): string {
  if (/^[A-Za-z0-9][\w.-]{0,95}\/[A-Za-z0-9_][\w.-]{0,95}$/.test(id) && !id.includes("..")) return id;
  throw new HubError(`${JSON.stringify(id)} is no repository; wanted is OWNER/NAME, e.g. mlx-community/Qwen3-4B-4bit.`);
}

/** Lists a repository. @throws {HubError} If it can't be read; says whether it is absent, or a token is missing. */
export async function listRepository(endpoint: HubEndpoint, id: string, revision: string): Promise<Repository> {
  requireRepositoryId(id);
  const options = { hubUrl: endpoint.url, fetch: toFetch(endpoint), revision };
  try {
    const { sha: commit } = await modelInfo({ ...options, name: id, additionalFields: ["sha"] });
    if (typeof commit !== "string" || !/^[0-9a-f]{40}$/.test(commit)) {
      throw new HubError(`${endpoint.url} names no commit for ${id} at ${revision}.`);
    }
    const files: RepositoryFile[] = [];
    for await (
      const entry of listFiles({ ...options, revision: commit, repo: { type: "model", name: id }, recursive: true })
    ) {
      if (entry.type === "file") files.push(toFile(id, entry));
      if (files.length > FILES_MAX) throw new HubError(`${id} lists more than ${FILES_MAX} files.`);
    }
    return { id, revision, commit, files };
  } catch (error) {
    throw toHubError(error, endpoint, id, revision);
  }
}

/** The files that a model needs, or those that were asked for. @throws {HubError} If one of them is not there. */
export function selectFiles(repository: Repository, asked: readonly string[]): readonly RepositoryFile[] {
  if (asked.length > 0) {
    return asked.map((path) => {
      const file = repository.files.find((one) => one.path === path);
      if (file === undefined) throw new HubError(`${repository.id} has no file ${path}.`);
      return file;
    });
  }
  const files = repository.files.filter(({ path }) => NEEDED.test(path));
  if (files.some(({ path }) => path.endsWith(".safetensors"))) return files;
  const ggufs = repository.files.filter(({ path }) => path.endsWith(".gguf")).map(({ path }) => path);
  const hint = ggufs.length === 0
    ? ""
    : `, but GGUF files. Name one (rapid-mlx pull ${repository.id} ${ggufs[0]}), then convert it`;
  throw new HubError(`${repository.id} has no .safetensors files${hint}.`);
}

function toFile(
  id: string,
  entry: { path: string; size: number; oid?: string; lfs?: { oid: string; size: number } },
): RepositoryFile {
  const parts = entry.path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..") || /[\0\\]/.test(entry.path)) {
    throw new HubError(`${id} lists the path ${JSON.stringify(entry.path)}, which leaves the folder.`);
  }
  const [hash, algorithm] = entry.lfs ? [entry.lfs.oid, "sha256" as const] : [entry.oid ?? "", "git-sha1" as const];
  const sizeBytes = entry.lfs?.size ?? entry.size;
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(hash) || !Number.isSafeInteger(sizeBytes) || sizeBytes < 0) {
    throw new HubError(`${id} lists ${entry.path} without a usable hash and size.`);
  }
  return { path: entry.path, sizeBytes, hash, algorithm };
}

function toHubError(error: unknown, endpoint: HubEndpoint, id: string, revision: string): HubError {
  if (error instanceof HubError) return error;
  if (!(error instanceof HubApiError)) {
    return new HubError(`Cannot reach ${endpoint.url}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return new HubError(`Cannot list ${id} at ${revision}: ${explainStatus(error.statusCode, endpoint)}`);
}

/** What an HTTP status of the hub means for the person who asked. */
export function explainStatus(status: number, endpoint: HubEndpoint): string {
  const token = endpoint.token === undefined ? "set HF_TOKEN" : "the token in use does not open it";
  if (status === 401 || status === 403) {
    return `${endpoint.url} refuses (${status}): it is private, gated (its page has the terms) or absent; ${token}.`;
  }
  if (status === 404) return `${endpoint.url} has no such repository, revision or file (404).`;
  return `${endpoint.url} answers ${status}.`;
}
