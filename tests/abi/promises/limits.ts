/** Promises about what is refused. */
import assert from "node:assert/strict";
import { CoreError, type SubmitRequest } from "../../../src/ffi/core.ts";
import { type Define, prompt, request } from "./support.ts";

/** Wrong values, with the field of rmx.h that the error must name. */
const WRONG: readonly (readonly [string, Partial<SubmitRequest>])[] = [
  ["temperature", { temperature: NaN }],
  ["temperature", { temperature: -1 }],
  ["temperature", { temperature: Infinity }],
  ["top_p", { topP: NaN }],
  ["top_p", { topP: 0 }],
  ["top_p", { topP: 1.5 }],
  ["min_p", { minP: NaN }],
  ["min_p", { minP: -0.1 }],
  ["top_k", { topK: -1 }],
  ["top_k", { topK: 0.5 }],
  ["repetition_penalty", { repetitionPenalty: 0 }],
  ["repetition_penalty", { repetitionPenalty: NaN }],
  ["presence_penalty", { presencePenalty: 3 }],
  ["frequency_penalty", { frequencyPenalty: NaN }],
  ["max_tokens", { maxTokens: 0 }],
  ["max_tokens", { maxTokens: -5 }],
  ["max_tokens", { maxTokens: 2 ** 32 }],
  ["seed", { seed: -1n }],
  ["seed", { seed: 1n << 63n }],
  ["tag", { tag: 0 }],
  ["client", { client: -1 }],
  ["priority", { priority: 0.5 }],
  ["logprobs_top", { logprobsTop: 21 }],
  ["prompt", { prompt: new Int32Array() }],
  ["prompt", { prompt: Int32Array.of(1, 1 << 30) }],
  ["prompt", { prompt: Int32Array.of(-1) }],
  ["prompt", { prompt: prompt(1 << 20) }],
  ["bias", { logitBias: new Map([[1 << 30, 1]]) }],
  ["bias", { logitBias: new Map([[1, NaN]]) }],
];

/** Full queues, wrong parameters, tags in use. */
export function limitPromises(promise: Define): void {
  promise(
    "a full queue refuses with busy and the limit, and takes more once one has ended",
    async (core, model, reader) => {
      for (const tag of [1, 2, 3]) core.submit(request(model, tag, { maxTokens: 100 }));
      assert.throws(() => core.submit(request(model, 4)), (error) => {
        return error instanceof CoreError && error.code === "busy" && /\b3\b/.test(error.message);
      });
      for (const tag of [1, 2, 3]) core.cancel(tag);
      await reader.untilEnded(1, 2, 3);
      core.submit(request(model, 4));
      await reader.untilEnded(4);
    },
    { maxRequests: 1, maxQueue: 2 },
  );

  promise("a wrong parameter is refused by its name and leaves nothing behind", async (core, model) => {
    for (const [field, wrong] of WRONG) {
      assert.throws(() => core.submit(request(model, 1, wrong)), (error) => {
        assert.ok(error instanceof CoreError, String(error));
        assert.equal(error.code, "argument", error.message);
        assert.ok(error.message.includes(field), `${field} is not named in: ${error.message}`);
        return true;
      });
    }
    await Promise.resolve();
    assert.equal(core.stats().submitted, 0);
  });

  promise("a tag in use is refused", async (core, model, reader) => {
    core.submit(request(model, 9, { maxTokens: 200 }));
    assert.throws(() => core.submit(request(model, 9)), { code: "argument", message: /tag 9/ });
    core.cancel(9);
    await reader.untilEnded(9);
  });
}
