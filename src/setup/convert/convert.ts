/**
 * `rapid-mlx convert FILE.gguf FOLDER`: a GGUF file → a folder that MLX programs load.
 *
 * All or nothing: the files are made in a folder beside the target, which takes the target's name when everything is
 * written. Exact: tensors are copied or repacked, never computed anew. Knows nothing of the server.
 *
 * @module
 */
import { basename, dirname, join, resolve } from "node:path";
import { toConfig, toGenerationConfig } from "./config.ts";
import { GgufError, GgufFile } from "./gguf_file.ts";
import { requireComplete, requireGraph } from "./graphs.ts";
import { convertTokenizer } from "./tokenizer.ts";
import { writeWeights } from "./weights.ts";

/** Raised when the same file would give other bytes, so that cached conversions are made anew. */
export const CONVERTER_VERSION = 1;

/** What a conversion made. */
export interface Conversion {
  /** The folder. */
  readonly directory: string;
  /** Tensors of the GGUF file. */
  readonly tensorCount: number;
  /** Bytes of model.safetensors. */
  readonly weightBytes: number;
}

/**
 * Converts `source` into the new folder `target`.
 *
 * @param onProgress Called with the bytes of the file done so far, and all.
 * @throws {GgufError} If the file is damaged, holds something we don't convert, or `target` exists.
 */
export async function convertGguf(
  source: string,
  target: string,
  onProgress: (doneBytes: number, totalBytes: number) => void = () => {},
): Promise<Conversion> {
  const directory = resolve(target);
  if (await exists(directory)) throw new GgufError(source, `${target} exists already; name a new folder`);
  using file = await GgufFile.open(source);
  const graph = requireGraph(file);
  requireComplete(file, graph);
  const tokenizer = convertTokenizer(file);
  await Deno.mkdir(dirname(directory), { recursive: true });
  const work = await Deno.makeTempDir({ dir: dirname(directory), prefix: `.${basename(directory)}-` });
  try {
    const weightsPath = join(work, "model.safetensors");
    const weights = await writeWeights(file, graph, weightsPath, onProgress);
    await writeJson(join(work, "config.json"), await toConfig(file, graph, tokenizer, weights));
    await writeJson(join(work, "generation_config.json"), toGenerationConfig(tokenizer));
    await writeJson(join(work, "tokenizer_config.json"), tokenizer.tokenizerConfig);
    await writeJson(join(work, "tokenizer.json"), tokenizer.tokenizer);
    // makeTempDir gives 0700; a model is no secret.
    await Deno.chmod(work, 0o755);
    await Deno.rename(work, directory);
    const { size } = await Deno.stat(join(directory, "model.safetensors"));
    return { directory, tensorCount: file.tensors.size, weightBytes: size };
  } catch (error) {
    await Deno.remove(work, { recursive: true }).catch(() => {});
    throw error;
  }
}

async function writeJson(path: string, content: unknown): Promise<void> {
  await Deno.writeTextFile(path, JSON.stringify(content, null, 2) + "\n");
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, (error) => {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  });
}
