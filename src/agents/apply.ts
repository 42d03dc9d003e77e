/**
 * Changes onto the disk: a dated copy of what is replaced, the files, then the record that undoes them.
 *
 * @module
 */
import type { Places } from "./agent.ts";
import { readRecord, recordPath, writeAtomically, writeRecord } from "./record.ts";
import type { FileChange } from "./setup.ts";

/**
 * Writes changes.
 *
 * @param now For the names of copies.
 * @returns The copies that were made.
 */
export async function applyFiles(
  agent: string,
  changes: readonly FileChange[],
  places: Places,
  now: Date,
): Promise<string[]> {
  const path = recordPath(places, agent);
  const records = changes.flatMap(({ record }) => record === undefined ? [] : [record]);
  // First what undoes it all: a write that fails half-way can be taken back.
  const known = await readRecord(path);
  const left = known.filter((old) => !records.some((one) => one.path === old.path));
  await writeRecord(path, agent, [...records, ...left]);
  const copies: string[] = [];
  for (const { path: file, before, after } of changes) {
    if (before === after) continue;
    if (before !== undefined) {
      const copy = `${file}.${toStamp(now)}.bak`;
      await Deno.writeTextFile(copy, before, { mode: 0o600 });
      copies.push(copy);
    }
    if (after === undefined) await Deno.remove(file);
    else await writeAtomically(file, after);
  }
  await writeRecord(path, agent, records);
  return copies;
}

/** `20261201-083000-123`. */
function toStamp(now: Date): string {
  return now.toISOString().replaceAll(/[-:Z]/g, "").replace("T", "-").replace(".", "-");
}
