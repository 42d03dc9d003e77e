/**
 * `rapid-mlx serve [MODEL]`: set-up where needed, then listen, load, and serve until a signal ends it.
 *
 * @module
 */
import { type Config, loadConfig } from "../config.ts";
import { type RunningServer, startServer, stopOnSignals } from "../http/server.ts";
import { createLogger, type Logger } from "../log.ts";
import { loadProfiles, type Profiles } from "../profiles/store.ts";
import { takeTurnsAtOnce } from "../prompt/give_way.ts";
import type { TextWorker } from "../prompt/text_worker.ts";
import { ensureModel } from "./find_model.ts";
import { openFakeServer } from "./open_fake_server.ts";
import { type OpenServer, openServer } from "./open_server.ts";
import { openTrace } from "./open_trace.ts";
import { prepareCore } from "./prepare_core.ts";
import { print } from "./terminal.ts";
import { VERSION } from "./version.ts";

/**
 * Serves until a signal.
 *
 * @param worker Started already: it needs as long as the rest of the start. Ends with the server.
 * @throws What set-up, the core or the model's files throw; nothing stays loaded then.
 */
export async function serve(
  model: string | undefined,
  flags: Readonly<Record<string, unknown>>,
  worker: TextWorker,
): Promise<void> {
  using _ended = { [Symbol.dispose]: () => worker.close() };
  const config = loadConfig(flags, Deno.env.toObject(), model);
  const log = createLogger({ level: config.logLevel });
  await using serving = await startServing(config, flags, log, worker);
  announce(config, serving.server.url, serving.modelId);
  await stopOnSignals(serving.server);
}

/** A server that answers. Disposing of it unloads the model; stop the listener first. */
export interface Serving extends AsyncDisposable {
  /** The listener. */
  readonly server: RunningServer;
  /** What it serves. */
  readonly modelId: string;
}

/**
 * Sets up what is missing, listens and loads.
 *
 * @throws What set-up, the core or the model's files throw; nothing stays open then.
 */
export async function startServing(
  config: Config,
  flags: Readonly<Record<string, unknown>>,
  log: Logger,
  worker: TextWorker,
): Promise<Serving> {
  for (const name of config.unknownVariables) log.log("warning", "unknown variable, ignored", { name });
  const profiles = await loadProfiles();
  const parts = await openParts(config, flags, profiles, log, worker);
  let server: RunningServer | undefined;
  try {
    // Listening before loading: an early client hears "loading", and a taken port is known at once.
    server = await startServer({ ...parts, config, log });
    await parts.load();
    takeTurnsAtOnce(); // by now the core's threads are there, and don't have this one's slice
  } catch (error) {
    await server?.stop();
    await parts[Symbol.asyncDispose]();
    throw error;
  }
  return { server, modelId: parts.model.id, [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose]() };
}

/** A model's server, with what it needs set up, or a script's. */
async function openParts(
  config: Config,
  flags: Readonly<Record<string, unknown>>,
  profiles: Profiles,
  log: Logger,
  worker: TextWorker,
): Promise<OpenServer> {
  const { fakeScriptPath: scriptPath } = config;
  if (scriptPath !== undefined) {
    return await openFakeServer({ config, scriptPath, profiles, log, trace: await openTrace(config, log) });
  }
  const setup = { systemPackages: toSystemPackages(flags) };
  const libraryPath = await prepareCore(setup);
  const place = await ensureModel(config.model, profiles, setup);
  return openServer({ config, libraryPath, place, profiles, log, worker, trace: await openTrace(config, log) });
}

/** May set-up install system packages, as the flags say. */
export function toSystemPackages(flags: Readonly<Record<string, unknown>>): "ask" | "forbidden" {
  return flags.systemPackages === false ? "forbidden" : "ask";
}

function announce(config: Config, url: string, id: string): void {
  const key = config.apiKey === undefined ? "" : ` -H 'authorization: Bearer YOUR_KEY'`;
  const body = JSON.stringify({
    model: id,
    max_tokens: 64,
    temperature: 0,
    messages: [{ role: "user", content: "What is the capital of Japan?" }],
  });
  print(`Rapid-MLX ${VERSION} serves ${id}`);
  print(`  base URL  ${url}/v1`);
  print(`  try       curl ${url}/v1/chat/completions${key} -H 'content-type: application/json' -d '${body}'`);
}
