/**
 * Qwen Code (0.24.4 was run; it needs Node 22): the chat wire.
 *
 * It gives up 120 s before the headers and 240 s between events; two settings raise that. The window of an unknown
 * model is told as a setting only, so `launch` gives it a file of defaults, which the user's own settings overrule.
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

/** Qwen Code. */
export const qwenCode: Agent = {
  id: "qwen-code",
  title: "Qwen Code",
  wire: "chat",
  program: "qwen",
  install: "npm install -g @qwen-code/qwen-code (Node 22)",
  traces: ({ home, read }) => [read("QWEN_HOME") ?? join(home, ".qwen")],
  files: (target, { home, read }) => [{
    kind: "edits",
    path: join(read("QWEN_HOME") ?? join(home, ".qwen"), "settings.json"),
    format: "json",
    edits: [
      ...toEdits(["env"], toEnvironment(target)),
      { path: ["security", "auth", "selectedType"], value: "openai" },
      { path: ["model", "name"], value: target.model },
      ...toEdits(["model", "generationConfig"], toGeneration(target)),
    ],
  }],
  launch: (target, folder) => ({
    environment: {
      ...toEnvironment(target),
      QWEN_CODE_SYSTEM_DEFAULTS_PATH: join(folder, "defaults.json"),
    },
    args: ["--auth-type", "openai", "--model", target.model], // a name in the user's settings would win over variables
    files: { "defaults.json": `${JSON.stringify({ model: { generationConfig: toGeneration(target) } }, null, 2)}\n` },
  }),
};

function toEnvironment(target: Target): Record<string, string> {
  return {
    OPENAI_BASE_URL: toOpenAiBase(target),
    OPENAI_API_KEY: toKey(target),
    OPENAI_MODEL: target.model,
    QWEN_CODE_API_TIMEOUT_MS: String(SILENCE_MS),
    QWEN_STREAM_IDLE_TIMEOUT_MS: String(SILENCE_MS),
    QWEN_CODE_MAX_OUTPUT_TOKENS: String(toOutputTokens(target)),
  };
}

function toGeneration(target: Target): Record<string, Value> {
  return { contextWindowSize: target.contextTokens, timeout: SILENCE_MS, streamIdleTimeoutMs: SILENCE_MS };
}
