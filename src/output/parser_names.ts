// deno-lint-ignore-file camelcase -- names of parsers
/**
 * Names of parsers, as profiles and scripts give them, → the dialect.
 *
 * Other servers' names for the same formats are known as well, so that a configuration can be carried over.
 *
 * @module
 */
import { ANSWER_PARSERS, type Dialect, reasoningOf } from "./decoder.ts";
import { createReasoningParser, REASONING_PARSERS, type ReasoningParserName } from "./reasoning/mod.ts";
import { toolParsers } from "./tools/mod.ts";
import { createHarmony } from "./protocols/harmony.ts";

/** A name that no parser has. */
export class UnknownParser extends Error {
  /** Which of the two it was to be. */
  readonly kind: "tools" | "reasoning";

  /** @param kind Which of the two. @param message What was found and what is wanted. */
  constructor(kind: "tools" | "reasoning", message: string) {
    super(message);
    this.name = "UnknownParser";
    this.kind = kind;
  }
}

/** Second names of tool formats. */
const TOOL_ALIASES: Readonly<Record<string, string>> = {
  nous: "hermes",
  qwen: "hermes",
  qwen3: "hermes",
  qwen3_coder: "hermes",
  qwen3_xml: "hermes",
  nemotron: "qwen3_coder_xml",
  nemotron3: "qwen3_coder_xml",
  llama3: "llama",
  llama4: "llama",
  deepseek_r1: "deepseek",
  deepseek_r1_0528: "deepseek_v3",
  meetkai: "functionary",
  gemma_4: "gemma4",
  glm4: "glm47",
  granite3: "granite",
  "gpt-oss": "harmony",
  gpt_oss: "harmony",
  hy3: "hy_v3",
  kimi_k2: "kimi",
  moonshot: "kimi",
  liquid: "lfm",
  minimax_m2: "minimax",
  seed: "seed_oss",
  "ui-tars": "ui_tars",
  uitars: "ui_tars",
};

/** Second names of reasoning formats. */
const REASONING_ALIASES: Readonly<Record<string, string>> = {
  seed: "seed_oss",
  hy3: "hy_v3",
  glm45: "glm4",
  glm47: "glm4",
  gemma_4: "gemma4",
  ifm: "k2_horizon",
  minimax_m2: "minimax",
  mistral: "magistral",
  "ui-tars": "ui_tars",
  uitars: "ui_tars",
};

/** Reasoning formats that are part of a whole protocol. */
const HARMONY_REASONING = ["harmony", "gpt_oss", "gpt-oss"];

/**
 * The dialect of two names; an absent one is `none`.
 *
 * @throws {UnknownParser} If no parser has one of them.
 */
export function findDialect(toolName = "none", reasoningName = "none"): Dialect {
  const tools = find("tools", toolName, TOOL_ALIASES, ANSWER_PARSERS);
  if (tools === "harmony" || HARMONY_REASONING.includes(reasoningName)) {
    // One protocol with both in it: it is read whole, whichever half was named.
    if (tools === "harmony" || tools === "none") return { tools: "harmony", reasoning: "none" };
    throw new UnknownParser("reasoning", `expected harmony for both or for none; found it beside ${tools}`);
  }
  return { tools, reasoning: find("reasoning", reasoningName, REASONING_ALIASES, REASONING_PARSERS) };
}

/** Special tokens that a dialect reads, spelled out. */
export function markersOf(dialect: Dialect): readonly string[] {
  const context = { tools: new Map(), reasoningEnd: "", wholeTokens: false };
  if (dialect.tools === "harmony") return createHarmony(context).markers;
  const reasoning = createReasoningParser(reasoningOf(dialect), { prompt: "", wholeTokens: false });
  return [...toolParsers[dialect.tools](context).markers, ...reasoning.markers];
}

/** Whether a dialect writes tool calls. */
export function callsTools(dialect: Dialect): boolean {
  return dialect.tools !== "none";
}

/** Whether a dialect writes reasoning. */
export function reasons(dialect: Dialect): boolean {
  return dialect.tools === "harmony" || dialect.reasoning !== ("none" satisfies ReasoningParserName);
}

function find<Name extends string>(
  kind: "tools" | "reasoning",
  name: string,
  aliases: Readonly<Record<string, string>>,
  known: readonly Name[],
): Name {
  // A parser of that very name comes before a second name.
  const wanted = known.some((one) => one === name) ? name : aliases[name] ?? name;
  const found = known.find((one) => one === wanted);
  if (found !== undefined) return found;
  throw new UnknownParser(kind, `expected one of ${known.join(", ")}; found ${JSON.stringify(name)}`);
}
