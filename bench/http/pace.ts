/**
 * When the steps of paced_server.ts are due: at every multiple of STEP_MS of the system's clock, so that another
 * process knows it too.
 *
 * @module
 */

import { setPriority } from "node:os";

/** A token a stream in each step: 100 tokens a second. */
export const STEP_MS = 10;

/** Milliseconds since the epoch with their fractions. */
export function toEpochMs(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * Puts the thread that calls before all others, or back among them: client and core would have processors of their own,
 * and are not to be measured. For those who may (Linux, root); others measure the wait for a processor too.
 *
 * @returns Whether it could.
 */
export function goFirst(isFirst = true): boolean {
  if (Deno.build.os !== "linux") return false;
  try {
    setPriority(0, isFirst ? -15 : 0);
    return true;
  } catch {
    return false;
  }
}
