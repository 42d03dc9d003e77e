/**
 * Lets a worker's thread give way to the one that streams.
 *
 * @module
 */
import { setPriority } from "node:os";
import process from "node:process";
import { setThreadSlice } from "../ffi/thread_slice.ts";

/** A tenth of the share of a thread that streams, where all processors are busy: long work goes on, and slower. */
const NICENESS = 10;

/** The least that Linux takes: a token that is due takes a processor from whoever has it. */
const STREAMING_SLICE_US = 100;

/** Long work gets back what it gave within one turn. */
const LONG_SLICE_US = 3000;

/** For the thread that calls. Elsewhere than on Linux it would be the whole process, so there it does nothing. */
export function giveWay(): void {
  if (process.platform !== "linux") return;
  setThreadSlice(LONG_SLICE_US);
  try {
    setPriority(0, NICENESS);
  } catch {
    // A sandbox may forbid it, and nothing depends on it.
  }
}

/** For the thread that streams: it does little at a time and is wanted at once. */
export function takeTurnsAtOnce(): void {
  setThreadSlice(STREAMING_SLICE_US);
}
