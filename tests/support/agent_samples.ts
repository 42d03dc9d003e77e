/**
 * A server and a user's folders for tests of clients' configurations.
 *
 * @module
 */
import type { Agent, Places, Target } from "../../src/agents/agent.ts";

/** A home without variables. */
export const SAMPLE_PLACES: Places = {
  home: "/h",
  config: "/h/.config",
  applications: "/h/.config",
  read: () => undefined,
};

/** A model of 32,768 tokens that thinks, on this machine; for a client that needs a public address, there. */
export function toSampleTarget(agent: Agent): Target {
  const local: Target = { baseUrl: "http://127.0.0.1:8000", model: "qwen3-8b", contextTokens: 32_768, reasons: true };
  if (agent.refuse?.(local) === undefined) return local;
  return { ...local, baseUrl: "https://tunnel.example", apiKey: "a-key" };
}
