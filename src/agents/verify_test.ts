/**
 * A server is found and tried: what whole answers, broken ones and refusals are told as.
 *
 * @module
 */
import assert from "node:assert/strict";
import { serveScript } from "../../tests/support/scripted_server.ts";
import type { Target, Wire } from "./agent.ts";
import { findServer, requireServer } from "./server.ts";
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

Deno.test("A server is found by its address or among ports, with the window of its model", async () => {
  await using server = await serveScript({ reasoning: "qwen3", context_tokens: 4096, replies: [{ text: "Hi." }] });
  const found = { baseUrl: server.url, model: "scripted", contextTokens: 4096, reasons: true };
  assert.deepEqual(await findServer({ url: `${server.url}/v1/`, ports: [] }), found);
  const port = Number(new URL(server.url).port);
  assert.deepEqual(await findServer({ ports: [1, port] }), found);
  await assert.rejects(requireServer({ ports: [1] }), /No server answers at .* Start one with: rapid-mlx serve/);
  await assert.rejects(findServer({ url: server.url, model: "other", ports: [] }), /serves scripted; not other/);
  await assert.rejects(findServer({ url: "somewhere", ports: [] }), /--url is somewhere; wanted is an address/);
});

Deno.test("A server of others is no server of ours on a usual port, and its missing window is told", async () => {
  const other = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => Response.json({ data: [{ id: "m" }] }),
  );
  const { port } = other.addr;
  assert.equal(await findServer({ ports: [port] }), undefined);
  await assert.rejects(findServer({ url: `http://127.0.0.1:${port}`, ports: [] }), /m tells no window/);
  await other.shutdown();
});
