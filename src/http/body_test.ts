import assert from "node:assert/strict";
import { ManualClock } from "../../tests/support/manual_clock.ts";
import { openTestApp } from "../../tests/support/test_app.ts";
import { RequestError } from "../api/errors.ts";
import { readBody } from "./body.ts";

const LIMITS = { maxBodyBytes: 1000, bodyTimeoutMs: 5000 };

/** A request whose body is sent by hand. */
function openRequest(headers: HeadersInit = {}): {
  request: Request;
  send: (bytes: number) => void;
  end: () => void;
  state: { cancelled: boolean };
} {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const state = { cancelled: false };
  const body = new ReadableStream<Uint8Array>({
    start: (given) => void (controller = given),
    cancel: () => void (state.cancelled = true),
  });
  return {
    request: new Request("http://localhost/", { method: "POST", body, headers }),
    send: (bytes) => controller?.enqueue(new Uint8Array(bytes)),
    end: () => controller?.close(),
    state,
  };
}

function isError(code: string): (error: unknown) => boolean {
  return (error) => error instanceof RequestError && error.code === code;
}

/** Lets what is resolved already run. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

Deno.test("a compressed body is a 415 that says so, a body marked as plain is read", async () => {
  await using server = await openTestApp();
  const send = async (encoding: string): Promise<Response> =>
    await server.app.fetch(
      new Request("http://localhost/v1/completions", {
        method: "POST",
        headers: { "content-encoding": encoding },
        body: "{}",
      }),
    );
  const refused = await send("gzip");
  assert.equal(refused.status, 415);
  assert.match(await refused.text(), /Content-Encoding/);
  const read = await send("identity");
  assert.match(await read.text(), /`prompt`/);
});

Deno.test("a body is read whole up to its limit", async () => {
  const { request, send, end } = openRequest();
  const read = readBody(request, LIMITS, new ManualClock());
  send(600);
  send(400);
  end();
  assert.equal((await read).length, 1000);
  assert.equal((await readBody(new Request("http://localhost/"), LIMITS, new ManualClock())).length, 0);
});

Deno.test("a body over the limit is refused on its declared size before it is read", async () => {
  const { request } = openRequest({ "content-length": "1001" });
  await assert.rejects(readBody(request, LIMITS, new ManualClock()), isError("request_too_large"));
});

Deno.test("a body over the limit without a declared size is refused as soon as it is", async () => {
  const { request, send, state } = openRequest();
  const read = readBody(request, LIMITS, new ManualClock());
  send(600);
  send(401);
  await assert.rejects(read, isError("request_too_large"));
  await settle();
  assert.ok(state.cancelled);
});

Deno.test("a body that stops is refused after the timeout, one that is only slow is not", async () => {
  const clock = new ManualClock();
  const { request, send, state } = openRequest();
  const read = readBody(request, LIMITS, clock);
  for (let i = 0; i < 5; i++) {
    send(1);
    await settle();
    clock.advance(4999);
  }
  clock.advance(1);
  await assert.rejects(read, isError("request_timeout"));
  await settle();
  assert.ok(state.cancelled);
  assert.equal(clock.alarmCount, 0);
});

Deno.test("the limits of the configuration hold on the routes", async () => {
  await using server = await openTestApp({ flags: { maxBodyBytes: 2000 } });
  const body = { messages: [{ role: "user", content: "x".repeat(3000) }] };
  for (const path of ["/v1/chat/completions", "/v1/completions"]) {
    const response = await server.post(path, body);
    assert.equal(response.status, 413);
    assert.equal(response.headers.get("connection"), "close");
    const { error } = await response.json();
    assert.equal(error.code, "request_too_large");
    assert.match(error.message, /2000 bytes/);
  }
});
