/**
 * When the steps of paced_server.ts are due: at every multiple of STEP_MS of the system's clock, so that another
 * process knows it too.
 *
 * @module
 */

/** A token a stream in each step: 100 tokens a second. */
export const STEP_MS = 10;

/** Milliseconds since the epoch with their fractions. */
export function toEpochMs(): number {
  return performance.timeOrigin + performance.now();
}
