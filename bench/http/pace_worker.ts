/**
 * The clock of paced_server.ts, in a thread of its own as a core's is: a message for each step, every STEP_MS of the
 * system's clock, however busy the server is.
 *
 * @module
 */
import { goFirst, STEP_MS, toEpochMs } from "./pace.ts";

declare const self: { postMessage(message: null): void };

goFirst();
const sleeper = new Int32Array(new SharedArrayBuffer(4));
let dueMs = Math.ceil(toEpochMs() / STEP_MS) * STEP_MS;
for (;;) {
  // Sleeps through all but the last moment, which it waits out: a sleep ends late.
  const leftMs = dueMs - toEpochMs();
  if (leftMs > 0) {
    Atomics.wait(sleeper, 0, 0, leftMs);
    continue;
  }
  self.postMessage(null);
  dueMs += STEP_MS;
}
