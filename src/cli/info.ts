/**
 * `rapid-mlx info [MODEL]`: what a model on the disk is and what it needs, without loading it.
 *
 * @module
 */
import { join } from "node:path";
import { z } from "zod";
import { Library } from "../ffi/library.ts";
import { matchLine } from "../profiles/match.ts";
import { loadProfiles } from "../profiles/store.ts";
import { CommandError } from "./errors.ts";
import { findModel } from "./find_model.ts";
import { prepareCore } from "./prepare_core.ts";
import { print, printTable, toSize } from "./terminal.ts";

/** What config.json says that a person asks for; what is not there is left out. */
const Checkpoint = z.object({
  model_type: z.string(),
  max_position_embeddings: z.int().positive().optional(),
  vocab_size: z.int().positive().optional(),
  quantization: z.object({ bits: z.int(), group_size: z.int() }).loose().optional(),
});

/** Contexts whose memory is shown, in tokens. */
const CONTEXTS = [4096, 32_768, 131_072];

/** Prints the facts. @throws {CommandError} If the model is not on the disk or its config.json is none. */
export async function showInfo(model: string | undefined, flags: { json?: boolean }): Promise<void> {
  const profiles = await loadProfiles();
  const place = await findModel(model, profiles);
  if (place === undefined) {
    throw new CommandError(`${model ?? "The embedded model"} is not whole on this disk; rapid-mlx pull fetches it.`);
  }
  const config = await readConfig(join(place.directory, "config.json"));
  const library = Library.open(await prepareCore({}));
  const { weightBytes, kvBytesPerToken } = await library.estimate(place.directory, {}).finally(() => library.close());
  const { line } = matchLine(profiles, { name: place.hfId ?? place.id, modelType: config.model_type });
  const context = config.max_position_embeddings;
  const { quantization } = config;
  const facts = {
    id: place.id,
    ...place.hfId !== undefined && { hfId: place.hfId },
    directory: place.directory,
    modelType: config.model_type,
    profile: line.id,
    quantization: quantization === undefined ? "none" : `${quantization.bits}-bit g${quantization.group_size}`,
    ...context !== undefined && { contextTokens: context },
    weightBytes,
    kvBytesPerToken,
  };
  if (flags.json === true) {
    print(JSON.stringify(facts, null, 2));
    return;
  }
  const longest = context ?? CONTEXTS[0]!;
  printTable([
    ["model", facts.hfId ?? facts.id],
    ["folder", facts.directory],
    ["graph", facts.modelType],
    ["profile", facts.profile],
    ["quantization", facts.quantization],
    ["context", `${longest} tokens`],
    ["weights", toSize(weightBytes)],
    ...[...CONTEXTS.filter((tokens) => tokens < longest), longest]
      .map((tokens) => [`with ${tokens} tokens`, toSize(weightBytes + tokens * kvBytesPerToken)]),
  ]);
}

async function readConfig(path: string): Promise<z.infer<typeof Checkpoint>> {
  const text = await Deno.readTextFile(path);
  try {
    return Checkpoint.parse(JSON.parse(text));
  } catch (error) {
    throw new CommandError(`${path} is no model's configuration: ${error instanceof Error ? error.message : error}`);
  }
}
