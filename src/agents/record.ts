/**
 * What was written for a client and what stood there before: one file a client in our state folder, for its owner only.
 *
 * @module
 */
import { dirname, join } from "node:path";
import { z } from "zod";
import { stateFolder } from "../setup/folders.ts";
import type { Places } from "./agent.ts";
import { ConfigFileError } from "./edits/edit.ts";

const PathPartSchema = z.union([z.string(), z.strictObject({ key: z.string(), is: z.string() })]);

const EditsSchema = z.strictObject({
  format: z.enum(["json", "toml", "yaml"]),
  list: z.array(z.strictObject({ path: z.array(PathPartSchema).min(1), value: z.json() })),
});

const FileRecordSchema = z.strictObject({
  path: z.string(),
  original: z.string().optional(),
  written: z.string(),
  edits: EditsSchema.optional(),
});

const RecordSchema = z.strictObject({ version: z.literal(1), agent: z.string(), files: z.array(FileRecordSchema) });

/** A file of ours. `original` undefined: there was none. `edits` undefined: all of it is ours. */
export interface FileRecord {
  /** Where. */
  readonly path: string;
  /** Its text before us. */
  readonly original?: string | undefined;
  /** Its text when we left it. */
  readonly written: string;
  /** What was set in it. */
  readonly edits?: z.output<typeof EditsSchema> | undefined;
}

/** A value as a record has it. */
export type RecordedValue = z.output<typeof EditsSchema>["list"][number]["value"];

/** Where a client's record is. */
export function recordPath(places: Places, agent: string): string {
  return join(stateFolder(places.read), "agents", `${agent}.json`);
}

/** The files of a client; none if it was never set up. @throws {ConfigFileError} If the record can't be read. */
export async function readRecord(path: string): Promise<readonly FileRecord[]> {
  const text = await readOptional(path);
  if (text === undefined) return [];
  try {
    return RecordSchema.parse(JSON.parse(text)).files;
  } catch {
    throw new ConfigFileError(`${path} is damaged: it says what was set up. Delete it, and undo by the .bak files.`);
  }
}

/** Keeps a client's files; none: forgets it. */
export async function writeRecord(path: string, agent: string, files: readonly FileRecord[]): Promise<void> {
  if (files.length === 0) return await Deno.remove(path).catch(ignoreAbsent);
  await writeAtomically(path, `${JSON.stringify({ version: 1, agent, files }, null, 2)}\n`);
}

/** Text of a file, at most 1 MiB; undefined where there is none. @throws {ConfigFileError} If it is larger. */
export async function readOptional(path: string): Promise<string | undefined> {
  try {
    const { size } = await Deno.stat(path);
    if (size > BYTES_MAX) {
      throw new ConfigFileError(`${path} has ${size} bytes; a configuration of at most ${BYTES_MAX} is edited.`);
    }
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/**
 * Writes a file whole or not at all: beside it, then renamed. A link is followed; what was private stays so, and a new
 * file is its owner's only, since it may hold a key.
 */
export async function writeAtomically(path: string, text: string): Promise<void> {
  const target = await Deno.realPath(path).catch(() => path);
  const mode = await Deno.stat(target).then((info) => info.mode, () => null) ?? 0o600;
  await Deno.mkdir(dirname(target), { recursive: true });
  const temporary = `${target}.${crypto.randomUUID()}.tmp`;
  try {
    await Deno.writeTextFile(temporary, text, { createNew: true, mode: mode & 0o777 });
    await Deno.rename(temporary, target);
  } catch (error) {
    await Deno.remove(temporary).catch(ignoreAbsent);
    throw error;
  }
}

const BYTES_MAX = 2 ** 20;

function ignoreAbsent(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
