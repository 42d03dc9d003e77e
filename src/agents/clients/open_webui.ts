/**
 * Open WebUI: environment of its server. Settings made in its own pages win over the environment.
 *
 * @module
 */
import { join } from "node:path";
import { type Agent, SILENCE_MS, type Target, toKey, toOpenAiBase } from "../agent.ts";
import { toEnvironmentFile } from "./libraries.ts";

/** Open WebUI. */
export const openWebui: Agent = {
  id: "open-webui",
  title: "Open WebUI",
  wire: "chat",
  program: "open-webui",
  install: "pip install open-webui",
  traces: ({ home }) => [join(home, ".open-webui")],
  files: (target, places) => [toEnvironmentFile("open-webui", toEnvironment(target), places)],
  launch: (target) => ({ environment: toEnvironment(target), args: ["serve"] }),
  notes: ({ baseUrl }) => [
    `In a container, ${new URL(baseUrl).hostname} is the container itself: use host.docker.internal, and start the ` +
    "server with --allow-host host.docker.internal.",
    "What was set in its admin pages before wins over these variables.",
  ],
};

function toEnvironment(target: Target): Record<string, string> {
  return {
    OPENAI_API_BASE_URL: toOpenAiBase(target),
    OPENAI_API_KEY: toKey(target),
    ENABLE_OLLAMA_API: "False",
    AIOHTTP_CLIENT_TIMEOUT: String(SILENCE_MS / 1000),
  };
}
