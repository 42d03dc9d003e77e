/**
 * The listener and its end: bind, serve, drain, stop.
 *
 * The first signal to end makes the server drain: readiness turns 503, new work is refused, what runs may finish for a
 * bounded time and is cancelled after it. A second signal ends the process at once.
 *
 * @module
 */
import type { Hono } from "hono";
import type { Config } from "../config.ts";
import type { Logger } from "../log.ts";
import type { Activity } from "./activity.ts";
import type { AppEnvironment } from "./app_context.ts";
import { type Clock, waitAtMost } from "./clock.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { listen } from "./listener.ts";

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
  /** Resolves when it has stopped and every connection is closed. */
  readonly finished: Promise<void>;
}

/**
 * Listens.
 *
 * @throws {Deno.errors.AddrInUse | Deno.errors.AddrNotAvailable | Deno.errors.PermissionDenied} If it can't.
 */
export async function startServer(parts: ServerParts): Promise<RunningServer> {
  const { config, app, activity, lifecycle, clock, log } = parts;
  const listener = await listen(config, {
    fetch: (request, remote) => app.fetch(request, { remote }),
    closing: () => lifecycle.draining,
    onError: (error) => log.log("error", "the listener failed", { error: String(error) }),
    clock,
  });
  const { port } = listener;
  const { promise: finished, resolve } = Promise.withResolvers<void>();
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    lifecycle.drain();
    log.log("info", "draining", { running: activity.live().length, drainMs: config.drainMs });
    await waitAtMost(activity.idle(), config.drainMs, clock);
    if (activity.live().length > 0) {
      log.log("warning", "the drain time is over, cancelling what runs", { running: activity.live().length });
      activity.abortAll();
      await waitAtMost(activity.idle(), CLOSE_MS, clock);
    }
    const closed = listener.close();
    await waitAtMost(closed, CLOSE_MS, clock);
    listener.closeConnections();
    await closed;
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

/** An address that a client can call: not the wildcard, and IPv6 in brackets. */
function toUrlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
