/** Promises about how a request ends early. */
import assert from "node:assert/strict";
import { CoreError, type CoreEvent } from "../../../src/ffi/core.ts";
import { CLOSED, type Define, isEnd, prompt, request } from "./support.ts";

/** Cancel in each phase. */
export function cancelPromises(promise: Define): void {
  promise("cancel ends a request in the queue, once", async (core, model, reader) => {
    core.submit(request(model, 1, { maxTokens: 400 }));
    core.submit(request(model, 2));
    core.cancel(2);
    core.cancel(2);
    core.cancel(1);
    await reader.untilEnded(1, 2);
    assert.deepEqual(reader.of(2).map((event) => event.type === "finish" && event.reason), ["cancelled"]);
    assert.equal(core.stats().cancelled, 2);
  }, { maxRequests: 1 });

  promise("cancel ends a request in its prompt, before the next step", async (core, model, reader) => {
    core.submit(request(model, 1, { prompt: prompt(500) }));
    await reader.until((event) => event.type === "prefill");
    core.cancel(1);
    core.cancel(1);
    await reader.untilEnded(1);
    const end = reader.end(1);
    assert.ok(end?.type === "finish" && end.reason === "cancelled");
    assert.deepEqual(reader.tokens(1), []);
    assert.equal(end.usage.completionTokens, 0);
  }, { prefillChunkTokens: 1, maxRequests: 2 });

  promise(
    "cancel ends a request that is being answered; its usage counts what it said",
    async (core, model, reader) => {
      core.submit(request(model, 1, { maxTokens: 500 }));
      await reader.until((event) => event.type === "token");
      core.cancel(1);
      await reader.untilEnded(1);
      const end = reader.end(1);
      assert.ok(end?.type === "finish" && end.reason === "cancelled");
      assert.equal(end.usage.completionTokens, reader.tokens(1).length);
    },
  );
}

/** Late cancels, deadlines, close. */
export function endPromises(promise: Define): void {
  promise("cancel of a finished or unknown tag is no error and makes no event", async (core, model, reader) => {
    core.submit(request(model, 1, { maxTokens: 1 }));
    await reader.untilEnded(1);
    core.cancel(1);
    core.cancel(12345);
    core.submit(request(model, 2, { maxTokens: 1 }));
    await reader.untilEnded(2);
    assert.equal(reader.of(1).filter(isEnd).length, 1);
    assert.deepEqual(reader.of(12345), []);
  });

  promise("a finished tag can be used again", async (core, model, reader) => {
    core.submit(request(model, 1, { maxTokens: 1 }));
    await reader.untilEnded(1);
    core.submit(request(model, 1, { maxTokens: 2 }));
    await reader.until(isEnd);
    assert.deepEqual(reader.of(1).filter(isEnd).length, 2);
  });

  promise("a deadline ends a request as cancelled", async (core, model, reader) => {
    core.submit(request(model, 1, { prompt: prompt(500), deadlineMs: 1 }));
    await reader.untilEnded(1);
    const end = reader.end(1);
    assert.ok(end?.type === "finish" && end.reason === "cancelled");
  }, { prefillChunkTokens: 1, maxRequests: 2 });

  promise("close finishes every request, and a wait in flight hears of it", async (core, model, reader) => {
    for (const tag of [1, 2, 3]) core.submit(request(model, tag, { maxTokens: 500 }));
    await reader.until((event) => event.type === "token");
    const waiting = (async () => {
      const ends: CoreEvent[] = [];
      while (ends.length < 3) ends.push(...(await core.wait(60_000)).filter(isEnd));
      return ends;
    })().catch((error: unknown) => error);
    const closing = core.close();
    await closing;
    const heard = await waiting;
    // The wait that was in flight has brought what fitted; a later one is refused.
    if (heard instanceof Error) assert.ok(heard instanceof CoreError && heard.code === "closed", String(heard));
    else {assert.deepEqual(
        (heard as CoreEvent[]).map((end) => "reason" in end && end.reason),
        Array(3).fill("cancelled"),
      );}
    assert.throws(() => core.submit(request(model, 4)), { code: "closed" });
    assert.throws(() => core.loadModel("x", {}), { code: "closed" });
    await assert.rejects(core.wait(0), { code: "closed" });
    throw CLOSED;
  }, { maxRequests: 2 });
}
