/**
 * What every `Core` promises, as tests: run on the fake and on the library, so that what is tested above the fake holds
 * above the real core. Each test opens an engine of its own and ends with no handle left.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Core, EngineConfig } from "../../src/ffi/core.ts";
import { cancelPromises, endPromises } from "./promises/cancels.ts";
import { guideEndPromises, guideLimitPromises, guidePromises } from "./promises/guides.ts";
import { limitPromises } from "./promises/limits.ts";
import { modelPromises } from "./promises/models.ts";
import { contextPromises, requestPromises } from "./promises/requests.ts";
import { CLOSED, type CoreSubject, Reader } from "./promises/support.ts";
import { waitPromises } from "./promises/waits.ts";

/** Defines the tests for one kind of core. */
export function coreSuite(name: string, subject: CoreSubject): void {
  const promise = (
    sentence: string,
    body: (core: Core, model: number, reader: Reader) => Promise<void>,
    config: EngineConfig = {},
  ): void => {
    const ignore = subject.missing !== undefined;
    Deno.test({
      name: `${name}: ${sentence}${ignore ? ` (skipped: ${subject.missing})` : ""}`,
      ignore,
      fn: () => withCore(subject, config, body),
    });
  };
  requestPromises(promise);
  contextPromises(promise);
  cancelPromises(promise);
  endPromises(promise);
  if (subject.guides) {
    guidePromises(promise);
    guideEndPromises(promise);
    guideLimitPromises(promise);
  }
  limitPromises(promise);
  modelPromises(promise, subject);
  waitPromises(promise);
}

async function withCore(
  subject: CoreSubject,
  config: EngineConfig,
  body: (core: Core, model: number, reader: Reader) => Promise<void>,
): Promise<void> {
  const core = subject.open(config);
  let closed = false;
  try {
    const reader = new Reader(core);
    const model = core.loadModel(subject.modelPath, { contextTokens: 512 });
    await reader.until((event) => event.type === "modelReady");
    await body(core, model, reader).catch((error: unknown) => {
      if (error === CLOSED) closed = true;
      else throw error;
    });
    if (closed) return;
    const { running, waiting } = core.stats();
    assert.deepEqual({ running, waiting }, { running: 0, waiting: 0 }, "requests were left behind");
    core.unloadModel(model);
    await reader.until((event) => event.type === "modelUnloaded");
    assert.equal(core.stats().openHandles, 0, "handles were left open");
  } finally {
    if (!closed) await core.close();
  }
}
