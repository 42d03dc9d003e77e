// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * GET /v1/status: what the server is doing, in one look.
 *
 * Field names are Rapid-MLX's where the meaning is the same; counters that would have none here are left out.
 *
 * @module
 */

/** A request in the status. */
export interface RequestStatus {
  /** e.g. `chatcmpl-…`. */
  request_id: string;
  /** Served id. */
  model: string;
  /** How far it is, or how it ended. */
  status: "waiting" | "running" | "completed" | "failed" | "left" | "cancelled";
  /** What it is doing; absent once it has ended. */
  phase?: "queued" | "prefill" | "generation";
  /** Since its arrival, until now or its end. */
  elapsed_s: number;
  /** Over all prompts. */
  prompt_tokens: number;
  /** Over all choices. */
  completion_tokens: number;
  /** Of each choice. */
  max_tokens: number;
  /** Drawn of what may be drawn, 0 to 1. */
  progress: number;
  /** From arrival to first token; null before it. */
  ttft_s: number | null;
  /** Mean since the first token; null before the second. */
  tokens_per_second: number | null;
  /** Of prompt_tokens, taken from the cache; 0 until it ends. */
  cached_tokens: number;
  /** One a choice, as decimal digits: a request with this seed repeats the answer. */
  seeds: string[];
}

/** The body of the status. */
export interface ServerStatus {
  /** What the default model does. */
  status: "generating" | "idle" | "loading" | "not_loaded" | "draining";
  /** Served id of the default model. */
  model: string | null;
  /** Since the start. */
  uptime_s: number;
  /** What holds of the exactness contract: see docs/design. */
  exactness: "full" | "window" | "none";
  /** Steps of the core. */
  steps_executed: number;
  /** Requests of the core that hold a sequence. */
  num_running: number;
  /** Requests of the core in the queue. */
  num_waiting: number;
  /** Requests answered. */
  total_requests_processed: number;
  /** Their prompts. */
  total_prompt_tokens: number;
  /** Their answers. */
  total_completion_tokens: number;
  /** Of total_prompt_tokens, taken from the cache. */
  total_cached_tokens: number;
  /** Mean decode speed of one answer over the last ones; null before the first. */
  generation_tps: number | null;
  /** Mean prefill speed of one prompt over the last ones; null before the first. */
  prompt_tps: number | null;
  /** Bytes. */
  memory: {
    /** Held by MLX. */
    active_bytes: number;
    /** High-water mark. */
    peak_bytes: number;
    /** Freed buffers that MLX keeps. */
    cache_bytes: number;
    /** Live KV of all sequences. */
    kv_bytes: number;
  };
  /** What runs the steps. */
  device: { kind: "cpu" | "gpu"; name: string; threads: number; cpu_variant: string };
  /** Being answered, oldest first. */
  requests: RequestStatus[];
  /** The last that ended, newest first. */
  recent: RequestStatus[];
}
