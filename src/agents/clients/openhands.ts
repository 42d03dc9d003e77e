/**
 * OpenHands: `LLM_*` variables, which its command line reads with `--override-with-envs`; the chat wire.
 *
 * Its own settings file is a dump of its classes, so `--setup` writes variables to source.
 *
 * @module
 */
import { join } from "node:path";
import { type Agent, SILENCE_MS, type Target, toKey, toOpenAiBase, toOutputTokens } from "../agent.ts";
import { toEnvironmentFile } from "./libraries.ts";

/** OpenHands. */
export const openhands: Agent = {
  id: "openhands",
  title: "OpenHands",
  wire: "chat",
  program: "openhands",
  install: "uv tool install openhands --python 3.12",
  traces: ({ home }) => [join(home, ".openhands")],
  files: (target, places) => [toEnvironmentFile("openhands", toEnvironment(target), places)],
  launch: (target) => ({ environment: toEnvironment(target), args: ["--override-with-envs"] }),
  notes: () => ["Start it as openhands --override-with-envs: without that flag it takes no variables."],
};

function toEnvironment(target: Target): Record<string, string> {
  return {
    LLM_MODEL: `openai/${target.model}`,
    LLM_BASE_URL: toOpenAiBase(target),
    LLM_API_KEY: toKey(target),
    LLM_MAX_INPUT_TOKENS: String(target.contextTokens - toOutputTokens(target)),
    LLM_MAX_OUTPUT_TOKENS: String(toOutputTokens(target)),
    LLM_TIMEOUT: String(SILENCE_MS / 1000),
  };
}
