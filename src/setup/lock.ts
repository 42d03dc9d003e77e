/**
 * One set-up at a time: a file lock that the system releases when its process ends, however it ends.
 *
 * @module
 */
import { dirname } from "node:path";
import type { Report } from "./report.ts";

/** Runs `body` while holding the lock file `path`; waits for another process that holds it, and says so. */
export async function withLock<T>(path: string, report: Report, body: () => Promise<T>): Promise<T> {
  await Deno.mkdir(dirname(path), { recursive: true });
  using file = await Deno.open(path, { create: true, write: true });
  if (!await file.tryLock(true)) {
    report.note(`Another set-up holds ${path}; waiting for it to end.`);
    await file.lock(true);
  }
  return await body();
}
