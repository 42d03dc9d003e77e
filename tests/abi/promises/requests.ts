/** Promises about what a request gives. */
import assert from "node:assert/strict";
import type { SubmitRequest } from "../../../src/ffi/core.ts";
import { type Define, isEnd, prompt, request } from "./support.ts";

/** Tokens, ends, progress. */
export function requestPromises(promise: Define): void {
  promise(
    "an accepted submit gives its tokens in order and exactly one finish, the last",
    async (core, model, reader) => {
      core.submit(request(model, 7));
      await reader.untilEnded(7);
      core.submit(request(model, 8, { maxTokens: 1 }));
      await reader.untilEnded(8);
      const events = reader.of(7);
      const indices = events.flatMap((event) => event.type === "token" ? [event.index] : []);
      assert.deepEqual(indices, [0, 1, 2, 3, 4, 5]);
      assert.deepEqual(events.filter(isEnd).length, 1);
      const end = events.at(-1);
      assert.ok(end?.type === "finish" && end.reason === "length");
      assert.deepEqual([end.usage.promptTokens, end.usage.completionTokens], [5, 6]);
    },
  );

  promise("an end token is reported, counted, and ends the request", async (core, model, reader) => {
    core.submit(request(model, 1, { maxTokens: 3 }));
    await reader.untilEnded(1);
    const first = reader.tokens(1)[0]!;
    core.submit(request(model, 2, { ignoreEnd: false, endTokens: Int32Array.of(first), maxTokens: 3 }));
    await reader.untilEnded(2);
    const end = reader.end(2);
    assert.ok(end?.type === "finish" && end.reason === "stop");
    assert.equal(reader.tokens(2).at(-1), first);
    assert.equal(end.usage.completionTokens, reader.tokens(2).length);
  });

  promise("progress of the prompt grows up to its length", async (core, model, reader) => {
    core.submit(request(model, 1, { prompt: prompt(40) }));
    await reader.untilEnded(1);
    const done = reader.of(1).flatMap((event) => event.type === "prefill" ? [event.doneTokens] : []);
    assert.deepEqual(done, done.toSorted((a, b) => a - b));
    assert.equal(done.at(-1), 40);
  }, { prefillChunkTokens: 16 });
}

/** Probabilities, contexts, company. */
export function contextPromises(promise: Define): void {
  promise("logprobs come when asked for, best first, and not otherwise", async (core, model, reader) => {
    core.submit(request(model, 1, { logprobsTop: 3 }));
    core.submit(request(model, 2));
    await reader.untilEnded(1, 2);
    for (const event of reader.of(1)) {
      if (event.type !== "token") continue;
      assert.equal(event.top.length, 3);
      assert.ok(event.logprob <= 0 && event.top.every(({ logprob }) => logprob <= 0));
      assert.deepEqual(event.top, event.top.toSorted((a, b) => b.logprob - a.logprob));
      assert.equal(event.top[0]!.token, event.token, "greedy draws the best");
    }
    assert.ok(reader.of(2).every((event) => event.type !== "token" || event.top.length === 0));
  });

  promise("a full context ends a request with length", async (core, model, reader) => {
    core.submit(request(model, 1, { prompt: prompt(508), maxTokens: 100 }));
    await reader.untilEnded(1);
    const end = reader.end(1);
    assert.ok(end?.type === "finish" && end.reason === "length");
    assert.equal(end.usage.completionTokens, 4);
  });

  promise("32 requests at once through one pump each say what they say alone", async (core, model, reader) => {
    const tags = Array.from({ length: 32 }, (_, i) => i + 100);
    const shape = (tag: number): Partial<SubmitRequest> => ({ prompt: prompt(tag - 90), maxTokens: 4 + tag % 5 });
    for (const tag of tags) core.submit(request(model, tag, shape(tag)));
    await reader.untilEnded(...tags);
    for (const tag of [100, 117, 131]) {
      core.submit(request(model, tag + 900, shape(tag)));
      await reader.untilEnded(tag + 900);
      assert.deepEqual(reader.tokens(tag), reader.tokens(tag + 900));
    }
    for (const tag of tags) assert.equal(reader.of(tag).filter(isEnd).length, 1);
    assert.equal(core.stats().completed, 35);
  });
}
