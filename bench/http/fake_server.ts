/**
 * The whole server on the fake core, whose steps take no time: what is left is the server's own cost.
 *
 * Everything but the core and the text worker is what `serve` runs, listener and log included.
 *
 * @module
 */
import { Seal } from "../../src/api/seal.ts";
import { print } from "../../src/cli/terminal.ts";
import { loadConfig } from "../../src/config.ts";
import { GrammarWorker } from "../../src/guide/grammar_worker.ts";
import { Activity } from "../../src/http/activity.ts";
import { createApp } from "../../src/http/app.ts";
import { SYSTEM_CLOCK } from "../../src/http/clock.ts";
import { Lifecycle } from "../../src/http/lifecycle.ts";
import { startServer, stopOnSignals } from "../../src/http/server.ts";
import { createLogger } from "../../src/log.ts";
import { findDialect } from "../../src/output/parser_names.ts";
import { ServedModels } from "../../src/route/models.ts";
import { Records } from "../../src/trace/records.ts";
import { FAKE_CONTEXT_TOKENS, openFake } from "./fake_engine.ts";

const config = loadConfig({ port: "0" }, {});
const log = createLogger({ level: config.logLevel });
const { engine, handle, info, text } = await openFake();
const models = new ServedModels();
const model = models.add("bytes", SYSTEM_CLOCK.epochSeconds());
model.status = {
  state: "ready",
  loaded: {
    handle,
    info,
    text,
    sampling: {},
    templateArguments: {},
    dialect: findDialect(),
    contextTokens: FAKE_CONTEXT_TOKENS,
  },
};
const [activity, lifecycle] = [new Activity(SYSTEM_CLOCK), new Lifecycle()];
const grammars = new GrammarWorker();
const parts = {
  config,
  engine,
  models,
  grammars,
  activity,
  lifecycle,
  clock: SYSTEM_CLOCK,
  log,
  records: new Records(),
  seal: new Seal(),
};
const app = createApp({ ...parts, version: "bench" });
const server = await startServer({ config, app, activity, lifecycle, clock: SYSTEM_CLOCK, log });
print(`  base URL  ${server.url}/v1`);
await stopOnSignals(server);
await engine.close();
Deno.exit(0);
