import assert from "node:assert/strict";
import { openTestApp } from "../../tests/support/test_app.ts";
import { RequestError } from "../api/errors.ts";
import { checkHost, checkKey, checkOrigin, type GuardConfig, toClientNumber } from "./guards.ts";

const LOOPBACK: GuardConfig = { host: "127.0.0.1", allowHosts: [], allowOrigins: [] };
const OPEN: GuardConfig = { host: "0.0.0.0", apiKey: "key", allowHosts: ["box.local"], allowOrigins: [] };

function passes(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch (error) {
    assert.ok(error instanceof RequestError);
    return false;
  }
}

Deno.test("on loopback only loopback names and allowed hosts pass", () => {
  for (const host of ["localhost", "localhost:8000", "LOCALHOST:8000", "127.0.0.1:8000", "127.5.5.5", "[::1]:8000"]) {
    assert.ok(passes(() => checkHost(host, LOOPBACK)), host);
  }
  for (
    const host of [
      "evil.example",
      "evil.example:8000",
      "127.0.0.1.evil.example",
      "localhost.evil.example",
      "",
      "10.0.0.5",
      "::1",
      "box.local",
      "[fe80::1]",
      "localhost:8000:80",
      "127.0.0.1@evil.example",
    ]
  ) {
    assert.ok(!passes(() => checkHost(host, LOOPBACK)), host);
  }
  assert.ok(passes(() => checkHost("box.local:8000", { ...LOOPBACK, allowHosts: ["box.local"] })));
  assert.ok(!passes(() => checkHost(null, LOOPBACK)));
});

Deno.test("on another interface any address passes, but names must be allowed", () => {
  for (const host of ["10.0.0.5:8000", "192.168.1.2", "[fe80::1]:8000", "box.local", "localhost"]) {
    assert.ok(passes(() => checkHost(host, OPEN)), host);
  }
  assert.ok(!passes(() => checkHost("evil.example", OPEN)));
});

Deno.test("foreign origins are refused, the server's own and allowed ones pass", () => {
  const origin = (value: string | undefined, config: Partial<GuardConfig> = {}): boolean => {
    const headers = new Headers({ host: "localhost:8000" });
    if (value !== undefined) headers.set("origin", value);
    return passes(() => checkOrigin(headers, { ...LOOPBACK, ...config }));
  };
  assert.ok(origin(undefined));
  assert.ok(origin("http://localhost:8000"));
  assert.ok(origin("https://app.example", { allowOrigins: ["https://app.example"] }));
  assert.ok(origin("null", { allowOrigins: ["*"] }));
  for (const foreign of ["https://evil.example", "null", "http://localhost:3000", "http://localhost", "file://"]) {
    assert.ok(!origin(foreign), foreign);
    assert.ok(!origin(foreign, { allowOrigins: ["https://app.example"] }), foreign);
  }
});

Deno.test("the key is read from both headers, and every credential that is shown must match", () => {
  const check = (headers: HeadersInit): boolean => passes(() => checkKey(new Headers(headers), OPEN));
  assert.ok(check({ authorization: "Bearer key" }));
  assert.ok(check({ authorization: "bearer  key" }));
  assert.ok(check({ "x-api-key": "key" }));
  assert.ok(check({ authorization: "Bearer key", "x-api-key": "key" }));
  assert.ok(!check({}));
  assert.ok(!check({ authorization: "Bearer keys" }));
  assert.ok(!check({ authorization: "Bearer " }));
  assert.ok(!check({ authorization: "Basic key" }));
  assert.ok(!check({ authorization: "Bearer key", "x-api-key": "other" }));
  assert.ok(!check({ authorization: "Bearer other", "x-api-key": "key" }));
  assert.ok(passes(() => checkKey(new Headers(), LOOPBACK)));
});

Deno.test("a client's number is its key's, else its connection's", () => {
  const keyed = new Headers({ authorization: "Bearer a" });
  assert.equal(toClientNumber(keyed, "one:1"), toClientNumber(keyed, "two:2"));
  assert.equal(toClientNumber(new Headers({ "x-api-key": "a" }), "x"), toClientNumber(keyed, "y"));
  assert.notEqual(toClientNumber(new Headers(), "one:1"), toClientNumber(new Headers(), "two:2"));
});

Deno.test("with a key every route but the probes asks for it, unknown paths tell nothing", async () => {
  await using server = await openTestApp({ flags: { apiKey: "secret" } });
  for (const path of ["/", "/livez", "/healthz", "/readyz", "/health", "/health/ready"]) {
    assert.equal((await server.get(path)).status, 200, path);
  }
  for (const path of ["/v1/models", "/v1/models/x", "/v1/status", "/metrics", "/models", "/v1/responses/x"]) {
    const response = await server.get(path);
    assert.equal(response.status, 401, path);
    assert.equal(response.headers.get("www-authenticate"), "Bearer");
    assert.equal((await response.json()).error.code, "invalid_api_key");
    const opened = await server.get(path, { headers: { "x-api-key": "secret" } });
    assert.notEqual(opened.status, 401, path);
  }
  const body = { messages: [{ role: "user", content: "Hi" }] };
  assert.equal((await server.post("/v1/chat/completions", body)).status, 401);
  const answered = await server.post("/v1/chat/completions", body, { headers: { authorization: "Bearer secret" } });
  assert.equal(answered.status, 200);
  await answered.text();
});

Deno.test("a foreign Host is a 400 and a foreign Origin a 403, on every path, in the envelope", async () => {
  await using server = await openTestApp();
  for (const path of ["/", "/v1/models", "/nothing"]) {
    const host = await server.get(path, { headers: { host: "evil.example" } });
    assert.equal(host.status, 400);
    assert.equal((await host.json()).error.code, "host_not_allowed");
    const origin = await server.get(path, { headers: { origin: "https://evil.example" } });
    assert.equal(origin.status, 403);
    assert.equal(origin.headers.get("access-control-allow-origin"), null);
    assert.equal((await origin.json()).error.code, "origin_not_allowed");
  }
});

Deno.test("CORS answers only allowed origins, preflights included, and needs no key for a preflight", async () => {
  await using server = await openTestApp({ flags: { allowOrigin: ["https://app.example"], apiKey: "k" } });
  const ask = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,x-stainless-os",
  };
  const preflight = await server.app.request("/v1/chat/completions", {
    method: "OPTIONS",
    headers: { origin: "https://app.example", "access-control-request-private-network": "true", ...ask },
  });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get("access-control-allow-origin"), "https://app.example");
  assert.equal(preflight.headers.get("access-control-allow-headers"), "authorization,x-stainless-os");
  assert.equal(preflight.headers.get("access-control-allow-private-network"), "true");
  assert.equal(preflight.headers.get("vary"), "origin");
  const foreign = await server.app.request("/v1/chat/completions", {
    method: "OPTIONS",
    headers: { origin: "https://evil.example", ...ask },
  });
  assert.equal(foreign.status, 403);
  const refused = await server.get("/v1/models", { headers: { origin: "https://app.example" } });
  assert.equal(refused.status, 401);
  assert.equal(refused.headers.get("access-control-allow-origin"), "https://app.example");
});
