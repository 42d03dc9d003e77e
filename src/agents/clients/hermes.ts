/**
 * Hermes Agent (0.19.0 was run): the chat wire, `config.yaml`. It reads the window from the list of models by itself.
 *
 * Its lists of tools are left as the user has them. It waits half an hour for a first token.
 *
 * @module
 */
import { join } from "node:path";
import { type Agent, type Target, toEdits, toKey, toOpenAiBase, toOutputTokens } from "../agent.ts";

/** A smaller window ends it at its start (0.19.0). */
const WINDOW_MIN = 64_000;

/** Hermes Agent. */
export const hermes: Agent = {
  id: "hermes",
  title: "Hermes Agent",
  wire: "chat",
  program: "hermes",
  install: "pip install hermes-agent",
  traces: ({ home, read }) => [read("HERMES_HOME") ?? join(home, ".hermes")],
  files: (target, { home, read }) => [{
    kind: "edits",
    path: join(read("HERMES_HOME") ?? join(home, ".hermes"), "config.yaml"),
    format: "yaml",
    edits: toEdits(["model"], toModel(target)),
  }],
  launch: (target, folder) => ({
    environment: { HERMES_HOME: folder },
    files: { "config.yaml": `${JSON.stringify({ model: toModel(target) }, null, 2)}\n` }, // JSON is YAML
  }),
  refuse: ({ contextTokens }) =>
    contextTokens < WINDOW_MIN
      ? `Hermes Agent starts with a window of at least ${WINDOW_MIN} tokens only; this server has ${contextTokens}.`
      : undefined,
  notes: () => ["launch gives it a home of its own: memories and skills of yours are not in it."],
};

function toModel(target: Target): Record<string, string | number> {
  return {
    default: target.model,
    provider: "custom",
    base_url: toOpenAiBase(target),
    api_key: toKey(target),
    context_length: target.contextTokens,
    max_tokens: toOutputTokens(target),
  };
}
