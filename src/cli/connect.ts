// deno-lint-ignore-file camelcase -- names as those of the API
/**
 * `rapid-mlx connect`: every address of a running server, for people and programs.
 *
 * @module
 */
import { toOpenAiBase } from "../agents/agent.ts";
import { asksForKey, requireServer } from "../agents/server.ts";
import { type ServerFlags, toServerQuery } from "./server_query.ts";
import { print, printTable } from "./terminal.ts";

/** Flags of `connect`. */
export interface ConnectFlags extends ServerFlags {
  /** As JSON. */
  readonly json?: boolean;
}

/** Prints them. @throws {ServerError} If no server answers. */
export async function connect(flags: ConnectFlags): Promise<void> {
  const target = await requireServer(toServerQuery(flags, Deno.env.toObject()));
  const { baseUrl, model, contextTokens } = target;
  const openAi = toOpenAiBase(target);
  const addresses = {
    url: baseUrl,
    openai_base_url: openAi,
    anthropic_base_url: baseUrl,
    chat_completions: `${openAi}/chat/completions`,
    responses: `${openAi}/responses`,
    messages: `${openAi}/messages`,
    models: `${openAi}/models`,
    status: `${openAi}/status`,
    health: `${baseUrl}/health`,
    ready: `${baseUrl}/readyz`,
  };
  const facts = { model, context_length: contextTokens, needs_key: await asksForKey(baseUrl) };
  if (flags.json) return print(JSON.stringify({ ...addresses, ...facts }, null, 2));
  printTable([...Object.entries(addresses), ...Object.entries(facts).map(([name, value]) => [name, String(value)])]);
}
