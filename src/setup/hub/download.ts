/**
 * One blob from the hub onto the disk: resumed where it stopped, retried, and checked before it gets its name.
 *
 * Bytes go to `<blob>.incomplete`, the name that Hugging Face's libraries use, so that either can go on with what the
 * other began. A blob under its final name always has the right hash.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { type HubEndpoint, HubError, toFetch } from "./endpoint.ts";
import { explainStatus, type RepositoryFile } from "./repository.ts";

/** What a download needs from outside. */
export interface DownloadOptions {
  /** Called with the bytes that arrived; negative when bytes on the disk turned out useless. */
  onBytes: (countBytes: number) => void;
  /** Waits before a retry; tests pass their own. */
  sleep?: (timeMs: number) => Promise<void>;
  /** Ends the download; what arrived stays. */
  signal?: AbortSignal;
  /** Longest silence of a server before the connection counts as broken. */
  stallMs?: number;
}

/** Failures in a row without a single new byte, after which a download gives up. */
const RETRIES_MAX = 6;
const BACKOFF_FIRST_MS = 500;
const BACKOFF_MAX_MS = 30_000;
const STALL_MS = 60_000;

/** A connection or server that failed in a way that trying again may cure. */
class Transient extends Error {
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Fetches `url` to `target`.
 *
 * @throws {HubError} If the hub refuses, keeps failing, or sends bytes with another hash.
 */
export async function downloadBlob(
  endpoint: HubEndpoint,
  url: string,
  file: RepositoryFile,
  target: string,
  options: DownloadOptions,
): Promise<void> {
  const sleep = options.sleep ?? ((timeMs) => new Promise((resolve) => setTimeout(resolve, timeMs)));
  const partial = `${target}.incomplete`;
  const presentBytes = await sizeOf(partial);
  if (presentBytes <= file.sizeBytes) options.onBytes(presentBytes);
  let restarted = false;
  for (let failures = 0; true;) {
    const beforeBytes = await sizeOf(partial);
    try {
      if (beforeBytes !== file.sizeBytes) await fetchRest(endpoint, url, file, partial, options);
      const hash = await hashBlob(partial, file);
      if (hash === file.hash) break;
      await Deno.remove(partial);
      options.onBytes(-file.sizeBytes);
      // Bytes of an earlier attempt may be to blame, so one clean start is worth its traffic.
      if (restarted) throw new HubError(`${file.path} from ${url} has the hash ${hash}; expected is ${file.hash}.`);
      restarted = true;
    } catch (error) {
      if (!(error instanceof Transient) || options.signal?.aborted) throw error;
      failures = await sizeOf(partial) > beforeBytes ? 1 : failures + 1;
      if (failures > RETRIES_MAX) {
        throw new HubError(
          `${file.path}: gave up after ${RETRIES_MAX} retries (${error.message}). Run it again to go on.`,
        );
      }
      await sleep(Math.min(error.retryAfterMs ?? BACKOFF_FIRST_MS * 2 ** (failures - 1), BACKOFF_MAX_MS));
    }
  }
  await Deno.rename(partial, target);
}

/** Appends what is missing of the file; a server that ignores the range starts it anew. */
async function fetchRest(
  endpoint: HubEndpoint,
  url: string,
  file: RepositoryFile,
  partial: string,
  options: DownloadOptions,
): Promise<void> {
  using output = await Deno.open(partial, { create: true, write: true });
  const presentBytes = (await output.stat()).size;
  let startBytes = presentBytes <= file.sizeBytes ? presentBytes : 0;
  const stall = new Stall(options.stallMs ?? STALL_MS, options.signal);
  try {
    const response = await request(endpoint, url, startBytes, stall);
    if (response.status === 206 && readRangeStart(response) !== startBytes) {
      throw new HubError(`${file.path}: ${new URL(url).host} sends another part of the file than was asked for.`);
    }
    if (response.status === 200 && startBytes > 0) {
      options.onBytes(-startBytes);
      startBytes = 0;
    }
    if (response.status === 416) {
      await output.truncate(0);
      await response.body?.cancel();
      throw new Transient("the server can't continue; starting over");
    }
    if (startBytes !== presentBytes) await output.truncate(startBytes);
    await output.seek(startBytes, Deno.SeekMode.Start);
    await append(output, response, file, startBytes, { ...options, stall });
  } finally {
    stall.end();
  }
}

async function request(endpoint: HubEndpoint, url: string, startBytes: number, stall: Stall): Promise<Response> {
  const headers = startBytes > 0 ? { range: `bytes=${startBytes}-` } : undefined;
  // Content-Encoding would make sizes and ranges those of the compressed stream.
  const init = { headers: { "accept-encoding": "identity", ...headers }, signal: stall.signal };
  const response = await toFetch(endpoint)(url, init).catch((error: unknown) => {
    if (error instanceof HubError) throw error;
    throw new Transient(error instanceof Error ? error.message : String(error));
  });
  if (response.status === 200 || response.status === 206 || response.status === 416) return response;
  await response.body?.cancel();
  if (response.status === 429 || response.status === 408 || response.status >= 500) {
    const seconds = Number(response.headers.get("retry-after"));
    throw new Transient(`status ${response.status}`, seconds > 0 ? seconds * 1000 : undefined);
  }
  throw new HubError(`Cannot fetch ${url}: ${explainStatus(response.status, endpoint)}`);
}

async function append(
  output: Deno.FsFile,
  response: Response,
  file: RepositoryFile,
  startBytes: number,
  { onBytes, stall }: DownloadOptions & { stall: Stall },
): Promise<void> {
  let doneBytes = startBytes;
  try {
    for await (const bytes of response.body ?? []) {
      stall.restart();
      if (doneBytes + bytes.length > file.sizeBytes) {
        await output.truncate(0);
        onBytes(-doneBytes);
        throw new HubError(`${file.path}: the server sends more than the ${file.sizeBytes} bytes that the hub lists.`);
      }
      for (let written = 0; written < bytes.length;) written += await output.write(bytes.subarray(written));
      doneBytes += bytes.length;
      onBytes(bytes.length);
    }
  } catch (error) {
    if (error instanceof HubError) throw error;
    // A full disk is no matter of trying again.
    if (error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT")) {
      throw new HubError(
        `${file.path}: the disk is full after ${doneBytes} of ${file.sizeBytes} bytes. Make room and run it again.`,
      );
    }
    throw new Transient(error instanceof Error ? error.message : String(error));
  }
  if (doneBytes < file.sizeBytes) {
    throw new Transient(`the connection ended at ${doneBytes} of ${file.sizeBytes} bytes`);
  }
}

/** `content-range: bytes 100-199/200` → 100. */
function readRangeStart(response: Response): number {
  return Number(/^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1] ?? NaN);
}

/** Hash as the hub names the blob: git prefixes the content with its kind and size. */
async function hashBlob(path: string, file: RepositoryFile): Promise<string> {
  const hasher = createHash(file.algorithm === "sha256" ? "sha256" : "sha1");
  if (file.algorithm === "git-sha1") hasher.update(`blob ${file.sizeBytes}\0`);
  using input = await Deno.open(path, { read: true, write: true, create: true });
  const buffer = new Uint8Array(1 << 20);
  for (let count = await input.read(buffer); count !== null; count = await input.read(buffer)) {
    hasher.update(buffer.subarray(0, count));
  }
  return hasher.digest("hex");
}

async function sizeOf(path: string): Promise<number> {
  return await Deno.stat(path).then(({ size }) => size, () => 0);
}

/** Aborts when nothing has arrived for a time. */
class Stall {
  readonly #timeMs: number;
  readonly #controller = new AbortController();
  /** Aborts on silence, or with the caller's own signal. */
  readonly signal: AbortSignal;
  #timer: ReturnType<typeof setTimeout>;

  constructor(timeMs: number, caller: AbortSignal | undefined) {
    this.#timeMs = timeMs;
    this.signal = AbortSignal.any([this.#controller.signal, ...caller === undefined ? [] : [caller]]);
    this.#timer = this.#start();
  }

  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#start();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #start(): ReturnType<typeof setTimeout> {
    const reason = new Error(`nothing arrived for ${this.#timeMs / 1000} s`);
    return setTimeout(() => this.#controller.abort(reason), this.#timeMs);
  }
}
