/**
 * Aider (0.86.2 was run): the chat wire without tools; edits are blocks of text.
 *
 * It waits without end for a first token. The window of an unknown model must be told in a file of its own.
 *
 * @module
 */
import { join } from "node:path";
import {
  type Agent,
  SILENCE_MS,
  type Target,
  toEdits,
  toKey,
  toOpenAiBase,
  toOutputTokens,
  type Value,
} from "../agent.ts";

/** Aider. */
export const aider: Agent = {
  id: "aider",
  title: "Aider",
  wire: "chat",
  program: "aider",
  install: "pip install aider-chat",
  traces: ({ home }) => [join(home, ".aider.conf.yml"), join(home, ".aider")],
  files: (target, { home }) => [
    {
      kind: "edits",
      path: join(home, ".aider.conf.yml"),
      format: "yaml",
      edits: toEdits([], {
        "model": toName(target),
        "weak-model": toName(target),
        "openai-api-base": toOpenAiBase(target),
        "openai-api-key": toKey(target),
        "timeout": SILENCE_MS / 1000,
        "show-model-warnings": false,
      }),
    },
    {
      kind: "edits",
      path: join(home, ".aider.model.metadata.json"),
      format: "json",
      edits: [{ path: [toName(target)], value: toMetadata(target) }],
    },
    {
      kind: "edits",
      path: join(home, ".aider.model.settings.yml"),
      format: "yaml",
      edits: [{ path: [{ key: "name", is: toName(target) }], value: toSettings(target) }],
    },
  ],
  notes: () => ["Aider asks for whole files from a model it does not know; --edit-format diff asks for changes."],
  launch: (target, folder) => ({
    environment: {
      AIDER_MODEL: toName(target),
      AIDER_WEAK_MODEL: toName(target),
      AIDER_OPENAI_API_BASE: toOpenAiBase(target),
      AIDER_OPENAI_API_KEY: toKey(target),
      AIDER_MODEL_METADATA_FILE: join(folder, "metadata.json"),
      AIDER_MODEL_SETTINGS_FILE: join(folder, "settings.yml"),
      AIDER_TIMEOUT: String(SILENCE_MS / 1000),
      AIDER_SHOW_MODEL_WARNINGS: "false",
      LITELLM_LOCAL_MODEL_COST_MAP: "True", // else it fetches a price list at start
    },
    files: {
      "metadata.json": `${JSON.stringify({ [toName(target)]: toMetadata(target) }, null, 2)}\n`,
      "settings.yml": `${JSON.stringify([toSettings(target)], null, 2)}\n`, // JSON is YAML
    },
  }),
};

function toName({ model }: Target): string {
  return `openai/${model}`;
}

/** It names no longest answer by itself: a model that repeats itself would fill the window. */
function toSettings(target: Target): { readonly [key: string]: Value } {
  return { name: toName(target), extra_params: { max_tokens: toOutputTokens(target) } };
}

function toMetadata(target: Target): Record<string, string | number> {
  return {
    max_tokens: toOutputTokens(target),
    max_input_tokens: target.contextTokens,
    max_output_tokens: toOutputTokens(target),
    input_cost_per_token: 0,
    output_cost_per_token: 0,
    litellm_provider: "openai",
    mode: "chat",
  };
}
