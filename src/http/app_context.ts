/**
 * What handlers are given: the parts of the server, and what is known of the request at hand.
 *
 * @module
 */
import type { Context } from "hono";
import type { Seal } from "../api/seal.ts";
import type { Config } from "../config.ts";
import type { Engine, EngineSnapshot } from "../engine/engine.ts";
import type { GrammarWorker } from "../guide/grammar_worker.ts";
import type { Logger } from "../log.ts";
import type { Generator } from "../route/answer.ts";
import type { KeptTurns } from "../route/kept/store.ts";
import type { ServedModels } from "../route/models.ts";
import type { Script } from "../route/script.ts";
import type { ResponseStore } from "../store/responses.ts";
import type { RequestRecorder } from "../trace/recorder.ts";
import type { Records } from "../trace/records.ts";
import type { Activity } from "./activity.ts";
import type { Clock } from "./clock.ts";
import type { Plan } from "./generate.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** What the edge needs of the engine. */
export type EdgeEngine = Generator & Pick<Engine, "deviceInfo" | "version"> & { stats(): EngineSnapshot };

/** What the edge needs of the store of answers. */
export type KeptResponses = Pick<ResponseStore, "put" | "get" | "chain" | "item" | "delete">;

/** The parts that the app is made of; all are made elsewhere. */
export interface AppDependencies {
  /** Limits, key, hosts, origins. */
  config: Config;
  /** Makes tokens. */
  engine: EdgeEngine;
  /** Who answers. */
  models: ServedModels;
  /** Keeps answers to what they are bound to. */
  grammars: GrammarWorker;
  /** Keeps the books. */
  activity: Activity;
  /** Serving or draining. */
  lifecycle: Lifecycle;
  /** Time. */
  clock: Clock;
  /** Where lines go. */
  log: Logger;
  /** Version of this server. */
  version: string;
  /** What happened to the last requests. */
  records: Records;
  /** Signs and seals what clients keep for this server. */
  seal: Seal;
  /** Answers that clients may refer to. */
  responses: KeptResponses;
  /** Turns that were answered lately, to be rendered as they were written. */
  turns: KeptTurns;
  /** Answers that are written down; absent: the model makes them. */
  script?: Script;
}

/** Hono's types of this app. */
export interface AppEnvironment {
  /** Given by the listener; absent when a test calls the app directly. */
  Bindings: { remote?: string };
  /** Set by the outermost middleware. */
  Variables: {
    /** Hex digits: part of every id of this request. */
    requestKey: string;
    /** Carries the request's id. */
    log: Logger;
    /** When it arrived; of the app's clock. */
    arrivedMs: number;
    /** Watches it, if its route makes answers. */
    record?: RequestRecorder;
  };
}

/** One request. */
export type AppContext = Context<AppEnvironment>;

/** Answers one request. */
export type Handler = (context: AppContext, dependencies: AppDependencies) => Response | Promise<Response>;

/** Who asks, for the fairness between clients: the connection, as `address:port`. */
export function toRemote(context: AppContext): string {
  return context.env?.remote ?? "local";
}

/** What a plan has of its request as such. */
export function toPlanStart(
  context: AppContext,
  clock: Clock,
): Pick<Plan, "requestId" | "arrivedMs" | "prepareMs" | "clientSignal" | "log"> {
  const arrivedMs = context.get("arrivedMs");
  return {
    requestId: `req-${context.get("requestKey")}`,
    arrivedMs,
    prepareMs: clock.nowMs() - arrivedMs,
    clientSignal: context.req.raw.signal,
    log: context.get("log"),
  };
}
