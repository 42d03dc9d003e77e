/**
 * Lets a worker's thread give way to the one that streams.
 *
 * @module
 */
import { setPriority } from "node:os";
import process from "node:process";

/** On two busy cores a token that is due waits half as long for the processor, and long work takes little longer. */
const NICENESS = 5;

/** For the thread that calls. Elsewhere than on Linux it would be the whole process, so there it does nothing. */
export function giveWay(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, NICENESS);
  } catch {
    // A sandbox may forbid it, and nothing depends on it.
  }
}
