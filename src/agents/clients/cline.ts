/**
 * Cline (3.0.65: command line and editor extension keep providers in one file): the chat wire.
 *
 * @module
 */
import { dirname, join } from "node:path";
import {
  type Agent,
  type Edit,
  type Places,
  SILENCE_MS,
  type Target,
  toKey,
  toOpenAiBase,
  toOutputTokens,
} from "../agent.ts";
import { toDocument } from "../edits/edit.ts";

const PROVIDER = "openai-compatible";
/** In the file, beside the values; a fixed time keeps a repeated setup from changing anything. */
const UPDATED_AT = "2026-01-01T00:00:00.000Z";

/** Cline. */
export const cline: Agent = {
  id: "cline",
  title: "Cline",
  wire: "chat",
  program: "cline",
  install: "npm install -g cline",
  traces: (places) => [dirname(dirname(dirname(toPath(places))))],
  files: (target, places) => [{ kind: "edits", path: toPath(places), format: "json", edits: toEditsOfFile(target) }],
  launch: (target, folder) => ({
    environment: { CLINE_PROVIDER_SETTINGS_PATH: join(folder, "providers.json"), CLINE_NO_AUTO_UPDATE: "1" },
    args: ["--provider", PROVIDER, "--model", target.model],
    files: { "providers.json": `${JSON.stringify(toDocument(toEditsOfFile(target)), null, 2)}\n` },
  }),
  notes:
    () => ["In an editor older than this file, choose OpenAI Compatible in Cline's settings and enter the values."],
};

function toPath({ home, read }: Places): string {
  const named = read("CLINE_PROVIDER_SETTINGS_PATH");
  return named ?? join(read("CLINE_DATA_DIR") ?? join(home, ".cline/data"), "settings/providers.json");
}

function toEditsOfFile(target: Target): Edit[] {
  return [
    { path: ["version"], value: 1, isDefault: true },
    { path: ["modes"], value: {}, isDefault: true },
    { path: ["lastUsedProvider"], value: PROVIDER },
    {
      path: ["providers", PROVIDER],
      value: { settings: toSettings(target), updatedAt: UPDATED_AT, tokenSource: "manual" },
    },
  ];
}

function toSettings(target: Target): Record<string, string | number> {
  return {
    provider: PROVIDER,
    apiKey: toKey(target),
    model: target.model,
    baseUrl: toOpenAiBase(target),
    contextWindow: target.contextTokens,
    maxTokens: toOutputTokens(target),
    timeout: SILENCE_MS,
  };
}
