/** Promises about masked requests: nothing is drawn before it is told, and only what is allowed. */
import assert from "node:assert/strict";
import type { Core } from "../../../src/ffi/core.ts";
import { type Define, prompt, type Reader, request } from "./support.ts";

/** A mask of these tokens for a model of the core. */
function mask(core: Core, model: number, ...tokens: number[]): Uint32Array {
  const words = new Uint32Array(Math.ceil(core.modelInfo(model).vocabularySize / 32));
  for (const token of tokens) words[token >>> 5] = (words[token >>> 5] ?? 0) | 1 << (token & 31);
  return words;
}

/** Until the request has drawn so many tokens. */
async function untilDrawn(reader: Reader, tag: number, count: number): Promise<void> {
  while (reader.tokens(tag).length < count) await reader.until((event) => event.type === "token");
}

/** Masks and forced tokens. */
export function guidePromises(promise: Define): void {
  promise("a masked request waits for its masks; the others do not wait for it", async (core, model, reader) => {
    core.submit(request(model, 1, { masked: true, maxTokens: 2 }));
    core.submit(request(model, 2, { maxTokens: 20 }));
    await reader.untilEnded(2);
    assert.deepEqual(reader.tokens(1), []);
    core.mask(1, 0, 1, mask(core, model, 40, 41));
    await untilDrawn(reader, 1, 1);
    assert.ok([40, 41].includes(reader.tokens(1)[0] ?? -1));
    core.submit(request(model, 3, { maxTokens: 10 }));
    await reader.untilEnded(3);
    assert.equal(reader.tokens(1).length, 1);
    core.mask(1, 1, 1, mask(core, model, 63));
    await reader.untilEnded(1);
    assert.equal(reader.tokens(1)[1], 63);
    assert.deepEqual(reader.end(1), { ...reader.end(1), type: "finish", reason: "length" });
  });

  promise("free positions give what an unmasked request gives", async (core, model, reader) => {
    core.submit(request(model, 1, { maxTokens: 9 }));
    core.submit(request(model, 2, { masked: true, maxTokens: 9 }));
    core.mask(2, 0, 3);
    core.mask(2, 3, Infinity);
    await reader.untilEnded(1, 2);
    assert.deepEqual(reader.tokens(2), reader.tokens(1));
  });

  promise(
    "several rows are several positions, and forced tokens are told like drawn ones",
    async (core, model, reader) => {
      core.submit(request(model, 1, { masked: true, maxTokens: 6, logprobsTop: 1 }));
      core.mask(1, 0, 2, Uint32Array.of(...mask(core, model, 5), ...mask(core, model, 6)));
      core.force(1, 2, [9, 8, 7]);
      core.mask(1, 5, 1, mask(core, model, 1));
      await reader.untilEnded(1);
      assert.deepEqual(reader.tokens(1), [5, 6, 9, 8, 7, 1]);
      for (const event of reader.of(1)) {
        assert.ok(event.type !== "token" || event.logprob <= 0 && Number.isFinite(event.logprob));
      }
      assert.equal(reader.end(1)?.usage.completionTokens, 6);
    },
  );
}

/** Tokens told again, ends, refusals, cancels. */
export function guideEndPromises(promise: Define): void {
  promise("telling a position again forgets all behind it", async (core, model, reader) => {
    core.submit(request(model, 1, { masked: true, maxTokens: 3, prompt: prompt(300) }));
    core.force(1, 0, [1, 2, 3]);
    core.force(1, 1, [12]);
    core.mask(1, 2, 1, mask(core, model, 13));
    await reader.untilEnded(1);
    assert.deepEqual(reader.tokens(1), [1, 12, 13]);
    core.mask(1, 0, 1);
  }, { prefillChunkTokens: 1 });

  promise("a forced end token ends the request; one that is drawn gives way", async (core, model, reader) => {
    core.submit(request(model, 1, { masked: true, maxTokens: 9, ignoreEnd: false, endTokens: Int32Array.of(50) }));
    core.replaceEnd(1, [20, 21]);
    core.mask(1, 0, 1, mask(core, model, 50));
    await untilDrawn(reader, 1, 2);
    core.replaceEnd(1, []);
    core.force(1, 2, [50]);
    await reader.untilEnded(1);
    assert.deepEqual(reader.tokens(1), [20, 21, 50]);
    assert.deepEqual(reader.end(1), { ...reader.end(1), type: "finish", reason: "stop" });
  });

  promise("a mask that allows nothing fails its request alone", async (core, model, reader) => {
    core.submit(request(model, 1, { masked: true }));
    core.submit(request(model, 2, { maxTokens: 20 }));
    core.mask(1, 0, 2, Uint32Array.of(...mask(core, model, 5), ...mask(core, model)));
    await reader.untilEnded(1, 2);
    const end = reader.end(1);
    assert.ok(end?.type === "failure" && /mask of position 1/.test(end.message), JSON.stringify(end));
    assert.deepEqual(reader.tokens(1), [5]);
    assert.equal(reader.end(2)?.type, "finish");
  });
}

/** What is refused, and leaving early. */
export function guideLimitPromises(promise: Define): void {
  promise("what can't be told is refused by name; what is drawn or gone is no error", async (core, model, reader) => {
    core.submit(request(model, 1, { masked: true, maxTokens: 100 }));
    core.submit(request(model, 2, { maxTokens: 400 }));
    const one = mask(core, model, 1);
    const refused = (message: RegExp, tell: () => void): void =>
      assert.throws(tell, (error) => message.test(String(error)) && Reflect.get(Object(error), "code") === "argument");
    refused(/tag 2/, () => core.mask(2, 0, 1));
    refused(/position is 1/, () => core.mask(1, 1, 1));
    refused(/\b65\b/, () => core.force(1, 0, Array(65).fill(1)));
    refused(/words/, () => core.mask(1, 0, 1, one.subarray(1)));
    refused(/token -1/, () => core.force(1, 0, [-1]));
    refused(/token/, () => core.replaceEnd(1, [1 << 30]));
    // Nothing has been told, so nothing is drawn: 65 are too many whatever the engine does meanwhile.
    refused(/64 ahead/, () => core.mask(1, 0, 65, Uint32Array.from({ length: 65 * one.length }, () => 1)));
    core.force(1, 0, Array(64).fill(1));
    await untilDrawn(reader, 1, 3);
    core.mask(1, 0, 2, Uint32Array.of(...one, ...one));
    core.mask(1, 64, 1, one);
    core.cancel(1);
    core.cancel(2);
    await reader.untilEnded(1, 2);
    core.mask(1, 0, 1);
    core.force(77, 0, [1]);
    core.replaceEnd(77, []);
  });

  promise("a request that waits for its mask can be cancelled and leaves nothing", async (core, model, reader) => {
    for (const tag of [1, 2]) core.submit(request(model, tag, { masked: true, deadlineMs: tag === 2 ? 50 : 0 }));
    core.mask(1, 0, 1);
    await untilDrawn(reader, 1, 1);
    core.cancel(1);
    await reader.untilEnded(1, 2);
    for (const tag of [1, 2]) assert.deepEqual(reader.end(tag), { ...reader.end(tag), reason: "cancelled" });
  });
}
