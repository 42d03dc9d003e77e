/**
 * The declared tool that a model's word means.
 *
 * @module
 */
import type { Tool } from "../../flow.ts";

/** Names that models put before a tool's own. */
const NAME_PREFIXES = ["functions.", "function."];

/** The tool that a name means, exactly or after a known prefix. */
export function findTool(
  tools: ReadonlyMap<string, Tool>,
  name: string,
): { tool: Tool; prefixed: boolean } | undefined {
  const exact = tools.get(name);
  if (exact !== undefined) return { tool: exact, prefixed: false };
  for (const prefix of NAME_PREFIXES) {
    const tool = name.startsWith(prefix) ? tools.get(name.slice(prefix.length)) : undefined;
    if (tool !== undefined) return { tool, prefixed: true };
  }
  return undefined;
}
