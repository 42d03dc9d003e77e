/**
 * Codex's catalog file: one entry that describes the served model, in the shape that `codex debug models` prints.
 *
 * Without it Codex (0.171.0 was run) takes a model for an unknown one: a prompt more than twice as long, no
 * `apply_patch`. A key that is missing is an error at its start, so all are here. The instructions are ours: short,
 * since a small window has to hold them.
 *
 * @module
 */
import type { Target, Value } from "../agent.ts";

/** Share of the window that Codex may fill, in percent; the rest is the answer's. */
const WINDOW_PERCENT = 90;

const INSTRUCTIONS = `You are Codex, a coding agent in the user's terminal. Work until the request is done.

- Look before you change: read files with the shell tool (rg, sed -n, cat), and list folders before you guess a path.
- Change files with apply_patch only. Keep changes small and in the style of the file. Leave what is not yours.
- A patch is: *** Begin Patch, then *** Update File: PATH (or Add, Delete), then hunks that start with @@, whose lines \
begin with a blank, - or +, then *** End Patch.
- After a change, run the tests or the program if there is a quick way.
- Never commit, and never delete what you were not asked to.
- End with one or two sentences about what you did. If you only answer a question, use no tool.
`;

/** The text of the file. */
export function toCatalog(target: Target): string {
  return `${JSON.stringify({ models: [toEntry(target)] }, null, 2)}\n`;
}

function toEntry({ model, contextTokens, reasons }: Target): Record<string, Value | null> {
  const levels = reasons ? ["low", "medium", "high"] : [];
  return {
    slug: model,
    display_name: model,
    description: "Served by Rapid-MLX on this machine.",
    default_reasoning_level: reasons ? "medium" : null,
    supported_reasoning_levels: levels.map((effort) => ({ effort, description: `Thinks with ${effort} effort` })),
    shell_type: "unified_exec",
    visibility: "list",
    supported_in_api: true,
    priority: 1,
    additional_speed_tiers: [],
    service_tiers: [],
    availability_nux: null,
    upgrade: null,
    model_messages: null,
    include_skills_usage_instructions: false,
    include_plugin_usage_instructions: false,
    include_apps_usage_instructions: false,
    default_reasoning_summary: "none",
    support_verbosity: false,
    default_verbosity: null,
    apply_patch_tool_type: "freeform",
    web_search_tool_type: "text",
    truncation_policy: { mode: "tokens", limit: Math.min(10_000, Math.floor(contextTokens / 8)) },
    supports_image_detail_original: false,
    context_window: contextTokens,
    max_context_window: contextTokens,
    comp_hash: "rapid-mlx",
    effective_context_window_percent: WINDOW_PERCENT,
    experimental_supported_tools: [],
    input_modalities: ["text"],
    supports_search_tool: false,
    supports_experimental_context: false,
    use_responses_lite: false,
    supports_reasoning_effort_updates: false,
    node_repl_auto_review_required: false,
    node_repl_disabled: true,
    base_instructions: INSTRUCTIONS,
  };
}
