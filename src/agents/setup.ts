/**
 * What writing a client's configuration changes, and what taking it back changes, as texts: nothing is written here.
 *
 * What stood in a file before is kept in a record (src/agents/record.ts). A setup begins by undoing the last one, so
 * that repeating it changes nothing else, and a value of the user's is never taken for ours.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Agent, ConfigFile, Places, Target } from "./agent.ts";
import { applyChanges, type Change, isObject, toParents, toShown, valueAt } from "./edits/edit.ts";
import type { FileRecord, RecordedValue } from "./record.ts";

/** A file that will change. */
export interface FileChange {
  /** Where. */
  readonly path: string;
  /** Undefined: there is none. */
  readonly before: string | undefined;
  /** Undefined: it is deleted. */
  readonly after: string | undefined;
  /** What a later undo needs; undefined: nothing is left of us. */
  readonly record: FileRecord | undefined;
}

/** Reads a file; undefined where there is none. */
export type ReadFile = (path: string) => Promise<string | undefined>;

/** What `--setup` changes; files that stay as they are come too. @throws {ConfigFileError} If a file is broken. */
export async function planSetup(
  agent: Agent,
  target: Target,
  places: Places,
  disk: { readonly read: ReadFile; readonly records: readonly FileRecord[] },
): Promise<FileChange[]> {
  const files = agent.files(target, places);
  const changes: FileChange[] = [];
  for (const file of files) {
    const before = await disk.read(file.path);
    const record = disk.records.find(({ path }) => path === file.path);
    const base = record === undefined ? before : undo(record, before).text;
    const { text, edits } = render(file, base);
    changes.push({
      path: file.path,
      before,
      after: text,
      record: { path: file.path, ...(base !== undefined && { original: base }), written: text, edits },
    });
  }
  // What an earlier setup wrote elsewhere.
  const left = disk.records.filter(({ path }) => !files.some((file) => file.path === path));
  return [...changes, ...await planRemove({ read: disk.read, records: left })];
}

/** What `--remove` changes. @throws {ConfigFileError} If a file is broken. */
export async function planRemove(
  disk: { readonly read: ReadFile; readonly records: readonly FileRecord[] },
): Promise<FileChange[]> {
  const changes: FileChange[] = [];
  for (const record of disk.records) {
    const before = await disk.read(record.path);
    changes.push({ path: record.path, before, after: undo(record, before).text, record: undefined });
  }
  return changes;
}

/** Values of ours that a file no longer holds, as paths into it. */
export function findChanged(record: FileRecord, text: string | undefined): string[] {
  if (text === undefined) return ["the file is gone"];
  if (record.edits === undefined) return text === record.written ? [] : ["the file was changed"];
  const { format, list } = record.edits;
  return list.filter(({ path, value }) => !isDeepStrictEqual(valueAt({ ...record, format }, text, path), value))
    .map(({ path }) => toShown(path));
}

function render(file: ConfigFile, base: string | undefined): { text: string; edits: FileRecord["edits"] } {
  if (file.kind === "whole") return { text: file.text, edits: undefined };
  const wanted = file.edits.filter(({ path, isDefault }) =>
    !isDefault || valueAt(file, base ?? "", path) === undefined
  );
  const list = wanted.map(({ path, value }) => ({ path: [...path], value: value as RecordedValue }));
  return { text: applyChanges(file, base, wanted), edits: { format: file.format, list } };
}

/** The text before us. A file that was changed since keeps the changes: only values that are still ours go back. */
function undo(record: FileRecord, now: string | undefined): { text: string | undefined } {
  const { original, written, edits } = record;
  if (now === undefined || now === written) return { text: now === undefined ? undefined : original };
  if (edits === undefined) return { text: now };
  const file = { path: record.path, format: edits.format };
  const before = (path: Change["path"]): unknown => original === undefined ? undefined : valueAt(file, original, path);
  const changes: Change[] = [];
  let text = now;
  for (const { path, value } of edits.list) {
    if (!isDeepStrictEqual(valueAt(file, text, path), value)) continue;
    changes.push({ path, value: before(path) as Change["value"] });
    text = applyChanges(file, text, changes.slice(-1));
    for (const parent of toParents(path)) {
      const held = valueAt(file, text, parent);
      const isEmpty = (isObject(held) && Object.keys(held).length === 0) || (Array.isArray(held) && held.length === 0);
      if (isEmpty && before(parent) === undefined) {
        text = applyChanges(file, text, [{ path: parent, value: undefined }]);
      }
    }
  }
  return { text };
}
