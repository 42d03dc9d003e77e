/**
 * A server is tried: what whole answers, broken ones and refusals are told as.
 *
 * @module
 */
import assert from "node:assert/strict";
import { serveScript } from "../../tests/support/scripted_server.ts";
import type { Target, Wire } from "./agent.ts";
import { verify } from "./verify.ts";

const toTarget = (baseUrl: string): Target => ({ baseUrl, model: "scripted", contextTokens: 1000, reasons: false });

/** A clock that says how often it was asked. */
function toClock(): () => number {
  let count = 0;
  return () => count++;
}

for (const [wire, route] of [["chat", "/v1/chat/completions"], ["messages", "/v1/messages"]] as const) {
  Deno.test(`A whole answer on the wire ${wire} is told with its text, also one that thinks or is cut by its length`, async () => {
    const replies = [{ text: "Hello there." }, { text: "<think>\nHm.\n</think>\n\nHi." }, {
      text: "Hel",
      finish: "length",
    }];
    await using server = await serveScript({ reasoning: "qwen3", replies });
    for (const text of ["Hello there.", "Hi.", "Hel"]) {
      const verified = await verify(toTarget(server.url), wire, toClock());
      assert.deepEqual(verified, { route, firstMs: 1, totalMs: 2, text });
    }
  });

  Deno.test(`A refusal, a lost connection and a failure on the wire ${wire} are told as such`, async () => {
    const replies = [
      { status: 429, retry_after: 1 },
      { text: "one two three", cut_after_tokens: 2 },
      { text: "one two three", error_after_tokens: 2 },
    ];
    await using server = await serveScript({ replies });
    const fails = async (message: RegExp): Promise<void> => {
      await assert.rejects(verify(toTarget(server.url), wire as Wire, toClock()), { name: "ServerError", message });
    };
    await fails(/answers 429: The script refuses/);
    await fails(/was lost in the middle of an answer/);
    await fails(/failed: /);
  });
}
