/**
 * The key that signs and seals what clients keep for this machine's servers: in the state folder, made once, so that
 * thinking which comes back after a restart is still known.
 *
 * @module
 */
import { dirname, join } from "node:path";
import { randomBytes } from "node:crypto";
import { Seal } from "../api/seal.ts";
import type { Logger } from "../log.ts";
import { readProcessVariable, type ReadVariable, stateFolder } from "../setup/folders.ts";

const KEY_BYTES = 32;

/** Opens it. Where the folder can't be used, the key is this server's alone, and the log says so. */
export async function openSeal(log: Logger, read: ReadVariable = readProcessVariable): Promise<Seal> {
  try {
    const path = join(stateFolder(read), "seal.key");
    return new Seal(await readKey(path) ?? await makeKey(path));
  } catch (error) {
    log.log("warning", "the key that seals reasoning is not kept: after a restart what it sealed is not known", {
      error: error instanceof Error ? error.message : String(error),
    });
    return new Seal();
  }
}

/** @returns Undefined if there is none. @throws {Error} If it can't be read, or is none. */
async function readKey(path: string): Promise<Uint8Array | undefined> {
  const key = await Deno.readFile(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  });
  if (key === undefined || key.length === KEY_BYTES) return key;
  throw new Error(`${path} has ${key.length} bytes instead of ${KEY_BYTES}: delete it to have a new one made`);
}

/** Written beside and linked into place, so that of two servers that start together both read one whole key. */
async function makeKey(path: string): Promise<Uint8Array> {
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const key = randomBytes(KEY_BYTES);
  const draft = await Deno.makeTempFile({ dir: dirname(path), prefix: "seal." }); // its owner's alone
  try {
    await Deno.writeFile(draft, key);
    await Deno.link(draft, path);
    return key;
  } catch (error) {
    const other = error instanceof Deno.errors.AlreadyExists ? await readKey(path) : undefined;
    if (other !== undefined) return other;
    throw error;
  } finally {
    await Deno.remove(draft);
  }
}
