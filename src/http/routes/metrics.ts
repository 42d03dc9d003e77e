/**
 * GET /metrics: Prometheus text, version 0.0.4.
 *
 * Names are Rapid-MLX's where the meaning is the same (`metal_*` counts what MLX holds on any device). A family without
 * a meaning here is not there.
 *
 * @module
 */
import type { HistogramSnapshot } from "../../engine/stats.ts";
import type { Records } from "../../trace/records.ts";
import type { AppContext, AppDependencies } from "../app_context.ts";

const PREFIX = "rapid_mlx_";

type Labels = Readonly<Record<string, string>>;

/** One family: its lines are written in one go. */
interface Family {
  name: string;
  type: "counter" | "gauge";
  help: string;
  samples: readonly { labels?: Labels; value: number }[];
}

/** The families. */
export function showMetrics(_context: AppContext, dependencies: AppDependencies): Response {
  const { engine } = dependencies;
  const { pump } = engine.stats();
  const text = [
    ...toFamilies(dependencies).map(toText),
    toHistogram("model_ttft_seconds", "Submit to first token.", pump.firstToken),
    toHistogram("model_inter_token_seconds", "Mean time between the tokens of an answer.", pump.betweenTokens),
  ].join("");
  return new Response(text, { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });
}

function toFamilies({ engine, activity, clock, models, records, version }: AppDependencies): Family[] {
  const stats = engine.stats();
  const { core, mlx, platform } = engine.version;
  const { counts } = activity;
  const gauge = (name: string, help: string, value: number): Family => (
    { name, type: "gauge", help, samples: [{ value }] }
  );
  const counter = (name: string, help: string, value: number): Family => (
    { name: `${name}_total`, type: "counter", help, samples: [{ value }] }
  );
  return [
    { ...gauge("build_info", "Versions.", 1), samples: [{ labels: { version, core, mlx, platform }, value: 1 }] },
    gauge("uptime_seconds", "Since the start.", (clock.nowMs() - activity.startedMs) / 1000),
    gauge("requests_running", "Requests of the core that hold a sequence.", stats.running),
    gauge("requests_waiting", "Requests of the core in the queue.", stats.waiting),
    counter("steps_executed", "Steps of the core.", stats.steps),
    counter("requests_processed", "Requests answered whole.", counts.completed),
    counter("requests_failed", "Requests that broke while they were answered.", counts.failed),
    counter("requests_cancelled", "Requests ended by their client or by the shutdown.", counts.left + counts.cancelled),
    counter("requests_cancelled_via_disconnect", "Requests whose client left.", counts.left),
    counter("prompt_tokens", "Tokens of prompts.", activity.promptTokens),
    counter("completion_tokens", "Tokens drawn.", activity.completionTokens),
    counter("prefix_cache_tokens_saved", "Tokens of prompts taken from the cache.", activity.cachedTokens),
    counter("prefill_tokens", "Tokens of prompts run by the core.", stats.prefillTokens),
    counter("step_seconds", "Time inside steps.", stats.stepUs / 1e6),
    gauge("kv_bytes", "Live KV of all sequences.", stats.kvBytes),
    gauge("metal_active_memory_bytes", "Bytes that MLX holds.", stats.activeMemoryBytes),
    gauge("metal_peak_memory_bytes", "High-water mark of the same.", stats.peakMemoryBytes),
    gauge("metal_cache_memory_bytes", "Freed buffers that MLX keeps.", stats.cacheMemoryBytes),
    gauge("open_handles", "Handles of the core that are not yet freed.", stats.openHandles),
    counter("pump_batches", "Batches of events taken from the core.", stats.pump.batches),
    counter("pump_events", "Events taken from the core.", stats.pump.events),
    counter("pump_dropped_events", "Events that nobody waited for; more than 0 is a bug.", stats.pump.droppedEvents),
    ...toAnswerFamilies(records),
    {
      name: "model_loaded",
      type: "gauge",
      help: "1 for a model that can answer.",
      samples: models.list().map(({ id, status }) => (
        { labels: { model: id }, value: status.state === "ready" ? 1 : 0 }
      )),
    },
    {
      name: "http_responses_total",
      type: "counter",
      help: "Responses by route and status.",
      samples: [...activity.responses].map(([key, value]) => {
        const [route = "", status = ""] = key.split(" ");
        return { labels: { route, status }, value };
      }),
    },
  ];
}

/** What the decoders did. */
function toAnswerFamilies({ lostCharacters, repairs }: Records): Family[] {
  return [
    {
      name: "lost_characters_total",
      type: "counter",
      help: "Characters of answers that nothing accounts for; more than 0 is a bug.",
      samples: [{ value: lostCharacters }],
    },
    {
      name: "repairs_total",
      type: "counter",
      help: "Repairs of answers by name.",
      samples: [...repairs].map(([name, value]) => ({ labels: { name }, value })),
    },
  ];
}

function toText({ name, type, help, samples }: Family): string {
  const lines = samples.map(({ labels, value }) => `${PREFIX}${name}${toLabels(labels ?? {})} ${value}\n`);
  return `# HELP ${PREFIX}${name} ${help}\n# TYPE ${PREFIX}${name} ${type}\n${lines.join("")}`;
}

function toHistogram(name: string, help: string, snapshot: HistogramSnapshot): string {
  const { boundsSeconds, cumulativeCounts, sumSeconds } = snapshot;
  const count = cumulativeCounts.at(-1) ?? 0;
  const buckets = cumulativeCounts.map((value, index) => (
    `${PREFIX}${name}_bucket{le="${boundsSeconds[index] ?? "+Inf"}"} ${value}\n`
  ));
  return `# HELP ${PREFIX}${name} ${help}\n# TYPE ${PREFIX}${name} histogram\n${buckets.join("")}` +
    `${PREFIX}${name}_sum ${sumSeconds}\n${PREFIX}${name}_count ${count}\n`;
}

function toLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${toEscaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function toEscaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
