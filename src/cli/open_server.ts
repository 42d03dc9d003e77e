/**
 * Puts the parts together: core, engine, served model, app. `serve` listens with it, `chat` asks it directly.
 *
 * @module
 */
import type { Hono } from "hono";
import type { Config } from "../config.ts";
import { Engine } from "../engine/engine.ts";
import type { EngineConfig } from "../ffi/core.ts";
import { openNativeCore } from "../ffi/native_core.ts";
import type { Activity } from "../http/activity.ts";
import { createApp } from "../http/app.ts";
import { toParts } from "../http/app_parts.ts";
import type { AppEnvironment } from "../http/app_context.ts";
import { type Clock, SYSTEM_CLOCK } from "../http/clock.ts";
import type { Lifecycle } from "../http/lifecycle.ts";
import type { Logger } from "../log.ts";
import { resolveProfile } from "../profiles/resolve.ts";
import { recommendSampling } from "../profiles/sampling.ts";
import type { Profiles } from "../profiles/store.ts";
import { openTextModel } from "../prompt/text_model.ts";
import type { TextWorker } from "../prompt/text_worker.ts";
import { loadServedModel } from "../route/load.ts";
import { type ServedModel, ServedModels } from "../route/models.ts";
import type { OpenTrace } from "./open_trace.ts";
import type { ModelPlace } from "./find_model.ts";
import { VERSION } from "./version.ts";

/** What a server is opened with. */
export interface ServerRequest {
  /** Flags and environment. */
  readonly config: Config;
  /** The core's library. */
  readonly libraryPath: string;
  /** What to serve. */
  readonly place: ModelPlace;
  /** How to talk with it. */
  readonly profiles: Profiles;
  /** Where lines go. */
  readonly log: Logger;
  /** What happened to requests; closed with the server. */
  readonly trace: OpenTrace;
  /** Reads the model's text and outlives the server; absent: one of its own. */
  readonly worker?: TextWorker;
}

/** Everything but the listener. */
export interface OpenServer extends AsyncDisposable {
  /** Answers requests; 503 until `load` has ended. */
  readonly app: Hono<AppEnvironment>;
  /** For the listener. */
  readonly activity: Activity;
  /** For the listener. */
  readonly lifecycle: Lifecycle;
  /** For the listener. */
  readonly clock: Clock;
  /** The model. */
  readonly model: ServedModel;
  /** Loads the model. @throws If it can't be loaded; nothing of it stays. */
  load(): Promise<void>;
}

/** Opens the parts. Nothing is loaded yet. @throws {CoreError} If the library or the limits can't be used. */
export function openServer(request: ServerRequest): OpenServer {
  const { config, libraryPath, place, profiles, log, trace, worker } = request;
  const core = openNativeCore(libraryPath, toEngineConfig(config));
  const engine = new Engine(core, { log: (level, line) => log.log(level, line, { from: "core" }) });
  const models = new ServedModels();
  const clock = SYSTEM_CLOCK;
  const model = models.add(place.id, clock.epochSeconds(), place.hfId);
  const { records, responses, seal } = trace;
  const parts = toParts({ config, engine, models, clock, log, records, responses, seal, version: VERSION });
  const { activity, grammars, lifecycle } = parts;
  const app = createApp(parts);
  const load = (): Promise<void> =>
    loadServedModel(model, {
      directory: place.directory,
      engine,
      openText: (directory) => openTextModel(directory, worker),
      ...config.maxContextTokens !== undefined && { modelConfig: { contextTokens: config.maxContextTokens } },
      profile: ({ modelType, chatTemplate, generationDefaults }) => {
        const known = {
          ...modelType !== undefined && { modelType },
          ...chatTemplate !== undefined && { chatTemplate },
        };
        const { line, dialect, reason } = resolveProfile(profiles, { name: place.hfId ?? place.id, ...known });
        log.log("info", "profile", { line: line.id, ...dialect, because: reason });
        return {
          sampling: recommendSampling(line, generationDefaults),
          templateArguments: line.prompt.arguments,
          dialect,
          ...line.tools.logit_bias !== undefined && { toolBias: line.tools.logit_bias },
          profile: { id: line.id, because: reason },
        };
      },
    });
  const close = async (): Promise<void> => {
    await engine.close();
    await trace.close();
    grammars.close();
    if (model.status.state === "ready") await model.status.loaded.text.close();
  };
  return { app, activity, lifecycle, clock, model, load, [Symbol.asyncDispose]: close };
}

/** Limits of the core, as the flags say. */
export function toEngineConfig(config: Config): EngineConfig {
  const { maxRequests, maxQueue, memoryBytes, threads, cpuArithmetic } = config;
  return {
    ...maxRequests !== undefined && { maxRequests },
    ...maxQueue !== undefined && { maxQueue },
    ...memoryBytes !== undefined && { memoryBytes },
    ...threads !== undefined && { threads },
    ...cpuArithmetic !== undefined && { cpuArithmetic },
  };
}
