/**
 * `deno task golden:agents`: writes what each client is configured with into tests/golden/agents, to be read before it
 * is committed.
 *
 * @module
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { toListing } from "../../src/agents/listing.ts";
import { AGENTS } from "../../src/agents/mod.ts";
import { SAMPLE_PLACES, toSampleTarget } from "../support/agent_samples.ts";

/** Where the listings are. */
export const AGENT_LISTINGS: string = fileURLToPath(new URL("agents/", import.meta.url));

if (import.meta.main) {
  for (const agent of AGENTS) {
    const text = await toListing(agent, toSampleTarget(agent), SAMPLE_PLACES);
    await Deno.writeTextFile(join(AGENT_LISTINGS, `${agent.id}.txt`), text);
  }
}
