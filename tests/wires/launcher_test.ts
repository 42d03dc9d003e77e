/**
 * What the launcher sets so that clients stay within the window and wait for a slow prefill.
 *
 * @module
 */
import assert from "node:assert/strict";
import { toListing } from "../../src/agents/listing.ts";
import { requireAgent } from "../../src/agents/mod.ts";
import { SAMPLE_PLACES, toSampleTarget } from "../support/agent_samples.ts";

/** Client → what has to be in its configuration. The sample models have windows of 32,768 and 131,072. */
const SETTINGS: Readonly<Record<string, readonly RegExp[]>> = {
  "claude-code": [
    /CLAUDE_CODE_MAX_CONTEXT_TOKENS.*32768/,
    /CLAUDE_CODE_MAX_OUTPUT_TOKENS.*\d{4}/,
    /CLAUDE_CODE_ATTRIBUTION_HEADER.*0/,
    /CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC.*1/,
    /CLAUDE_STREAM_IDLE_TIMEOUT_MS.*\d{6}/,
    /ANTHROPIC_MODEL/,
    /ANTHROPIC_DEFAULT_HAIKU_MODEL/,
    /ANTHROPIC_DEFAULT_SONNET_MODEL/,
    /ANTHROPIC_DEFAULT_OPUS_MODEL/,
  ],
  codex: [/model_catalog_json/, /stream_idle_timeout_ms = \d{6}/, /model_auto_compact_token_limit = \d+/],
  opencode: [/"limit"/, /"context": 32768/, /"output": \d+/],
  "qwen-code": [/QWEN_CODE_API_TIMEOUT_MS|"timeout"/, /QWEN_STREAM_IDLE_TIMEOUT_MS/],
  hermes: [/context_length: 131072/],
  aider: [/LITELLM_LOCAL_MODEL_COST_MAP.*True/i],
};

for (const [id, wanted] of Object.entries(SETTINGS)) {
  Deno.test(`${requireAgent(id).title} is told the window, its answers' length and a patience that a slow prefill fits in`, async () => {
    const agent = requireAgent(id);
    const listing = await toListing(agent, toSampleTarget(agent), SAMPLE_PLACES);
    for (const setting of wanted) assert.match(listing, setting);
  });
}
