/**
 * No calls: all text is text. For models that can't call, and for requests without tools.
 *
 * @module
 */
import type { ToolParser } from "./parser.ts";

/** Makes the parser of an answer. */
export function createNone(): ToolParser {
  return { markers: [], push: (run) => [{ type: "text", run }], finish: () => [] };
}
