/**
 * OpenCode (1.18.33 was run) and Kilo, which is made of it: a provider in a JSON file, the chat wire.
 *
 * Its runtime closes a socket after 300 s without a byte, and no setting changes that; the server's keep-alive does.
 * An unset `limit.context` is taken as none: it would never compact.
 *
 * @module
 */
import { join } from "node:path";
import {
  type Agent,
  type Edit,
  type Target,
  toEdits,
  toKey,
  toOpenAiBase,
  toOutputTokens,
  type Value,
} from "../agent.ts";
import { toDocument } from "../edits/edit.ts";

const PROVIDER = "rapid-mlx";
/** Below this its first prompt (8,000 to 9,000 tokens) leaves nothing to shorten, and it would compact for ever. */
const COMPACTING_TOKENS_MIN = 16_000;

/** OpenCode. */
export const opencode: Agent = {
  id: "opencode",
  title: "OpenCode",
  wire: "chat",
  program: "opencode",
  install: "npm install -g opencode-ai",
  traces: ({ config }) => [join(config, "opencode")],
  files: (target, { config }) => [{
    kind: "edits",
    path: join(config, "opencode/opencode.json"),
    format: "json",
    edits: toProviderEdits(target),
  }],
  launch: (target) => ({
    environment: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(toDocument(toProviderEdits(target))),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
    },
  }),
  notes: toNotes,
};

/** Kilo's command line. */
export const kilo: Agent = {
  id: "kilo",
  title: "Kilo Code",
  wire: "chat",
  program: "kilo",
  install: "npm install -g @kilocode/cli",
  traces: ({ config }) => [join(config, "kilo")],
  files: (target, { config }) => [{
    kind: "edits",
    path: join(config, "kilo/kilo.json"),
    format: "json",
    edits: toProviderEdits(target),
  }],
  launch: (target) => ({ environment: { KILO_CONFIG_CONTENT: JSON.stringify(toDocument(toProviderEdits(target))) } }),
  notes: toNotes,
};

function toProviderEdits(target: Target): Edit[] {
  return [
    ...toEdits(["provider", PROVIDER], toProvider(target)),
    { path: ["model"], value: `${PROVIDER}/${target.model}` },
    { path: ["small_model"], value: `${PROVIDER}/${target.model}` },
    ...isTooSmall(target) ? [{ path: ["compaction", "auto"], value: false }] : [],
  ];
}

function isTooSmall({ contextTokens }: Target): boolean {
  return contextTokens < COMPACTING_TOKENS_MIN;
}

function toNotes(target: Target): string[] {
  if (!isTooSmall(target)) return [];
  return [
    `The window of ${target.contextTokens} tokens hardly holds its first prompt; compaction is off, or it would loop.`,
  ];
}

function toProvider(target: Target): Record<string, Value> {
  return {
    npm: "@ai-sdk/openai-compatible",
    name: "Rapid-MLX",
    options: { baseURL: toOpenAiBase(target), apiKey: toKey(target) },
    models: {
      [target.model]: {
        name: target.model,
        tool_call: true,
        reasoning: target.reasons,
        limit: { context: target.contextTokens, output: toOutputTokens(target) },
      },
    },
  };
}
