/**
 * What clients of every wire ask for beside answers: paths, the key, the list of models.
 *
 * @module
 */
import assert from "node:assert/strict";
import { MODEL_HF_ID, MODEL_ID, openTestApp } from "../support/test_app.ts";
import { serveScript } from "../support/scripted_server.ts";
import { type Json, post, type Wire, WIRES } from "./wires.ts";

const USER = [{ user: "Hi" }];

Deno.test("Every path that clients call is there, with any query, and those of chats and models without /v1 too", async () => {
  await using server = await openTestApp();
  for (const wire of WIRES) {
    const body = wire.ask(USER);
    for (const path of [wire.path, wire.path.replace("/v1", ""), `${wire.path}?beta=true&x=%20y`]) {
      const response = await server.post(path, body);
      assert.equal(response.status, 200, `${path}: ${await response.text()}`);
    }
  }
  for (const path of ["/v1/messages/count_tokens", "/v1/messages/count_tokens?beta=true"]) {
    const counted = await server.post(path, { messages: [{ role: "user", content: "foo" }], tools: [] });
    assert.deepEqual(Object.keys(await counted.json()), ["input_tokens"]);
  }
  for (const id of ["", "?limit=1000", `/${MODEL_ID}`, `/${MODEL_HF_ID}`, `/${encodeURIComponent(MODEL_HF_ID)}`]) {
    for (const prefix of ["/v1", ""]) assert.equal((await server.get(`${prefix}/models${id}`)).status, 200, id);
  }
  assert.equal((await server.get("/api/hello", { method: "HEAD" })).status, 200);
});

Deno.test("A path that is not there is a 404 of JSON at once, and a WebSocket is refused before it is one", async () => {
  await using server = await openTestApp({ flags: { apiKey: "k" } });
  const headers = { authorization: "Bearer k" };
  const probes: [string, string][] = [
    ["GET", "/api/v1/models"],
    ["POST", "/api/show"],
    ["GET", "/api/version"],
    ["GET", "/api/tags"],
    ["POST", "/api/pull"],
    ["GET", "/v1/props"],
    ["POST", "/v1/messages/batches"],
    ["GET", "/v1/models/none/such"],
  ];
  for (const [method, path] of probes) {
    const response = await server.get(path, { method, headers });
    assert.equal(response.status, 404, path);
    assert.ok((await response.json()).error.message.length > 0);
  }
  for (const { path } of WIRES) {
    const upgrade = { ...headers, upgrade: "websocket", connection: "Upgrade" };
    const response = await server.get(path, { headers: upgrade });
    assert.ok([404, 426].includes(response.status), `${path}: ${response.status}`);
    assert.equal(typeof (await response.json()).error.message, "string");
  }
});

Deno.test("One key opens every wire from either header, and without a key set any credential does", async () => {
  const shown: Record<string, string>[] = [{ authorization: "Bearer k" }, { "x-api-key": "k" }];
  const asks = (wire: Wire): [string, RequestInit] => [
    wire.path,
    { method: "POST", body: JSON.stringify(wire.ask(USER)) },
  ];
  const paths: [string, RequestInit][] = [...WIRES.map(asks), ["/v1/models", {}], [`/v1/models/${MODEL_ID}`, {}]];
  {
    await using server = await openTestApp({ flags: { apiKey: "k" } });
    for (const [path, init] of paths) {
      for (const headers of shown) assert.equal((await server.get(path, { ...init, headers })).status, 200, path);
      for (const headers of [{}, { "x-api-key": "wrong" }, { authorization: "Bearer wrong" }]) {
        assert.equal((await server.get(path, { ...init, headers })).status, 401, path);
      }
    }
  }
  await using open = await openTestApp();
  for (const [path, init] of paths) {
    for (const headers of [{}, ...shown]) assert.equal((await open.get(path, { ...init, headers })).status, 200, path);
  }
});

Deno.test("An entry of the models has what both families of clients read, the window under every name", async () => {
  await using server = await openTestApp({ contextTokens: 4096 });
  const list = await (await server.get("/v1/models?limit=1000")).json();
  assert.deepEqual([list.object, list.has_more, list.first_id, list.last_id], ["list", false, MODEL_ID, MODEL_ID]);
  const [entry] = list.data;
  assert.deepEqual([entry.id, entry.object, entry.type, entry.owned_by], [MODEL_ID, "model", "model", "rapid-mlx"]);
  assert.equal(typeof entry.display_name, "string");
  assert.equal(Date.parse(entry.created_at), entry.created * 1000);
  assert.deepEqual([entry.context_length, entry.max_model_len], [4096, 4096]);
  assert.deepEqual(await (await server.get(`/v1/models/${MODEL_ID}`)).json(), entry);
});

Deno.test("A request counts the same, asked beforehand or answered, on the wires that can be asked", async () => {
  await using server = await serveScript({ tools: "hermes", replies: [{ text: "Yes." }], repeat: true });
  for (const wire of WIRES) {
    const path = { chat: undefined, messages: "/count_tokens", responses: "/input_tokens" }[wire.name];
    if (path === undefined) continue;
    const body = wire.ask([{ system: "Be terse." }, { user: "Is it?" }], { tools: [wire.tool("look", {})] });
    const counted: Json = await (await post(server.url + wire.path + path, body)).json();
    const answered = wire.whole(await (await post(server.url + wire.path, body)).json());
    assert.equal(counted.input_tokens, answered.promptTokens, wire.name);
  }
});
