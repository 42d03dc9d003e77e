/** Promises about the pump's call. */
import assert from "node:assert/strict";
import type { Define } from "./support.ts";

/** Timeouts, wakes, one wait at a time. */
export function waitPromises(promise: Define): void {
  promise("a wait with nothing to bring ends at its timeout, or at a wake", async (core) => {
    assert.deepEqual(await core.wait(1), []);
    const waiting = core.wait(60_000);
    core.wake();
    assert.deepEqual(await waiting, []);
  });

  promise("a wake before the wait ends it at once", async (core) => {
    core.wake();
    assert.deepEqual(await core.wait(60_000), []);
  });

  promise("a second wait is refused while one is in flight", async (core) => {
    const waiting = core.wait(60_000);
    await assert.rejects(core.wait(0), { code: "argument" });
    core.wake();
    assert.deepEqual(await waiting, []);
  });
}
