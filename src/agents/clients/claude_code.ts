/**
 * Claude Code (2.1.332 was run): Messages wire, all by environment; `~/.claude/settings.json` has a block for it.
 *
 * An unknown model counts as one of a 1M window, so window and answer must be told; the answer's length is taken out of
 * the window before anything is said.
 *
 * @module
 */
import { join } from "node:path";
import { type Agent, SILENCE_MS, type Target, toEdits, toKey, toOutputTokens } from "../agent.ts";

/** Its first prompt has about 13,000 tokens, 1,200 with `CLAUDE_CODE_SIMPLE`. */
const PLAIN_TOKENS_MIN = 20_000;

/** Claude Code. */
export const claudeCode: Agent = {
  id: "claude-code",
  title: "Claude Code",
  wire: "messages",
  program: "claude",
  install: "npm install -g @anthropic-ai/claude-code",
  traces: ({ home, read }) => [read("CLAUDE_CONFIG_DIR") ?? join(home, ".claude"), join(home, ".claude.json")],
  files: (target, { home, read }) => [{
    kind: "edits",
    path: join(read("CLAUDE_CONFIG_DIR") ?? join(home, ".claude"), "settings.json"),
    format: "json",
    edits: toEdits(["env"], toEnvironment(target)),
  }],
  launch: (target, folder) => ({
    environment: toEnvironment(target),
    // Variables in the user's own settings would win over the process's; those of this file win over both.
    args: ["--settings", join(folder, "settings.json")],
    files: { "settings.json": `${JSON.stringify({ env: toEnvironment(target) }, null, 2)}\n` },
    // Another key or provider of the user's would win over the address.
    unset: ["ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_OAUTH_TOKEN"],
  }),
  notes: (target) =>
    target.contextTokens < PLAIN_TOKENS_MIN
      ? [
        `The window of ${target.contextTokens} tokens is too small for its full prompt: CLAUDE_CODE_SIMPLE=1 leaves ` +
        "three tools and a short prompt.",
      ]
      : [],
};

function toEnvironment(target: Target): Record<string, string> {
  const { baseUrl, model, contextTokens } = target;
  return {
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_AUTH_TOKEN: toKey(target),
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    ANTHROPIC_DEFAULT_SONNET_MODEL: model,
    ANTHROPIC_DEFAULT_OPUS_MODEL: model,
    CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(contextTokens),
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(toOutputTokens(target)),
    CLAUDE_CODE_ATTRIBUTION_HEADER: "0",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_STREAM_IDLE_TIMEOUT_MS: String(SILENCE_MS),
    API_TIMEOUT_MS: String(SILENCE_MS),
    ...contextTokens < PLAIN_TOKENS_MIN && { CLAUDE_CODE_SIMPLE: "1" },
  };
}
