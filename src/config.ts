/**
 * Flags and environment, read once into one frozen Config.
 *
 * `SERVE_FLAGS` is the list of the flags of `serve`; the command line builds its options from it, and each flag has a
 * twin `RAPID_MLX_<FLAG>`. A flag wins over its twin, the twin over the default. A value that can't be used, or a flag
 * whose feature does not exist yet, is a ConfigError: nothing is accepted and ignored.
 *
 * @module
 */
import { z } from "zod";
import type { LogLevel } from "./log.ts";

/** A setting that can't be used. The message names the flag or variable, what was found and what is wanted. */
export class ConfigError extends Error {
  /** @param message Names the flag or variable, what was found, what is wanted. */
  constructor(message: string) {
    super(message);
    this.name = "ConfigError";
  }
}

/** Everything that `serve` can be told, checked. Frozen; absent fields mean "the core or the server chooses". */
export interface Config {
  /** Served id, Hugging Face id or directory; absent: the embedded model. */
  readonly model?: string;
  /** Script that answers instead of a model. */
  readonly fakeScriptPath?: string;
  /** Interface to listen on. */
  readonly host: string;
  /** Absent: the first free one of PORT_FIRST to PORT_LAST. 0: any free one. */
  readonly port?: number;
  /** Bearer token and x-api-key that every request must show; absent: none. */
  readonly apiKey?: string;
  /** Host names accepted beside loopback and the bound address; lower case, without port. */
  readonly allowHosts: readonly string[];
  /** Origins (`https://app.example`, or `*`) that browsers may call from. */
  readonly allowOrigins: readonly string[];
  /** Largest request body. */
  readonly maxBodyBytes: number;
  /** Silence of a client that is sending a body. */
  readonly bodyTimeoutMs: number;
  /** Longest wait for running requests after SIGTERM. */
  readonly drainMs: number;
  /** Requests that may run at once. */
  readonly maxRequests?: number;
  /** Requests that may wait. */
  readonly maxQueue?: number;
  /** Cap under the checkpoint's own context, in tokens. */
  readonly maxContextTokens?: number;
  /** Budget of the core. */
  readonly memoryBytes?: number;
  /** CPU threads of the core. */
  readonly threads?: number;
  /** Rounding of activations and KV on the CPU. */
  readonly cpuArithmetic?: "exact" | "fast";
  /** When a stream sends a call's arguments: once it is whole, or as they are decoded. */
  readonly toolArguments: "whole" | "live";
  /** Answers of the Responses wire are kept on disk, and not in memory. */
  readonly keepsContent: boolean;
  /** `/v1/requests` keeps prompts, tokens and answers. */
  readonly recordsContent: boolean;
  /** File that gets a line with content for every request. */
  readonly tracePath?: string;
  /** Largest size of that file; as much is kept of the one before. */
  readonly traceBytes: number;
  /** Least level that is logged. */
  readonly logLevel: LogLevel;
  /** `RAPID_MLX_*` variables that no flag has: shown once at start, since a misspelt one would do nothing. */
  readonly unknownVariables: readonly string[];
}

/** First port that is tried when none is given. */
export const PORT_FIRST = 8000;
/** Last port that is tried when none is given. */
export const PORT_LAST = 8009;

const GIB = 2 ** 30;
const PORT_MAX = 65_535;
const DEFAULT_BODY_BYTES = 8 * 2 ** 20; // 8 MiB, as Rapid-MLX 0.16
const BODY_BYTES_MAX = 64 * 2 ** 20; // what the text worker takes as one text
const DEFAULT_BODY_TIMEOUT_MS = 30_000;
const DEFAULT_DRAIN_SECONDS = 30;
const DEFAULT_TRACE_MB = 256;
const MB = 1_000_000;
const COUNT_MAX = 1_000_000;

/** One flag of `serve`. */
export interface ServeFlag {
  /** Without the dashes, e.g. `max-body-bytes`; the option key is its camelCase form. */
  readonly name: string;
  /** Placeholder of its value, e.g. `BYTES`; absent: a switch. */
  readonly value?: string;
  /** May be given more than once; its variable takes a comma-separated list. */
  readonly repeats?: true;
  /** One line for `--help`. */
  readonly help: string;
  /** Why it is refused; absent: it works. */
  readonly unavailable?: string;
}

const NOT_YET = "is not available yet in this version; leave it out";

/** The flags of `serve`, in the order of `--help`. */
export const SERVE_FLAGS: readonly ServeFlag[] = [
  { name: "host", value: "ADDRESS", help: "interface to listen on (127.0.0.1); another than loopback needs --api-key" },
  { name: "port", value: "PORT", help: `port (first free one of ${PORT_FIRST} to ${PORT_LAST})` },
  { name: "api-key", value: "KEY", help: "key that every request must show, as bearer token or x-api-key" },
  { name: "allow-host", value: "NAME", repeats: true, help: "Host name to accept beside loopback (repeatable)" },
  { name: "allow-origin", value: "ORIGIN", repeats: true, help: "browser origin to accept, or * (repeatable)" },
  { name: "max-body-bytes", value: "BYTES", help: `largest request body (${DEFAULT_BODY_BYTES})` },
  { name: "body-timeout-ms", value: "MS", help: `longest silence inside a body (${DEFAULT_BODY_TIMEOUT_MS})` },
  { name: "drain-seconds", value: "S", help: `wait for running requests at the end (${DEFAULT_DRAIN_SECONDS})` },
  { name: "max-requests", value: "N", help: "requests that run at once" },
  { name: "max-queue", value: "N", help: "requests that wait; more get 429" },
  { name: "max-context", value: "TOKENS", help: "cap under the model's own context" },
  { name: "memory-gb", value: "GB", help: "memory budget of weights, caches and work" },
  { name: "threads", value: "N", help: "CPU threads" },
  { name: "cpu-arithmetic", value: "exact|fast", help: "rounding of activations and KV on the CPU (fast)" },
  { name: "fake", value: "SCRIPT.json", help: "play written answers instead of a model's (docs/FAKE.md)" },
  {
    name: "tool-arguments",
    value: "whole|live",
    help:
      "when a stream sends a call (whole); live: as it is written, and a cut one's part is out, with finish `length`",
  },
  { name: "log-level", value: "LEVEL", help: "trace, debug, info, warning or error (info); trace shows prompts" },
  { name: "keep-content", help: "keep answers of /v1/responses on disk, so that they outlive the server" },
  { name: "record-content", help: "keep prompts and answers of the last requests for explain and /v1/requests" },
  { name: "trace", value: "FILE", help: "write every request with prompt and answer to FILE, for replay" },
  {
    name: "trace-mb",
    value: "MB",
    help: `largest size of that file; the one before is kept too (${DEFAULT_TRACE_MB})`,
  },
  { name: "kv-dtype", value: "DTYPE", help: "dtype of the KV cache", unavailable: NOT_YET },
  { name: "disk-cache-gb", value: "GB", help: "KV cache on disk", unavailable: NOT_YET },
  { name: "no-disk-cache", help: "no KV cache on disk (there is none yet)" },
  { name: "decode-stall-target-ms", value: "MS", help: "longest pause in a running answer", unavailable: NOT_YET },
];

/** What the environment is read as: `Deno.env.toObject()`. */
export type Environment = Readonly<Record<string, string | undefined>>;

const port = z.coerce.number().int().min(0).max(PORT_MAX);
const count = z.coerce.number().int().min(1).max(COUNT_MAX);
const apiKey = z.string().regex(/^[\x21-\x7e]{1,512}$/, "1 to 512 printable ASCII characters without blanks");
const hostName = z.string().toLowerCase().regex(/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)$/, "a host name without port");
const origin = z.string().refine((text) => text === "*" || isOrigin(text), "an origin like https://app.example, or *");

const values = z.object({
  host: z.string().regex(/^[A-Za-z0-9.:_-]+$/, "an address or host name").default("127.0.0.1"),
  port: port.optional(),
  apiKey: apiKey.optional(),
  allowHost: z.array(hostName).default([]),
  allowOrigin: z.array(origin).default([]),
  maxBodyBytes: z.coerce.number().int().min(1024).max(BODY_BYTES_MAX).default(DEFAULT_BODY_BYTES),
  bodyTimeoutMs: z.coerce.number().int().min(100).max(3_600_000).default(DEFAULT_BODY_TIMEOUT_MS),
  drainSeconds: z.coerce.number().min(0).max(3600).default(DEFAULT_DRAIN_SECONDS),
  maxRequests: count.optional(),
  maxQueue: z.coerce.number().int().min(0).max(COUNT_MAX).optional(),
  maxContext: z.coerce.number().int().min(1).max(2 ** 31 - 1).optional(),
  memoryGb: z.coerce.number().gt(0).max(65_536).optional(),
  threads: z.coerce.number().int().min(1).max(1024).optional(),
  fake: z.string().optional(),
  toolArguments: z.enum(["whole", "live"]).default("whole"),
  keepContent: z.boolean().default(false),
  recordContent: z.boolean().default(false),
  trace: z.string().optional(),
  traceMb: z.coerce.number().min(1).max(1_000_000).default(DEFAULT_TRACE_MB),
  cpuArithmetic: z.enum(["exact", "fast"]).optional(),
  logLevel: z.enum(["trace", "debug", "info", "warning", "error"]).default("info"),
});

/**
 * Reads flags and environment into a Config.
 *
 * @param flags By option key (`maxBodyBytes`), as the command line parsed them; undefined ones count as not given.
 * @param environment Variables of the process.
 * @param model The positional argument of `serve`; its twin is `RAPID_MLX_MODEL`.
 * @throws {ConfigError} If a value can't be used, or if it would open the server to others without a key.
 */
export function loadConfig(flags: Readonly<Record<string, unknown>>, environment: Environment, model?: string): Config {
  const { given, sources } = collect(flags, environment);
  const parsed = values.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const key = String(issue?.path[0] ?? "");
    throw new ConfigError(`Cannot use ${sources.get(key) ?? key}: ${issue?.message ?? "unusable value"}.`);
  }
  const { host, maxBodyBytes, bodyTimeoutMs, logLevel, allowHost, allowOrigin, drainSeconds } = parsed.data;
  const { fake: fakeScriptPath, port, apiKey, maxRequests, maxQueue, maxContext, memoryGb, threads, cpuArithmetic } =
    parsed.data;
  if (!isLoopback(host) && apiKey === undefined) {
    throw new ConfigError(
      `Refusing to listen on ${host} without a key: others could use this server. Give --api-key KEY ` +
        "(or RAPID_MLX_API_KEY), or listen on 127.0.0.1.",
    );
  }
  if (fakeScriptPath !== undefined && model !== undefined) {
    throw new ConfigError(`Cannot serve ${model} with --fake: the script names the model; leave one of the two out.`);
  }
  const memoryBytes = memoryGb === undefined ? undefined : Math.round(memoryGb * GIB);
  const chosen = {
    model: model ?? environment.RAPID_MLX_MODEL,
    port,
    apiKey,
    maxContextTokens: maxContext,
    fakeScriptPath,
    tracePath: parsed.data.trace,
  };
  return Object.freeze({
    host,
    maxBodyBytes,
    bodyTimeoutMs,
    logLevel,
    allowHosts: Object.freeze(allowHost),
    allowOrigins: Object.freeze(allowOrigin),
    drainMs: Math.round(drainSeconds * 1000),
    toolArguments: parsed.data.toolArguments,
    keepsContent: parsed.data.keepContent,
    recordsContent: parsed.data.recordContent,
    traceBytes: Math.round(parsed.data.traceMb * MB),
    unknownVariables: Object.freeze(findUnknownVariables(environment)),
    ...withoutUndefined({ ...chosen, maxRequests, maxQueue, memoryBytes, threads, cpuArithmetic }),
  });
}

/** True for addresses that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** `max-body-bytes` → `maxBodyBytes`; `no-disk-cache` → `noDiskCache`. */
export function toOptionKey(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** `max-body-bytes` → `RAPID_MLX_MAX_BODY_BYTES`. */
export function toVariable(name: string): string {
  return `RAPID_MLX_${name.replaceAll("-", "_").toUpperCase()}`;
}

function collect(
  flags: Readonly<Record<string, unknown>>,
  environment: Environment,
): { given: Record<string, unknown>; sources: Map<string, string> } {
  const given: Record<string, unknown> = {};
  const sources = new Map<string, string>();
  for (const flag of SERVE_FLAGS) {
    const key = toOptionKey(flag.name);
    const variable = toVariable(flag.name);
    const fromFlag = flags[key];
    const source = fromFlag === undefined ? variable : `--${flag.name}`;
    const value = fromFlag ?? fromVariable(flag, environment[variable], variable);
    if (value === undefined || value === false) continue;
    if (flag.unavailable !== undefined) throw new ConfigError(`${source} ${flag.unavailable}.`);
    if (value === "") throw new ConfigError(`${source} is empty: give it a value or leave it out.`);
    given[key] = flag.repeats && !Array.isArray(value) ? [value] : value;
    sources.set(key, source);
  }
  return { given, sources };
}

function fromVariable(flag: ServeFlag, text: string | undefined, variable: string): unknown {
  if (text === undefined) return undefined;
  if (flag.repeats) return text.split(",").map((item) => item.trim()).filter((item) => item !== "");
  if (flag.value !== undefined) return text;
  if (["1", "true", "yes"].includes(text.toLowerCase())) return true;
  if (["0", "false", "no"].includes(text.toLowerCase())) return false;
  throw new ConfigError(`Cannot use ${variable}: found ${JSON.stringify(text)}, wanted 1 or 0.`);
}

function findUnknownVariables(environment: Environment): string[] {
  const known = new Set(["RAPID_MLX_MODEL", ...SERVE_FLAGS.map((flag) => toVariable(flag.name))]);
  return Object.keys(environment).filter((name) => name.startsWith("RAPID_MLX_") && !known.has(name)).sort();
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

function withoutUndefined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
