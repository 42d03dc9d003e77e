/**
 * Parsers of tool calls by name. Profiles name them; the list is the registry.
 *
 * @module
 */
import { createDeepseek, createDeepseekV31 } from "./deepseek.ts";
import { createDeepseekV4 } from "./deepseek_v4.ts";
import { createFunctionary } from "./functionary.ts";
import { createGemma4 } from "./gemma4.ts";
import { createGlm47 } from "./glm47.ts";
import { createGranite } from "./granite.ts";
import { createHermes } from "./hermes.ts";
import { createHyV3 } from "./hy_v3.ts";
import { createK2Horizon } from "./k2_horizon.ts";
import { createKimi } from "./kimi.ts";
import { createLfm } from "./lfm.ts";
import { createLlama } from "./llama.ts";
import { createMinicpm } from "./minicpm.ts";
import { createMinimax } from "./minimax.ts";
import { createMistral } from "./mistral.ts";
import { createMuse } from "./muse.ts";
import { createNone } from "./none.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { createQwen3CoderXml, createSeedOss } from "./qwen3_coder_xml.ts";
import { createUiTars } from "./ui_tars.ts";
import { createXlam } from "./xlam.ts";

/** Parsers that read an answer's text. Second names are in parser_names.ts. */
export const toolParsers = {
  deepseek: createDeepseek,
  deepseek_v3: createDeepseek,
  deepseek_v31: createDeepseekV31,
  deepseek_v4_0731: createDeepseekV4,
  functionary: createFunctionary,
  gemma4: createGemma4,
  glm47: createGlm47,
  granite: createGranite,
  hermes: createHermes,
  hy_v3: createHyV3,
  k2_horizon: createK2Horizon,
  kimi: createKimi,
  lfm: createLfm,
  llama: createLlama,
  minicpm: createMinicpm,
  minimax: createMinimax,
  mistral: createMistral,
  muse: createMuse,
  none: createNone,
  qwen3_coder_xml: createQwen3CoderXml,
  seed_oss: createSeedOss,
  ui_tars: createUiTars,
  xlam: createXlam,
} as const satisfies Record<string, (context: ToolContext) => ToolParser>;

/** A parser's name. */
export type ToolParserName = keyof typeof toolParsers;

/** All names. */
export const TOOL_PARSERS = Object.keys(toolParsers) as [ToolParserName, ...ToolParserName[]];
