/**
 * The whole server on an engine that is given: everything but the core is what `serve` runs, listener and log included.
 *
 * @module
 */
import { print } from "../../src/cli/terminal.ts";
import { loadConfig } from "../../src/config.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { createApp } from "../../src/http/app.ts";
import { toParts } from "../../src/http/app_parts.ts";
import { SYSTEM_CLOCK } from "../../src/http/clock.ts";
import { startServer, stopOnSignals } from "../../src/http/server.ts";
import { createLogger } from "../../src/log.ts";
import { takeTurnsAtOnce } from "../../src/prompt/give_way.ts";
import { type LoadedModel, ServedModels } from "../../src/route/models.ts";
import { ResponseStore } from "../../src/store/responses.ts";
import { Records } from "../../src/trace/records.ts";

/** Serves one model on a free port until a signal comes; prints `base URL  http://…/v1` once it listens. */
export async function serveUntilSignal(engine: Engine, id: string, loaded: LoadedModel): Promise<void> {
  const config = loadConfig({ port: "0" }, {});
  const log = createLogger({ level: config.logLevel });
  const models = new ServedModels();
  models.add(id, SYSTEM_CLOCK.epochSeconds()).status = { state: "ready", loaded };
  const [records, responses, clock] = [new Records(), new ResponseStore(), SYSTEM_CLOCK];
  const parts = toParts({ config, engine, models, clock, log, records, responses, version: "bench" });
  const server = await startServer({ ...parts, app: createApp(parts) });
  takeTurnsAtOnce();
  print(`  base URL  ${server.url}/v1`);
  await stopOnSignals(server);
  await engine.close();
}
