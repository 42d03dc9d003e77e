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

/** A model of 32,768 tokens that thinks, on this machine; a longer window or a public address where one is needed. */
export function toSampleTarget(agent: Agent): Target {
  const local: Target = { baseUrl: "http://127.0.0.1:8000", model: "qwen3-8b", contextTokens: 32_768, reasons: true };
  const roomy = { ...local, contextTokens: 131_072 };
  for (const target of [local, roomy]) if (agent.refuse?.(target) === undefined) return target;
  return { ...local, baseUrl: "https://tunnel.example", apiKey: "a-key" };
}
