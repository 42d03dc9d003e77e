/**
 * The templates of the goldens and how prompts are hashed; shared by the tests and the program that remakes them.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { loadTextFiles } from "../../../src/prompt/text_files.ts";
import { requireTemplates } from "../../support/template_sdist.ts";
import { type GoldenModel, requireTextFolder } from "../../support/text_models.ts";

/** Models that come with both a template and a tokenizer. */
export const TEMPLATED_MODELS = [
  "smollm2",
  "qwen3",
  "llama3",
  "gemma3",
  "deepseek_v3",
] as const satisfies GoldenModel[];

/** A template and the named tokens that it sees. */
export interface GoldenTemplate {
  /** Its source. */
  template: string;
  /** `bos_token` and so on. */
  tokens: Record<string, string>;
}

/** All templates by name: those of `TEMPLATED_MODELS`, and of the source package. */
export async function goldenTemplates(): Promise<Record<string, GoldenTemplate>> {
  const templates: Record<string, GoldenTemplate> = {};
  for (const model of TEMPLATED_MODELS) {
    const files = await loadTextFiles(await requireTextFolder(model));
    templates[model] = { template: files.templates.get("default") ?? "", tokens: files.namedTokens };
  }
  for (const [name, template] of await requireTemplates()) {
    templates[name] = { template, tokens: { bos_token: "<BOS>", eos_token: "<EOS>" } };
  }
  return templates;
}

/** sha256, first 16 hex digits. */
export function digestText(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
