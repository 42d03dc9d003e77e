/**
 * The server of `serve --fake`: everything above the core is real, and the core plays a script. Nothing is built,
 * fetched or loaded for it.
 *
 * @module
 */
import type { Config } from "../config.ts";
import { Engine } from "../engine/engine.ts";
import { openFakeModel } from "../fake/open.ts";
import { readScript } from "../fake/script.ts";
import { createApp } from "../http/app.ts";
import { toParts } from "../http/app_parts.ts";
import { SYSTEM_CLOCK } from "../http/clock.ts";
import type { Logger } from "../log.ts";
import type { Profiles } from "../profiles/store.ts";
import { ServedModels } from "../route/models.ts";
import type { OpenTrace } from "./open_trace.ts";
import { findModel } from "./find_model.ts";
import { type OpenServer, toEngineConfig } from "./open_server.ts";
import { VERSION } from "./version.ts";

/** What a scripted server is opened with. */
export interface FakeServerRequest {
  /** Flags and environment. */
  readonly config: Config;
  /** The script. */
  readonly scriptPath: string;
  /** For the profile that a script names. */
  readonly profiles: Profiles;
  /** Where lines go. */
  readonly log: Logger;
  /** What happened to requests; closed with the server. */
  readonly trace: OpenTrace;
}

/** Flags that set what only a core has. */
const UNUSED_FLAGS = [
  { key: "threads", name: "threads" },
  { key: "cpuArithmetic", name: "cpu-arithmetic" },
  { key: "memoryBytes", name: "memory-gb" },
  { key: "maxContextTokens", name: "max-context" },
] as const satisfies readonly { key: keyof Config; name: string }[];

/** Opens one. @throws {ScriptError} If the script can't be used. */
export async function openFakeServer(
  { config, scriptPath, profiles, log, trace }: FakeServerRequest,
): Promise<OpenServer> {
  const file = await readScript(scriptPath);
  if (config.model !== undefined) {
    // A flag would have been refused: this comes from the environment, which may be meant for other runs.
    log.log("warning", "RAPID_MLX_MODEL is not used: the script names the model", { model: config.model });
  }
  for (const flag of UNUSED_FLAGS.filter(({ key }) => config[key] !== undefined)) {
    log.log("warning", `--${flag.name} is not used: a script has no core`, { value: config[flag.key] });
  }
  const findFolder = async (name: string | undefined): Promise<string | undefined> =>
    (await findModel(name, profiles))?.directory;
  const fake = await openFakeModel({ file, name: scriptPath, profiles, findFolder, config: toEngineConfig(config) });
  const engine = new Engine(fake.core, { log: (level, line) => log.log(level, line, { from: "core" }) });
  const [models, clock] = [new ServedModels(), SYSTEM_CLOCK];
  const model = models.add(file.model, clock.epochSeconds());
  const { records, responses, seal } = trace;
  const parts = toParts({ config, engine, models, clock, log, records, responses, seal, version: VERSION });
  const { activity, grammars, lifecycle } = parts;
  const load = async (): Promise<void> => {
    const handle = await engine.loadModel(file.model, {});
    model.status = { state: "ready", loaded: { ...fake.model, handle, info: engine.modelInfo(handle) } };
    log.log("info", "scripted", { script: scriptPath, replies: file.replies.length, tokens: fake.cutBy });
  };
  const close = async (): Promise<void> => {
    await engine.close();
    await trace.close();
    grammars.close();
    await fake.model.text.close();
  };
  return {
    app: createApp({ ...parts, script: fake.player }),
    activity,
    lifecycle,
    clock,
    model,
    load,
    [Symbol.asyncDispose]: close,
  };
}
