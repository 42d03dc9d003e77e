// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * A running server is found, waited for, and read.
 *
 * @module
 */
import assert from "node:assert/strict";
import { serveScript } from "../../tests/support/scripted_server.ts";
import { awaitServer, findServer, requireServer } from "./server.ts";

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

Deno.test("A model that is loading is waited for where that is wanted, else told", async () => {
  let asked = 0;
  const entry = { id: "m", owned_by: "rapid-mlx" };
  const ready = { ...entry, state: "ready", context_length: 2048 };
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => Response.json({ data: [++asked < 4 ? { ...entry, state: "loading" } : ready] }),
  );
  const query = { url: `http://127.0.0.1:${server.addr.port}`, ports: [] };
  await assert.rejects(findServer(query), { name: "ServerError", message: /m is still loading; try again/ });
  const pauses: number[] = [];
  const found = await awaitServer(query, (ms) => {
    pauses.push(ms);
    return Promise.resolve();
  });
  assert.equal(found?.contextTokens, 2048);
  assert.deepEqual(pauses, [500, 500]);
  await server.shutdown();
});
