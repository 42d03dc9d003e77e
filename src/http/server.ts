/**
 * The listener and its end: bind, serve, drain, stop.
 *
 * The first signal to end makes the server drain: readiness turns 503, new work is refused, what runs may finish for a
 * bounded time and is cancelled after it. A second signal ends the process at once.
 *
 * @module
 */
import type { Hono } from "hono";
import { type Config, PORT_FIRST, PORT_LAST } from "../config.ts";
import type { Logger } from "../log.ts";
import type { Activity } from "./activity.ts";
import type { AppEnvironment } from "./app_context.ts";
import type { Clock } from "./clock.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** Exit status when a second signal cuts the drain short: 128 + SIGINT, as shells count. */
export const FORCED_EXIT_CODE = 130;

/** After the drain, the longest wait for answers that were cancelled and for open connections. */
const CLOSE_MS = 2000;

/** What a server is made of. */
export interface ServerParts {
  /** Interface, port, drain time. */
  config: Pick<Config, "host" | "port" | "drainMs">;
  /** Answers. */
  app: Hono<AppEnvironment>;
  /** Knows what is running. */
  activity: Activity;
  /** Told to drain. */
  lifecycle: Lifecycle;
  /** Bounds the drain. */
  clock: Clock;
  /** Where lines go. */
  log: Logger;
}

/** A server that listens. */
export interface RunningServer {
  /** Where it listens. */
  readonly port: number;
  /** e.g. `http://127.0.0.1:8000`. */
  readonly url: string;
  /** Drains and stops; a second call waits for the same end. */
  stop(): Promise<void>;
  /**
   * Resolves when it has stopped. A connection that never sent its body may still be open then (Deno 2.9.6 can't close
   * it) and would keep the process alive: end it by `Deno.exit`.
   */
  readonly finished: Promise<void>;
}

/**
 * Listens.
 *
 * @throws {Deno.errors.AddrInUse} If the port, or every port that may be tried, is taken.
 */
export function startServer(parts: ServerParts): RunningServer {
  const { config, app, activity, lifecycle, clock, log } = parts;
  const server = listen(config, {
    onListen: () => {},
    handler: (request, info) => app.fetch(request, { info }),
    onError: (error) => {
      log.log("error", "the listener failed", { error: String(error) });
      return new Response(null, { status: 500 });
    },
  });
  const { port } = server.addr;
  const { promise: finished, resolve } = Promise.withResolvers<void>();
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    lifecycle.drain();
    log.log("info", "draining", { running: activity.live().length, drainMs: config.drainMs });
    await inTime(activity.idle(), config.drainMs, clock);
    if (activity.live().length > 0) {
      log.log("warning", "the drain time is over, cancelling what runs", { running: activity.live().length });
      activity.abortAll();
      await inTime(activity.idle(), CLOSE_MS, clock);
    }
    await inTime(server.shutdown(), CLOSE_MS, clock);
    log.log("info", "stopped");
    resolve();
  };
  return {
    port,
    url: `http://${toUrlHost(config.host)}:${port}`,
    stop: () => stopping ??= stop(),
    finished,
  };
}

/** What `stopOnSignals` needs of the process; tests pass their own. */
export interface SignalSource {
  /** Calls back on each arrival of a signal. */
  on(signal: Deno.Signal, callback: () => void): void;
  /** Ends that. */
  off(signal: Deno.Signal, callback: () => void): void;
  /** Ends the process. */
  exit(code: number): void;
}

/** The process itself. */
export const PROCESS_SIGNALS: SignalSource = {
  on: (signal, callback) => Deno.addSignalListener(signal, callback),
  off: (signal, callback) => Deno.removeSignalListener(signal, callback),
  exit: (code) => Deno.exit(code),
};

/** SIGTERM and SIGINT stop the server; the second of them ends the process at once. @returns Resolves at its end. */
export async function stopOnSignals(server: RunningServer, source: SignalSource = PROCESS_SIGNALS): Promise<void> {
  let count = 0;
  const end = (): void => {
    if (++count === 1) void server.stop();
    else source.exit(FORCED_EXIT_CODE);
  };
  const signals: readonly Deno.Signal[] = ["SIGTERM", "SIGINT"];
  for (const signal of signals) source.on(signal, end);
  await server.finished;
  for (const signal of signals) source.off(signal, end);
}

/** How requests are taken. */
type Listening = Required<Pick<Deno.ServeTcpOptions, "onListen" | "onError">> & {
  handler: Deno.ServeHandler<Deno.NetAddr>;
};

/** Binds the given port, or the first free one of those that may be tried. */
function listen(config: ServerParts["config"], listening: Listening): Deno.HttpServer<Deno.NetAddr> {
  const bind = (port: number): Deno.HttpServer<Deno.NetAddr> => (
    Deno.serve({ hostname: config.host, port, ...listening })
  );
  if (config.port !== undefined) return bind(config.port);
  for (let port = PORT_FIRST; port < PORT_LAST; port++) {
    try {
      return bind(port);
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
  return bind(PORT_LAST);
}

/** Waits for a promise, but no longer than a time. */
async function inTime(promise: Promise<void>, timeMs: number, clock: Clock): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const stop = clock.after(timeMs, resolve);
  try {
    await Promise.race([promise, late]);
  } finally {
    stop();
  }
}

/** An address that a client can call: not the wildcard, and IPv6 in brackets. */
function toUrlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
