/**
 * A listening server that plays a script, and the `openai` client of it. No tokenizer is read: texts are cut simply.
 *
 * @module
 */
import OpenAI from "openai";
import { loadConfig } from "../../src/config.ts";
import { Engine } from "../../src/engine/engine.ts";
import { openFakeModel } from "../../src/fake/open.ts";
import { parseScript } from "../../src/fake/script.ts";
import { createApp } from "../../src/http/app.ts";
import { toParts } from "../../src/http/app_parts.ts";
import { SYSTEM_CLOCK } from "../../src/http/clock.ts";
import { startServer } from "../../src/http/server.ts";
import { createLogger } from "../../src/log.ts";
import { loadProfiles } from "../../src/profiles/store.ts";
import { ResponseStore } from "../../src/store/responses.ts";
import { Records } from "../../src/trace/records.ts";
import { ServedModels } from "../../src/route/models.ts";

/** A server of one test. */
export interface ScriptedServer extends AsyncDisposable {
  /** Asks it. */
  client: OpenAI;
  /** Without `/v1`. */
  url: string;
  /** Body of `/debug/fake`. */
  // deno-lint-ignore no-explicit-any -- a test reads what it expects
  asked(): Promise<any[]>;
}

/**
 * Starts one.
 *
 * @param script As the file has it; the model is `scripted` unless it says otherwise.
 * @param flags Of `serve`.
 */
export async function serveScript(
  script: Record<string, unknown>,
  flags: Record<string, unknown> = {},
): Promise<ScriptedServer> {
  const file = parseScript(JSON.stringify({ model: "scripted", ...script }), "script.json");
  const profiles = await loadProfiles();
  const findFolder = (): Promise<undefined> => Promise.resolve(undefined);
  const fake = await openFakeModel({ file, name: "script.json", profiles, findFolder, config: {} });
  const engine = new Engine(fake.core);
  const handle = await engine.loadModel(file.model, {});
  const models = new ServedModels();
  const model = models.add(file.model, 1_700_000_000);
  model.status = { state: "ready", loaded: { ...fake.model, handle, info: engine.modelInfo(handle) } };
  const config = loadConfig({ port: 0, recordContent: true, ...flags }, {});
  const records = new Records({ recordsContent: true });
  const clock = SYSTEM_CLOCK;
  const log = createLogger({ level: "error", write: () => {} });
  const responses = new ResponseStore();
  const given = { config, engine, models, records, responses, clock, log, version: "0.0.0-test" };
  const parts = toParts({ ...given, script: fake.player });
  const running = await startServer({ ...parts, app: createApp(parts) });
  const client = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: "unused", maxRetries: 0 });
  return {
    client,
    url: running.url,
    asked: async () => (await (await fetch(`${running.url}/debug/fake`)).json()).requests,
    async [Symbol.asyncDispose](): Promise<void> {
      await running.stop();
      await engine.close();
      await fake.model.text.close();
      responses.close();
    },
  };
}
