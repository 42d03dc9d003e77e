// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Probes: is the process alive, can it answer. Constant cost, no key.
 *
 * @module
 */
import type { AppContext, AppDependencies } from "../app_context.ts";
import { LOADING_RETRY_SECONDS } from "../errors.ts";

/** The process runs. */
export function live(context: AppContext): Response {
  return context.json({ status: "alive" });
}

/** The same for those who look at the root. */
export function root(context: AppContext): Response {
  return context.json({ status: "ok" });
}

/** What Claude Code asks for before its first request, to see whether anybody is there. */
export function hello(context: AppContext): Response {
  return context.json({ message: "hello" });
}

/** 200 once the default model answers, 503 before and while draining. */
export function ready(context: AppContext, dependencies: AppDependencies): Response {
  const { state, model, isReady } = readState(dependencies);
  if (isReady) return context.json({ ready: true, model, state });
  const headers: Record<string, string> = state === "loading" ? { "retry-after": String(LOADING_RETRY_SECONDS) } : {};
  return context.json({ ready: false, model, state, message: toMessage(state) }, 503, headers);
}

/** The short view: 200 while it serves, also while it loads; 503 while draining or after a failed load. */
export function healthz(context: AppContext, dependencies: AppDependencies): Response {
  const { state, model, isReady } = readState(dependencies);
  const status = state === "draining" ? "draining" : state === "failed" ? "unhealthy" : "healthy";
  const body = { status, ready: isReady, model_loaded: isReady, model_name: model };
  return context.json(body, status === "healthy" ? 200 : 503);
}

/** The long view. */
export function health(context: AppContext, dependencies: AppDependencies): Response {
  const { state, model, isReady } = readState(dependencies);
  const status = state === "draining" ? "draining" : state === "failed" ? "unhealthy" : "healthy";
  const body = {
    status,
    ready: isReady,
    state,
    model_loaded: isReady,
    model_name: model,
    model_type: "llm",
    engine_type: dependencies.engine.version.platform,
    version: dependencies.version,
    mcp: null,
  };
  return context.json(body, status === "healthy" ? 200 : 503);
}

interface State {
  state: "loading" | "ready" | "failed" | "draining";
  model: string | null;
  isReady: boolean;
}

function readState({ models, lifecycle }: AppDependencies): State {
  const [model] = models.list();
  const state = lifecycle.draining ? "draining" : model?.status.state ?? "loading";
  return { state, model: model?.id ?? null, isReady: state === "ready" };
}

function toMessage(state: State["state"]): string {
  switch (state) {
    case "loading":
      return "model loading";
    case "draining":
      return "the server is shutting down";
    case "failed":
      return "the model could not be loaded";
    case "ready":
      return "ready";
  }
}
