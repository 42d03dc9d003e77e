/**
 * The port: binds it, hands exchanges over, refuses what is no HTTP, and bounds how long a connection may say nothing.
 *
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type ErrorCode, RequestError } from "../api/errors.ts";
import { type Config, PORT_FIRST, PORT_LAST } from "../config.ts";
import { toErrorResponse } from "./errors.ts";
import { answerExchange, type Bridge, REST_MS } from "./node_bridge.ts";

/** Bounds of connections. */
export interface ConnectionLimits {
  /** From the first byte of a connection to the end of a request's head. */
  headMs: number;
  /** From there to the end of its body, however steadily that comes. */
  requestMs: number;
  /** Silence between two requests of one connection. */
  idleMs: number;
  /** How often the first two are looked at. */
  checkMs: number;
  /** Bytes of a head. */
  headBytes: number;
  /** Open at a time; more are closed as they come. */
  connections: number;
}

/** What `serve` uses: clients keep connections for a minute at most, and a head is a few kB. */
export const CONNECTION_LIMITS: ConnectionLimits = {
  headMs: 30_000,
  requestMs: 300_000,
  idleMs: 65_000,
  checkMs: 5000,
  headBytes: 32_768,
  connections: 1024,
};

/** A bound port. */
export interface Listener {
  /** Its number. */
  readonly port: number;
  /** No new connections; those without a request are closed. @returns Resolves when the last is closed. */
  close(): Promise<void>;
  /** Closes every connection at once. */
  closeConnections(): void;
}

/** What listening needs. */
export interface ListenerParts extends Bridge {
  /** Hears faults of ours. */
  onError(error: unknown): void;
  /** Bounds; those of `serve` unless a test says otherwise. */
  limits?: ConnectionLimits;
}

/**
 * Binds the given port, or the first free one of those that may be tried.
 *
 * @throws {Deno.errors.AddrInUse | Deno.errors.AddrNotAvailable | Deno.errors.PermissionDenied} With what was tried.
 */
export async function listen(config: Pick<Config, "host" | "port">, parts: ListenerParts): Promise<Listener> {
  if (config.port !== undefined) return await bind(config.host, config.port, parts);
  for (let port = PORT_FIRST; port <= PORT_LAST; port++) {
    try {
      return await bind(config.host, port, parts);
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
  throw new Deno.errors.AddrInUse(
    `Cannot listen on ${config.host}: every port from ${PORT_FIRST} to ${PORT_LAST} is taken. Choose one with --port.`,
  );
}

async function bind(host: string, port: number, parts: ListenerParts): Promise<Listener> {
  /** Connections that have not made a request: clients open them in advance, and Node does not count them as idle. */
  const unused = new Set<Socket>();
  const server = createListener(parts, unused);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", (error) => reject(toListenError(error, host, port)));
  server.listen(port, host, resolve);
  await promise;
  server.on("error", parts.onError);
  return {
    port: (server.address() as AddressInfo).port,
    close(): Promise<void> {
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeIdleConnections();
      for (const socket of unused) socket.destroy();
      return closed;
    },
    closeConnections: () => server.closeAllConnections(),
  };
}

function createListener(parts: ListenerParts, unused: Set<Socket>): Server {
  const limits = parts.limits ?? CONNECTION_LIMITS;
  const server = createServer({
    noDelay: true,
    requireHostHeader: false, // the guard answers, in the envelope
    headersTimeout: limits.headMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: limits.checkMs,
    maxHeaderSize: limits.headBytes,
  });
  server.maxConnections = limits.connections;
  server.on("connection", (socket: Socket) => {
    unused.add(socket);
    socket.once("close", () => unused.delete(socket));
  });
  const running = new WeakMap<Socket, ServerResponse>();
  const take = (incoming: IncomingMessage, outgoing: ServerResponse, waits: boolean): void => {
    const { socket } = incoming;
    unused.delete(socket);
    running.set(socket, outgoing);
    outgoing.once("close", () => {
      if (parts.closing()) socket.end(); // its head may have promised to keep the connection
    });
    answerExchange(incoming, outgoing, parts, waits).catch(parts.onError);
  };
  server.on("request", (incoming, outgoing) => take(incoming, outgoing, false));
  server.on("checkContinue", (incoming, outgoing) => take(incoming, outgoing, true));
  // One that nobody knows may be ignored (RFC 9110, 10.1.1); Node's own 417 has no envelope.
  server.on("checkExpectation", (incoming, outgoing) => take(incoming, outgoing, false));
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const answer = running.get(socket);
    const isAnswering = answer !== undefined && answer.headersSent && !answer.writableFinished;
    if (isAnswering || !socket.writable || error.code === "ECONNRESET") socket.destroy();
    else void refuse(socket, error.code, parts);
  });
  return server;
}

/** What a client is told that does not speak HTTP, by the parser's code. */
function toRefusal(code: string | undefined): [ErrorCode, number, string] {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return ["request_timeout", 408, "The request did not come in time."];
  if (code === "HPE_HEADER_OVERFLOW") return ["invalid_request", 431, "The headers of the request are too large."];
  return ["invalid_request", 400, "This is no request of HTTP/1.1 that can be read."];
}

async function refuse(socket: Socket, reason: string | undefined, { clock }: ListenerParts): Promise<void> {
  const [code, status, message] = toRefusal(reason);
  const text = await toErrorResponse(new RequestError(code, message, { status })).text();
  const head = `HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-type: application/json\r\n`;
  const stop = clock.after(REST_MS, () => socket.destroy());
  socket.once("close", stop);
  socket.end(`${head}content-length: ${text.length}\r\n\r\n${text}`);
}

function toListenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const tried = `Cannot listen on ${host}:${port}: `;
  if (error.code === "EADDRINUSE") {
    return new Deno.errors.AddrInUse(`${tried}the port is taken. Choose another with --port, or leave it out.`);
  }
  if (error.code === "EACCES") return new Deno.errors.PermissionDenied(`${tried}ports under 1024 need more rights.`);
  return new Deno.errors.AddrNotAvailable(`${tried}this machine has no such address (${error.code}).`);
}
