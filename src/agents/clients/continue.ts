/**
 * Continue (CLI 1.5.47 was run): an entry in the list of models of `config.yaml`, the chat wire.
 *
 * @module
 */
import { join } from "node:path";
import { type Agent, SILENCE_MS, type Target, toKey, toOpenAiBase, toOutputTokens, type Value } from "../agent.ts";

const NAME = "Rapid-MLX";

/** Continue's command line and editor extension. */
export const continueAgent: Agent = {
  id: "continue",
  title: "Continue",
  wire: "chat",
  program: "cn",
  install: "npm install -g @continuedev/cli",
  traces: ({ home }) => [join(home, ".continue")],
  files: (target, { home }) => [{
    kind: "edits",
    path: join(home, ".continue/config.yaml"),
    format: "yaml",
    edits: [
      ...Object.entries(HEAD).map(([key, value]) => ({ path: [key], value, isDefault: true as const })),
      { path: ["models", { key: "name", is: NAME }], value: toModel(target) },
    ],
  }],
  launch: (target, folder) => ({
    environment: {},
    args: ["--config", join(folder, "config.yaml")],
    files: { "config.yaml": `${JSON.stringify({ ...HEAD, models: [toModel(target)] }, null, 2)}\n` }, // JSON is YAML
  }),
};

/** A configuration without these is refused. */
const HEAD = { name: "Local", version: "1.0.0", schema: "v1" };

function toModel(target: Target): { readonly [key: string]: Value } {
  return {
    name: NAME,
    provider: "openai",
    model: target.model,
    apiBase: toOpenAiBase(target),
    apiKey: toKey(target),
    roles: ["chat", "edit", "apply"],
    capabilities: ["tool_use"],
    defaultCompletionOptions: { contextLength: target.contextTokens, maxTokens: toOutputTokens(target) },
    requestOptions: { timeout: SILENCE_MS / 1000 },
  };
}
