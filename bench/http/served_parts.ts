/**
 * The whole server on an engine that is given: everything but the core is what `serve` runs, listener and log included.
 *
 * @module
 */
import { Seal } from "../../src/api/seal.ts";
import { print } from "../../src/cli/terminal.ts";
import { loadConfig } from "../../src/config.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { GrammarWorker } from "../../src/guide/grammar_worker.ts";
import { Activity } from "../../src/http/activity.ts";
import { createApp } from "../../src/http/app.ts";
import { SYSTEM_CLOCK } from "../../src/http/clock.ts";
import { Lifecycle } from "../../src/http/lifecycle.ts";
import { startServer, stopOnSignals } from "../../src/http/server.ts";
import { createLogger } from "../../src/log.ts";
import { KeptTurns } from "../../src/route/kept/store.ts";
import { type LoadedModel, ServedModels } from "../../src/route/models.ts";
import { ResponseStore } from "../../src/store/responses.ts";
import { Records } from "../../src/trace/records.ts";

/** Serves one model on a free port until a signal comes; prints `base URL  http://…/v1` once it listens. */
export async function serveUntilSignal(engine: Engine, id: string, loaded: LoadedModel): Promise<void> {
  const config = loadConfig({ port: "0" }, {});
  const log = createLogger({ level: config.logLevel });
  const models = new ServedModels();
  models.add(id, SYSTEM_CLOCK.epochSeconds()).status = { state: "ready", loaded };
  const common = {
    config,
    activity: new Activity(SYSTEM_CLOCK),
    lifecycle: new Lifecycle(),
    clock: SYSTEM_CLOCK,
    log,
  };
  const app = createApp({
    ...common,
    engine,
    models,
    grammars: new GrammarWorker(),
    records: new Records(),
    responses: new ResponseStore(),
    seal: new Seal(),
    turns: new KeptTurns(),
    version: "bench",
  });
  const server = await startServer({ ...common, app });
  print(`  base URL  ${server.url}/v1`);
  await stopOnSignals(server);
  await engine.close();
}
