/** Promises about models. */
import assert from "node:assert/strict";
import type { CoreEvent } from "../../../src/ffi/core.ts";
import { type CoreSubject, type Define, request } from "./support.ts";

/** Facts, failures, stale handles, unloads. */
export function modelPromises(promise: Define, subject: CoreSubject): void {
  promise("facts of a loaded model, capped at the context asked for", async (core, model) => {
    const info = core.modelInfo(model);
    assert.ok(info.vocabularySize >= 64);
    assert.equal(info.contextTokens, 512);
    assert.ok(info.modelType.length > 0 && info.dtype.length > 0 && info.quantization.length > 0);
    await Promise.resolve();
  });

  promise(
    "a path without a checkpoint is a failed event with a sentence that names it",
    async (core, _model, reader) => {
      const model = core.loadModel("/no/such/checkpoint", {});
      await reader.until((event) => event.type === "modelFailed");
      const failed = reader.events.find((event) => event.type === "modelFailed");
      assert.ok(failed?.type === "modelFailed" && failed.model === model && failed.status < 0);
      assert.match(failed.message, /\/no\/such\/checkpoint/);
      assert.throws(() => core.modelInfo(model), { code: "handle" });
    },
  );

  promise("the handle of an unloaded model is stale for every call", async (core, _model, reader) => {
    const model = core.loadModel(subject.modelPath, {});
    await reader.until((event) => event.type === "modelReady");
    core.unloadModel(model);
    await reader.until((event) => event.type === "modelUnloaded" && event.model === model);
    for (
      const use of [() => core.modelInfo(model), () => core.unloadModel(model), () => core.submit(request(model, 1))]
    ) {
      assert.throws(use, { code: "handle" });
    }
    assert.throws(() => core.modelInfo(0), { code: "handle" });
  });

  promise(
    "an unload ends the model's requests as cancelled and leaves other models alone",
    async (core, model, reader) => {
      const other = core.loadModel(subject.modelPath, {});
      await reader.until((event) => event.type === "modelReady");
      core.submit(request(other, 1, { maxTokens: 100 }));
      core.submit(request(model, 2, { maxTokens: 5 }));
      core.unloadModel(other);
      await reader.untilEnded(1, 2);
      const unloaded = (event: CoreEvent): boolean => event.type === "modelUnloaded" && event.model === other;
      if (!reader.events.some(unloaded)) await reader.until(unloaded);
      assert.deepEqual([1, 2].map((tag) => reader.end(tag)).map((end) => end?.type === "finish" && end.reason), [
        "cancelled",
        "length",
      ]);
    },
  );
}
