/**
 * Stamps: a small file beside a result that says what it was made from, so that making it again can be skipped.
 *
 * A stamp is written last and read first; a result without its stamp counts as absent.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";

/** True when `path` holds exactly this stamp. */
export async function hasStamp(path: string, stamp: string): Promise<boolean> {
  return await Deno.readTextFile(path).catch(() => "") === `${stamp}\n`;
}

/** Writes the stamp, whole or not at all. */
export async function writeStamp(path: string, stamp: string): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${Deno.pid}`;
  await Deno.writeTextFile(draft, `${stamp}\n`);
  await Deno.rename(draft, path);
}

/** sha256, in hex, over names and contents of all files under the given files and folders but those to skip. */
export async function hashSources(
  root: string,
  paths: readonly string[],
  isSkipped: (path: string) => boolean = () => false,
): Promise<string> {
  const files: string[] = [];
  for (const path of paths) await collectFiles(root, path, isSkipped, files);
  const hasher = createHash("sha256");
  for (const path of files.sort()) {
    const content = await Deno.readFile(join(root, path));
    hasher.update(`${path}\0${content.length}\0`).update(content);
  }
  return hasher.digest("hex");
}

/** Hash of a file, in hex, read in pieces. */
export async function hashFile(path: string, algorithm: "sha256" | "sha1" = "sha256"): Promise<string> {
  using file = await Deno.open(path);
  const hasher = createHash(algorithm);
  const buffer = new Uint8Array(1 << 20);
  for (let count = await file.read(buffer); count !== null; count = await file.read(buffer)) {
    hasher.update(buffer.subarray(0, count));
  }
  return hasher.digest("hex");
}

async function collectFiles(
  root: string,
  path: string,
  isSkipped: (path: string) => boolean,
  into: string[],
): Promise<void> {
  if (isSkipped(path)) return;
  const info = await Deno.stat(join(root, path));
  if (!info.isDirectory) {
    into.push(path);
    return;
  }
  for await (const entry of Deno.readDir(join(root, path))) {
    await collectFiles(root, `${path}/${entry.name}`, isSkipped, into);
  }
}
