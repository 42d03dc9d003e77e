/**
 * A hub in this process: the listing and file routes that `pull` uses, with the failures of the real one on demand.
 *
 * Big files are redirected to a second origin, as the real hub does.
 *
 * @module
 */
import { createHash } from "node:crypto";

/** What goes wrong with a file, used up one by one, one a request. */
export type Fault =
  | { kind: "drop"; afterBytes: number }
  | { kind: "silence"; afterBytes: number }
  | { kind: "status"; status: number; retryAfter?: string }
  | { kind: "ignoreRange" }
  | { kind: "wrongRange" }
  | { kind: "garbage" }
  | { kind: "tooMuch" };

/** A file of the fake repository. */
export interface FakeFile {
  /** Content. */
  bytes: Uint8Array<ArrayBuffer>;
  /** Large files have sha256 names and live on the second origin. */
  isLarge?: boolean;
  /** In order of requests. */
  faults?: Fault[];
  /** Size that the listing claims. */
  listedBytes?: number;
}

/** A request that arrived. */
export interface SeenRequest {
  /** `hub` or `files`: which origin. */
  origin: "hub" | "files";
  /** Path and query. */
  path: string;
  /** Range header. */
  range: string | null;
  /** Authorization header. */
  authorization: string | null;
}

/** The only repository of a fake hub. */
export const FAKE_ID = "acme/Tiny-4bit";
/** Its commit. */
export const FAKE_COMMIT = "0123456789abcdef0123456789abcdef01234567";

/** A running fake hub. */
export class FakeHub implements AsyncDisposable {
  /** All requests, in order. */
  readonly seen: SeenRequest[] = [];
  /** A token that the listing wants. */
  token: string | undefined;
  readonly #files: ReadonlyMap<string, FakeFile>;
  readonly #hub: Deno.HttpServer<Deno.NetAddr>;
  readonly #blobs: Deno.HttpServer<Deno.NetAddr>;

  /** Starts it with these files, by path. */
  constructor(files: Readonly<Record<string, FakeFile>>) {
    this.#files = new Map(Object.entries(files));
    const onError = (): Response => new Response(null, { status: 500 });
    const options = { hostname: "127.0.0.1", port: 0, onListen: (): void => {}, onError };
    this.#blobs = Deno.serve(options, (request) => this.#answerFile(this.#note("files", request)));
    this.#hub = Deno.serve(options, (request) => this.#answer(this.#note("hub", request)));
  }

  /** For HF_ENDPOINT. */
  get url(): string {
    return `http://127.0.0.1:${this.#hub.addr.port}`;
  }

  /** Stops it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#hub.shutdown(), this.#blobs.shutdown()]);
  }

  #note(origin: "hub" | "files", request: Request): Request {
    const { pathname, search } = new URL(request.url);
    const { headers } = request;
    const path = decodeURIComponent(pathname) + search;
    this.seen.push({ origin, path, range: headers.get("range"), authorization: headers.get("authorization") });
    return request;
  }

  #answer(request: Request): Response {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith(`/api/models/${FAKE_ID}`)) {
      const wanted = this.token === undefined ? null : `Bearer ${this.token}`;
      if (wanted !== null && request.headers.get("authorization") !== wanted) {
        return Response.json({ error: "Access to this repository is restricted" }, { status: 401 });
      }
      return pathname.includes("/tree/") ? this.#listing() : Response.json({ id: FAKE_ID, _id: "1", sha: FAKE_COMMIT });
    }
    if (pathname.startsWith("/api/")) return Response.json({ error: "Repository not found" }, { status: 404 });
    const path = decodeURIComponent(pathname.replace(`/${FAKE_ID}/resolve/${FAKE_COMMIT}/`, ""));
    const file = this.#files.get(path);
    if (file?.isLarge) return Response.redirect(`http://127.0.0.1:${this.#blobs.addr.port}/${path}`, 302);
    return this.#answerFile(request);
  }

  #listing(): Response {
    return Response.json([...this.#files].map(([path, file]) => ({
      type: "file",
      path,
      size: file.listedBytes ?? file.bytes.length,
      oid: gitHash(file.bytes),
      ...file.isLarge &&
        { lfs: { oid: sha256(file.bytes), size: file.listedBytes ?? file.bytes.length, pointerSize: 130 } },
    })));
  }

  #answerFile(request: Request): Response {
    const path = decodeURIComponent(new URL(request.url).pathname).replace(/^.*\/resolve\/[0-9a-f]+\//, "/").slice(1);
    const file = this.#files.get(path);
    if (file === undefined) return new Response("Entry not found", { status: 404 });
    const fault = file.faults?.shift();
    const first = Number(/^bytes=(\d+)-$/.exec(request.headers.get("range") ?? "")?.[1] ?? 0);
    if (fault?.kind === "status") {
      const headers = fault.retryAfter === undefined ? undefined : { "retry-after": fault.retryAfter };
      return new Response("no", { status: fault.status, ...headers && { headers } });
    }
    if (fault?.kind === "ignoreRange") return new Response(file.bytes);
    if (fault?.kind === "tooMuch") return new Response(new Uint8Array(file.bytes.length + 1));
    const content = fault?.kind === "garbage" ? file.bytes.map((byte) => byte ^ 0xff) : file.bytes;
    if (first >= content.length && first > 0) return new Response(null, { status: 416 });
    const start = fault?.kind === "wrongRange" ? first + 1 : first;
    const size = content.length;
    const headers = { "content-range": `bytes ${start}-${size - 1}/${size}` };
    const rest = content.subarray(first);
    const body = fault?.kind === "drop" || fault?.kind === "silence" ? cut(rest, fault) : rest;
    return new Response(body, first > 0 ? { status: 206, headers } : {});
  }
}

/** The first bytes, then a broken connection or none at all. */
function cut(bytes: Uint8Array<ArrayBuffer>, fault: { kind: "drop" | "silence"; afterBytes: number }): ReadableStream {
  let sent = false;
  return new ReadableStream({
    pull(controller): void | Promise<void> {
      if (!sent) controller.enqueue(bytes.slice(0, fault.afterBytes));
      else if (fault.kind === "drop") controller.error(new Error("dropped"));
      else return new Promise(() => {});
      sent = true;
    },
  }, { highWaterMark: 0 });
}

/** As the hub names large blobs. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** As git names small blobs. */
export function gitHash(bytes: Uint8Array): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}
