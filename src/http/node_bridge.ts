/**
 * One exchange of `node:http` as a fetch Request and its Response.
 *
 * The request's signal aborts the moment its client has left, whatever the answer is doing (`Deno.serve` of Deno 2.9.6
 * does not tell: docs/LOG.md). An event stream goes out piece by piece, asked for as the connection takes it; every
 * other answer goes out whole, with its length. A body that breaks off breaks its connection off.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate } from "node:timers";
import { RequestError } from "../api/errors.ts";
import { type Clock, waitAtMost } from "./clock.ts";
import { toErrorResponse } from "./errors.ts";
import { openBody } from "./node_body.ts";

/** Longest wait for the rest of a body that was answered before its end; then its connection is closed. */
export const REST_MS = 1000;

/** What answers an exchange. */
export interface Bridge {
  /** Gives the response; `remote` is the client's `address:port`. */
  fetch(request: Request, remote: string): Response | Promise<Response>;
  /** Whether connections are given up after their answer. */
  closing(): boolean;
  /** Bounds the wait for rests. */
  clock: Clock;
}

/**
 * Answers one exchange.
 *
 * @param waits The client sends its body only after `100 Continue`.
 * @throws If `fetch` does, or a body that is no event stream breaks off; the connection is closed then.
 */
export async function answerExchange(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  bridge: Bridge,
  waits = false,
): Promise<void> {
  const client = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) client.abort();
  });
  const body = openBody(incoming, waits ? () => outgoing.writeContinue() : undefined);
  try {
    const response = await respondTo(incoming, body.stream, client.signal, bridge);
    const isEarly = !incoming.complete;
    outgoing.statusCode = response.status;
    outgoing.setHeaders(response.headers);
    if (isEarly || bridge.closing()) outgoing.setHeader("connection", "close");
    const last = await send(response, outgoing);
    if (outgoing.destroyed) return;
    const rest = body.discard();
    if (isEarly && body.asked()) {
      // Closed at once, the connection would be reset under a client that still writes, and the answer lost.
      if (last) outgoing.write(last);
      await waitAtMost(rest, REST_MS, bridge.clock);
      outgoing.end();
    } else if (last) outgoing.end(last);
    else outgoing.end();
  } catch (error) {
    outgoing.destroy();
    throw error;
  }
}

/** The app's response, or that of a request which fetch has no words for. */
async function respondTo(
  incoming: IncomingMessage,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  bridge: Bridge,
): Promise<Response> {
  const { method = "GET", socket } = incoming;
  if (incoming.httpVersion === "1.1" && incoming.headers.host === undefined && !isAbsolute(incoming.url)) {
    const message = "The request has no Host header, which HTTP/1.1 asks for (RFC 9112, 3.2).";
    return toErrorResponse(new RequestError("host_not_allowed", message));
  }
  let request: Request;
  try {
    const init = { method, headers: toHeaders(incoming), signal };
    request = new Request(toUrl(incoming), method === "GET" || method === "HEAD" ? init : { ...init, body });
  } catch {
    // TRACE is a method that no Request may have; a target may be no URL.
    return toErrorResponse(new RequestError("invalid_request", "The request line or a header can't be read."));
  }
  return await bridge.fetch(request, `${socket.remoteAddress ?? "unknown"}:${socket.remotePort ?? 0}`);
}

/** An absolute target names its host instead of the Host header (RFC 9112, 3.2.2); without both it is localhost. */
function toUrl({ url = "/", headers }: IncomingMessage): string {
  if (isAbsolute(url)) return url;
  const path = url.startsWith("/") ? url : `/${url}`;
  return `http://${
    headers.host !== undefined && URL.canParse(`http://${headers.host}`) ? headers.host : "localhost"
  }${path}`;
}

function isAbsolute(url = ""): boolean {
  return /^https?:\/\//i.test(url);
}

function toHeaders({ rawHeaders, url = "/" }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  if (isAbsolute(url)) headers.set("host", new URL(url).host);
  return headers;
}

/** Sends a response up to its last piece. @returns That piece, if there is one. */
async function send(response: Response, outgoing: ServerResponse): Promise<Uint8Array | undefined> {
  if (response.body === null) return undefined;
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
    outgoing.flushHeaders();
    await pump(response.body, outgoing);
    return undefined;
  }
  const whole = await response.bytes();
  outgoing.setHeader("content-length", whole.length);
  return whole;
}

/** Sends a stream as the connection takes it. A client that leaves ends it; an error in it ends the connection. */
async function pump(stream: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const reader = stream.getReader();
  let wake = (): void => {};
  outgoing.on("drain", () => wake());
  outgoing.once("close", () => {
    wake();
    reader.cancel().catch(() => {}); // what the stream's maker thinks of it, the maker logs
  });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || outgoing.destroyed) return;
      if (outgoing.write(value)) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (outgoing.destroyed || !outgoing.writableNeedDrain) resolve();
      });
    }
  } catch {
    // Half an answer must not look whole, but what was written goes out: the last frames may say why.
    setImmediate(() => outgoing.socket?.destroySoon());
    if (!outgoing.destroyed) await new Promise((resolve) => outgoing.once("close", resolve));
  } finally {
    reader.cancel().catch(() => {}); // the client may have left before the stream was there
  }
}
