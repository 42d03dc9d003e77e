// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * GET /v1/status.
 *
 * @module
 */
import type { RequestStatus, ServerStatus } from "../../api/status.ts";
import type { FinishedRequest, LiveRequest } from "../activity.ts";
import type { AppContext, AppDependencies } from "../app_context.ts";

/** What the server is doing. */
export function showStatus(context: AppContext, dependencies: AppDependencies): Response {
  const { engine, activity, clock, models } = dependencies;
  const stats = engine.stats();
  const device = engine.deviceInfo();
  const body: ServerStatus = {
    status: toServerState(dependencies, stats.running + stats.waiting > 0),
    model: models.list()[0]?.id ?? null,
    uptime_s: toSeconds(clock.nowMs() - activity.startedMs),
    exactness: stats.exactness,
    steps_executed: stats.steps,
    num_running: stats.running,
    num_waiting: stats.waiting,
    total_requests_processed: activity.counts.completed,
    total_prompt_tokens: activity.promptTokens,
    total_completion_tokens: activity.completionTokens,
    total_cached_tokens: activity.cachedTokens,
    ...toSpeeds(activity.recent()),
    memory: {
      active_bytes: stats.activeMemoryBytes,
      peak_bytes: stats.peakMemoryBytes,
      cache_bytes: stats.cacheMemoryBytes,
      kv_bytes: stats.kvBytes,
    },
    device: { kind: device.device, name: device.name, threads: device.threads, cpu_variant: device.cpuVariant },
    requests: activity.live().map((live) => toLiveStatus(live, clock.nowMs())),
    recent: activity.recent().map((finished) => (
      { ...toRequest(finished.live, finished.elapsedMs), status: finished.outcome }
    )),
  };
  return context.json(body);
}

function toServerState({ lifecycle, models }: AppDependencies, busy: boolean): ServerStatus["status"] {
  if (lifecycle.draining) return "draining";
  const state = models.list()[0]?.status.state;
  if (state === "loading") return "loading";
  if (state !== "ready") return "not_loaded";
  return busy ? "generating" : "idle";
}

function toLiveStatus(live: LiveRequest, nowMs: number): RequestStatus {
  const { phase } = live;
  const status = phase === "queued" ? "waiting" : "running";
  return { ...toRequest(live, nowMs - live.start.arrivedMs), status, phase };
}

function toRequest(live: LiveRequest, elapsedMs: number): Omit<RequestStatus, "status" | "phase"> {
  const { start, firstTokenMs, completionTokens } = live;
  const decodeMs = firstTokenMs === undefined ? 0 : elapsedMs - firstTokenMs;
  return {
    request_id: start.id,
    model: start.model,
    elapsed_s: toSeconds(elapsedMs),
    prompt_tokens: start.promptTokens,
    completion_tokens: completionTokens,
    max_tokens: start.maxTokens,
    progress: Math.min(1, completionTokens / Math.max(1, start.maxTokens * start.seeds.length)),
    ttft_s: firstTokenMs === undefined ? null : toSeconds(firstTokenMs),
    tokens_per_second: completionTokens > 1 && decodeMs > 0 ? (completionTokens - 1) / (decodeMs / 1000) : null,
    cached_tokens: live.cachedTokens,
    seeds: start.seeds.map(String),
  };
}

/** Means over the requests that /v1/status still shows; times are the core's own. */
function toSpeeds(recent: readonly FinishedRequest[]): Pick<ServerStatus, "generation_tps" | "prompt_tps"> {
  let decoded = 0, decodeUs = 0, prefilled = 0, prefillUs = 0;
  for (const { live, outcome } of recent) {
    if (outcome !== "completed") continue;
    decoded += live.completionTokens - live.start.seeds.length;
    decodeUs += live.usage.decodeUs;
    prefilled += live.doneTokens - live.usage.cachedTokens;
    prefillUs += live.usage.prefillUs;
  }
  return {
    generation_tps: decodeUs > 0 ? decoded / (decodeUs / 1e6) : null,
    prompt_tps: prefillUs > 0 ? prefilled / (prefillUs / 1e6) : null,
  };
}

function toSeconds(ms: number): number {
  return Math.round(ms) / 1000;
}
