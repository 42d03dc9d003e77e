// deno-lint-ignore-file camelcase -- the file's own names
/**
 * Codex (0.171.0 was run): Responses wire, `config.toml` with a provider, and a catalog file (codex_catalog.ts).
 *
 * It hears a stream as dead after 300 s without an event. A limit for compaction below its first prompt loops for ever,
 * so the limit leaves only the answer's room.
 *
 * @module
 */
import { join } from "node:path";
import {
  type Agent,
  type Edit,
  SILENCE_MS,
  type Target,
  toCompactTokens,
  toEdits,
  toOpenAiBase,
  type Value,
} from "../agent.ts";
import { toCatalog } from "./codex_catalog.ts";

const PROVIDER = "rapid-mlx";
const KEY_VARIABLE = "RAPID_MLX_API_KEY";
/** Below this the tools for agents of its own and for goals, two thirds of its first prompt, are left out. */
const ALL_TOOLS_TOKENS_MIN = 16_000;

/** Codex. */
export const codex: Agent = {
  id: "codex",
  title: "Codex",
  wire: "responses",
  program: "codex",
  install: "npm install -g @openai/codex",
  traces: ({ home, read }) => [read("CODEX_HOME") ?? join(home, ".codex")],
  files: (target, { home, read }) => {
    const folder = read("CODEX_HOME") ?? join(home, ".codex");
    const catalog = join(folder, "rapid-mlx-models.json");
    return [
      { kind: "whole", path: catalog, text: toCatalog(target) },
      { kind: "edits", path: join(folder, "config.toml"), format: "toml", edits: toSettings(target, catalog) },
    ];
  },
  launch: (target, folder) => ({
    environment: target.apiKey === undefined ? {} : { [KEY_VARIABLE]: target.apiKey },
    args: toSettings(target, join(folder, "models.json")).flatMap(({ path, value }) => [
      "-c",
      `${path.join(".")}=${JSON.stringify(value)}`, // JSON's texts, numbers and booleans are TOML's
    ]),
    files: { "models.json": toCatalog(target) },
  }),
  notes: ({ apiKey, contextTokens }) => [
    ...apiKey === undefined ? [] : [`Codex reads the key from ${KEY_VARIABLE}: set it in your shell.`],
    ...contextTokens < ALL_TOOLS_TOKENS_MIN
      ? [`The window of ${contextTokens} tokens is small: agents of its own and goals are switched off.`]
      : [],
  ],
};

function toSettings(target: Target, catalog: string): Edit[] {
  const provider: Record<string, Value> = {
    name: "Rapid-MLX",
    base_url: toOpenAiBase(target),
    wire_api: "responses",
    ...target.apiKey !== undefined && { env_key: KEY_VARIABLE },
    stream_idle_timeout_ms: SILENCE_MS,
  };
  return [
    ...toEdits([], {
      model: target.model,
      model_provider: PROVIDER,
      model_catalog_json: catalog,
      model_context_window: target.contextTokens,
      model_auto_compact_token_limit: toCompactTokens(target),
    }),
    ...toEdits(["model_providers", PROVIDER], provider),
    ...target.contextTokens < ALL_TOOLS_TOKENS_MIN ? toEdits(["features"], { multi_agent: false, goals: false }) : [],
  ];
}
