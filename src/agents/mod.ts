/**
 * The clients that the server knows.
 *
 * @module
 */
import type { Agent } from "./agent.ts";
import { aider } from "./clients/aider.ts";
import { claudeCode } from "./clients/claude_code.ts";
import { cline } from "./clients/cline.ts";
import { codex } from "./clients/codex.ts";
import { continueAgent } from "./clients/continue.ts";
import { cursor } from "./clients/cursor.ts";
import { hermes } from "./clients/hermes.ts";
import { langchain, pydanticAi, smolagents } from "./clients/libraries.ts";
import { openWebui } from "./clients/open_webui.ts";
import { kilo, opencode } from "./clients/opencode.ts";
import { openhands } from "./clients/openhands.ts";
import { qwenCode } from "./clients/qwen_code.ts";

/** In the order of the list. */
export const AGENTS: readonly Agent[] = [
  claudeCode,
  codex,
  opencode,
  qwenCode,
  aider,
  hermes,
  continueAgent,
  cline,
  kilo,
  openhands,
  cursor,
  openWebui,
  langchain,
  pydanticAi,
  smolagents,
];

/** The client of that name. @throws {AgentNameError} If there is none. */
export function requireAgent(name: string): Agent {
  const found = AGENTS.find(({ id }) => id === name);
  if (found !== undefined) return found;
  throw new AgentNameError(`No client is called ${name}; known are ${AGENTS.map(({ id }) => id).join(", ")}.`);
}

/** A name that no client has. */
export class AgentNameError extends Error {
  /** @param message Names those that there are. */
  constructor(message: string) {
    super(message);
    this.name = "AgentNameError";
  }
}
