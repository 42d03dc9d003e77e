/**
 * Who may call, on every path and method that the table of routes has, with and without /v1: Host, Origin and key, each
 * before a byte of the body is read; and what no caller can guess.
 *
 * @module
 */
import assert from "node:assert/strict";
import { NOT_AVAILABLE_YET, ROUTES } from "../../src/http/app.ts";
import { newCallId } from "../../src/output/ids.ts";
import { serveScript } from "../support/scripted_server.ts";
import { openTestApp, type TestApp } from "../support/test_app.ts";
import { readSources } from "../tidy/sources.ts";
import { type Json, WIRES } from "./wires.ts";

const KEY = "a-key-of-the-server";
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const EVIL_HOST = { host: "evil.example" };
const EVIL_ORIGIN = { origin: "https://evil.example" };

/** A path of the table that a client can call, with and without its version. */
interface Place {
  path: string;
  methods: readonly string[];
  isOpen: boolean;
  isAnthropic: boolean;
}

/** Every path; one that several rows have is one place. */
function toPlaces(): Place[] {
  const places = new Map<string, Place & { methods: string[] }>();
  const add = (pattern: string, versioned: boolean, method: string, isOpen = false, wire = "openai"): void => {
    const plain = pattern.replaceAll(/:\w+(\{[^}]*\})?/g, "some-id");
    for (const path of versioned ? [plain, `/v1${plain}`] : [plain]) {
      const place = places.get(path) ?? { path, methods: [], isOpen, isAnthropic: wire === "anthropic" };
      place.methods.push(...method === "GET" ? ["GET", "HEAD"] : [method]);
      places.set(path, place);
    }
  };
  for (const { path, versioned, method, open, wire } of ROUTES) add(path, versioned === true, method, open, wire);
  for (const path of NOT_AVAILABLE_YET) add(path, true, "POST");
  add("/no/such/path", true, "POST");
  add("/messages/no-such-path", true, "POST", false, "anthropic");
  return [...places.values()];
}

/** Sends a body that counts its reads. */
async function send(
  { app }: TestApp,
  path: string,
  method: string,
  headers: Record<string, string>,
): Promise<{ response: Response; body: Json; reads: number }> {
  let reads = 0;
  const hasBody = method !== "GET" && method !== "HEAD";
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller): void => {
      reads++;
      controller.enqueue(new TextEncoder().encode("{}"));
      controller.close();
    },
  }, { highWaterMark: 0 });
  const init: RequestInit & { duplex?: "half" } = { method, headers, ...(hasBody && { body: stream, duplex: "half" }) };
  const response = await app.request(path, init);
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  return { response, body: isJson && text !== "" ? JSON.parse(text) : undefined, reads };
}

/** A refusal in the envelope of its path. */
function assertRefused(
  { response, body, reads }: Awaited<ReturnType<typeof send>>,
  status: number,
  place: Place,
  method: string,
): void {
  const where = `${method} ${place.path}`;
  assert.equal(response.status, status, where);
  assert.equal(reads, 0, `${where} read the body`);
  if (method === "HEAD") return;
  assert.equal(typeof body.error.message, "string", where);
  assert.equal(body.type, place.isAnthropic ? "error" : undefined, where);
  assert.equal(body.request_id, place.isAnthropic ? response.headers.get("request-id") : undefined, where);
}

Deno.test("A foreign Host or Origin is refused on every path, by every method, key or not, before the body is read", async () => {
  await using server = await openTestApp({ flags: { apiKey: KEY } });
  const places = toPlaces();
  assert.ok(places.length > ROUTES.length);
  for (const place of places) {
    for (const method of METHODS) {
      for (const key of [{}, { authorization: `Bearer ${KEY}` }]) {
        assertRefused(await send(server, place.path, method, { ...key, ...EVIL_HOST }), 400, place, method);
        assertRefused(await send(server, place.path, method, { ...key, ...EVIL_ORIGIN }), 403, place, method);
        assertRefused(await send(server, place.path, method, { ...key, origin: "null" }), 403, place, method);
      }
    }
    const preflight = { ...EVIL_ORIGIN, "access-control-request-method": "POST" };
    assertRefused(await send(server, place.path, "OPTIONS", preflight), 403, place, "OPTIONS");
  }
});

Deno.test("Without the key nothing but the probes answers: 401 in the envelope of the path, before the body is read", async () => {
  await using server = await openTestApp({ flags: { apiKey: KEY } });
  const wrong: Record<string, string>[] = [
    {},
    { authorization: "Bearer" },
    { authorization: `Bearer ${KEY}x` },
    { authorization: `Basic ${KEY}` },
    { "x-api-key": KEY.slice(1) },
    { authorization: `Bearer ${KEY}`, "x-api-key": "other" },
    { cookie: `key=${KEY}` },
  ];
  for (const place of toPlaces()) {
    for (const method of METHODS) {
      for (const headers of wrong) {
        const sent = await send(server, place.path, method, headers);
        const isKnown = place.methods.includes(method);
        if (place.isOpen && isKnown) assert.ok(sent.response.ok, place.path);
        else if (isKnown && /no-such|no\/such/.test(place.path)) assert.equal(sent.response.status, 404);
        else if (isKnown) {
          assertRefused(sent, 401, place, method);
          assert.equal(sent.response.headers.get("www-authenticate"), "Bearer");
        } else assert.ok(sent.response.status >= 400 && sent.reads === 0, `${method} ${place.path}`);
      }
    }
  }
});

Deno.test("A key in the address is none, and what a scripted server was asked is behind the key too", async () => {
  await using server = await openTestApp({ flags: { apiKey: KEY } });
  for (const name of ["key", "api_key", "api-key", "x-api-key", "access_token"]) {
    assert.equal((await server.get(`/v1/models?${name}=${KEY}`)).status, 401);
  }
  await using scripted = await serveScript({ replies: [{ text: "x" }] }, { apiKey: KEY });
  const asked = await fetch(`${scripted.url}/debug/fake`);
  assert.equal(asked.status, 401);
  await asked.body?.cancel();
});

/** Bits that ids of one kind can differ by, from as many as it takes to see every value of a digit. */
function countBits(ids: readonly string[]): number {
  const [first = ""] = ids;
  return Array.from({ length: first.length }, (_, at) => new Set(ids.map((id) => id[at])).size)
    .reduce((sum, values) => sum + Math.log2(values), 0);
}

Deno.test("Ids that records and answers are asked by have at least 120 random bits, on every wire", async () => {
  await using server = await openTestApp();
  const COUNT = 600;
  for (const wire of WIRES) {
    const answers: { id: string; requestId: string }[] = [];
    for (let index = 0; index < COUNT; index++) {
      const response = await server.post(wire.path, wire.ask([{ user: "Hi" }], { [wire.maxTokensField]: 1 }));
      const { id } = await response.json();
      answers.push({ id, requestId: response.headers.get("x-request-id") ?? "" });
    }
    assert.equal(new Set(answers.map(({ id }) => id)).size, COUNT);
    for (const ids of [answers.map(({ id }) => id), answers.map(({ requestId }) => requestId)]) {
      assert.ok(countBits(ids) >= 120, `${ids[0]}: ${countBits(ids)} bits`);
    }
  }
  assert.ok(countBits(Array.from({ length: 2000 }, newCallId)) >= 120);
});

Deno.test("Keys are compared in one place, in constant time, and never by equality", async () => {
  const sources = await readSources(/^src\/.*(?<!_test)\.ts$/);
  const files = (pattern: RegExp): string[] =>
    sources.filter(({ lines }) => lines.some((line) => pattern.test(line))).map(({ path }) => path);
  // The seal compares its own tags, which are no keys.
  assert.deepEqual(files(/timingSafeEqual/), ["src/api/seal.ts", "src/http/guards.ts"]);
  assert.deepEqual(files(/x-api-key|"authorization"/).filter((path) => path.startsWith("src/http/")), [
    "src/http/guards.ts",
  ]);
  const compared = /\bapiKey\s*[!=]==?(?!=|\s*undefined)|[!=]==?\s*(\w+\.)*apiKey\b/;
  assert.deepEqual(files(compared), []);
});
