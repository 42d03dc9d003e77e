/**
 * Parsers of tool calls by name. Profiles name them; the list is the registry.
 *
 * @module
 */
import { createHermes } from "./hermes.ts";
import { createLlama } from "./llama.ts";
import { createMistral } from "./mistral.ts";
import { createNone } from "./none.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { createQwen3CoderXml } from "./qwen3_coder_xml.ts";

/** Parsers that read an answer's text. */
export const toolParsers = {
  hermes: createHermes,
  llama: createLlama,
  mistral: createMistral,
  none: createNone,
  qwen3_coder_xml: createQwen3CoderXml,
} as const satisfies Record<string, (context: ToolContext) => ToolParser>;

/** A parser's name. */
export type ToolParserName = keyof typeof toolParsers;

/** All names. */
export const TOOL_PARSERS = Object.keys(toolParsers) as [ToolParserName, ...ToolParserName[]];
