import assert from "node:assert/strict";
import { ManualClock } from "../../tests/support/manual_clock.ts";
import { CONNECTION_LIMITS, listen, type Listener, type ListenerParts } from "./listener.ts";

const encoder = new TextEncoder();

/** A listener on a free port, closed at the end of its test. */
async function open(parts: Partial<ListenerParts> = {}, host = "127.0.0.1"): Promise<Listener & AsyncDisposable> {
  const listener = await listen({ host, port: 0 }, {
    fetch: (request, remote) => Response.json({ method: request.method, url: request.url, remote }),
    closing: () => false,
    onError: () => {},
    clock: new ManualClock(),
    ...parts,
  });
  return {
    ...listener,
    async [Symbol.asyncDispose](): Promise<void> {
      const closed = listener.close();
      listener.closeConnections();
      await closed;
    },
  };
}

/** Sends pieces, each in a packet of its own, and reads until the server closes. */
async function talk(port: number, ...pieces: string[]): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  for (const piece of pieces) {
    await connection.write(encoder.encode(piece));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return await new Response(connection.readable).text();
}

const POST = "POST /x HTTP/1.1\r\nhost: localhost\r\n";

Deno.test("it listens on IPv6, and says who calls", async () => {
  await using listener = await open({}, "::1");
  const body = await (await fetch(`http://[::1]:${listener.port}/a?b=c`)).json();
  assert.match(body.remote, /^::1:\d+$/);
  assert.equal(body.url, `http://[::1]:${listener.port}/a?b=c`);
});

Deno.test("a port that is taken is told with what was tried, and so is an address that is not here", async () => {
  await using listener = await open();
  const { port } = listener;
  const parts = { fetch: (): Response => new Response(), closing: () => false, onError: () => {} };
  const again = listen({ host: "127.0.0.1", port }, { ...parts, clock: new ManualClock() });
  await assert.rejects(again, (error: unknown) => {
    assert.ok(error instanceof Deno.errors.AddrInUse);
    assert.equal(
      error.message,
      `Cannot listen on 127.0.0.1:${port}: the port is taken. Choose another with --port, or leave it out.`,
    );
    return true;
  });
  const elsewhere = listen({ host: "192.0.2.7", port: 0 }, { ...parts, clock: new ManualClock() });
  await assert.rejects(elsewhere, Deno.errors.AddrNotAvailable);
});

Deno.test("when every port that may be tried is taken, the error names the range", async () => {
  const parts = { fetch: (): Response => new Response(), closing: () => false, onError: () => {} };
  const taken: Listener[] = [];
  let failure: unknown;
  while (failure === undefined && taken.length <= 10) {
    try {
      taken.push(await listen({ host: "127.0.0.1" }, { ...parts, clock: new ManualClock() }));
    } catch (error) {
      failure = error;
    }
  }
  await Promise.all(taken.map((listener) => listener.close()));
  assert.ok(failure instanceof Deno.errors.AddrInUse, String(failure));
  assert.match(failure.message, /every port from 8000 to 8009 is taken/);
});

Deno.test("a connection is kept for the next request, and HEAD has no body", async () => {
  await using listener = await open();
  const head = "HEAD /1 HTTP/1.1\r\nhost: localhost\r\n\r\n";
  const last = "GET /2 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
  const text = await talk(listener.port, head, last);
  const answers = text.split("HTTP/1.1 200 OK\r\n").slice(1);
  assert.equal(answers.length, 2, text);
  assert.ok(answers[0]?.endsWith("\r\n\r\n"), text);
  const [one, two] = answers.map((answer) => Number(/content-length: (\d+)/i.exec(answer)?.[1]));
  assert.ok(one && two && answers[1]?.endsWith("}"));
});

Deno.test("what is no HTTP, and what comes too slowly or is too large, is refused in the envelope", async () => {
  const limits = { ...CONNECTION_LIMITS, headMs: 30, requestMs: 60, checkMs: 10, headBytes: 4096 };
  await using listener = await open({
    limits,
    fetch: async (request) => new Response(await request.text()),
  });
  const cases: [string, number, string][] = [
    ["BREW / HTTP/1.1\r\n\r\n", 400, "invalid_request"],
    [`${POST}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\nabc`, 400, "invalid_request"],
    [`${POST}x-long: ${"a".repeat(8000)}\r\n\r\n`, 431, "invalid_request"],
    ["POST /x HTTP/1.1\r\nhost: l", 408, "request_timeout"],
    [`${POST}content-length: 30\r\n\r\nabc`, 408, "request_timeout"],
  ];
  for (const [text, status, code] of cases) {
    const answer = await talk(listener.port, text);
    assert.ok(answer.startsWith(`HTTP/1.1 ${status} `), `${text.slice(0, 60)} → ${answer}`);
    assert.equal(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4)).error.code, code);
  }
});

Deno.test("a target with a host of its own counts as that host; a method that no Request has is a 400", async () => {
  await using listener = await open({ fetch: (request) => new Response(request.headers.get("host")) });
  const absolute = "GET http://evil.example/x HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
  assert.match(await talk(listener.port, absolute), /\r\n\r\nevil\.example$/);
  const trace = "TRACE / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
  assert.match(await talk(listener.port, trace), /^HTTP\/1\.1 400 [^]*invalid_request/);
});

Deno.test("a request of HTTP/1.1 without Host is a 400, one of HTTP/1.0 is not; other expectations are ignored", async () => {
  await using listener = await open();
  assert.match(
    await talk(listener.port, "GET / HTTP/1.1\r\nconnection: close\r\n\r\n"),
    /^HTTP\/1\.1 400 [^]*host_not_allowed/,
  );
  assert.match(await talk(listener.port, "GET / HTTP/1.0\r\n\r\n"), /^HTTP\/1\.1 200 [^]*http:\/\/localhost\//);
  const expecting = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nexpect: tea\r\n\r\n";
  assert.match(await talk(listener.port, expecting), /^HTTP\/1\.1 200 [^]*"method":"GET"/);
});

Deno.test("a client that waits for 100 Continue is asked for its body only where it is read", async () => {
  await using listener = await open({
    fetch: async (request) => new Response(request.url.endsWith("/x") ? await request.text() : "unread"),
  });
  const rest = "host: localhost\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n";
  assert.match(
    await talk(listener.port, `POST /x HTTP/1.1\r\n${rest}`, "abc"),
    /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 [^]*\r\n\r\nabc$/,
  );
  const unread = await talk(listener.port, `POST /y HTTP/1.1\r\n${rest}`);
  assert.match(unread, /^HTTP\/1\.1 200 [^]*connection: close[^]*\r\n\r\nunread$/i);
});

Deno.test("an answer that comes before the body's end reaches a client that goes on writing", async () => {
  await using listener = await open({ fetch: () => new Response("no", { status: 413 }) });
  const pieces = Array.from({ length: 40 }, () => "x".repeat(100_000));
  const answer = await talk(listener.port, `${POST}content-length: 4000000\r\n\r\n`, ...pieces);
  assert.match(answer, /^HTTP\/1\.1 413 [^]*connection: close[^]*\r\n\r\nno$/i);
});

Deno.test("a stream that breaks off breaks its connection off", async () => {
  const frames = ["data: 1\n\n"];
  const stream = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      pull(controller): void {
        const frame = frames.pop();
        if (frame === undefined) controller.error(new Error("lost"));
        else controller.enqueue(encoder.encode(frame));
      },
    }, { highWaterMark: 0 });
  await using listener = await open({
    fetch: () => new Response(stream(), { headers: { "content-type": "text/event-stream" } }),
  });
  const text = await talk(listener.port, "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
  assert.match(text, /data: 1\n\n/);
  assert.ok(!text.endsWith("0\r\n\r\n"), "it looks whole");
});

Deno.test("fifty clients that read nothing hold up neither the server's memory nor a client that reads", async () => {
  const PIECE = new Uint8Array(65_536).fill(46);
  const PIECES = 400;
  const made: number[] = [];
  const fetchStream = (): Response => {
    const index = made.push(0) - 1;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller): void {
        const count = made[index] = (made[index] ?? 0) + 1;
        controller.enqueue(PIECE);
        if (count === PIECES) controller.close();
      },
    }, { highWaterMark: 0 });
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  };
  await using listener = await open({ fetch: fetchStream });
  const slow: Deno.TcpConn[] = [];
  for (let i = 0; i < 50; i++) {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
    await connection.write(encoder.encode("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"));
    slow.push(connection);
  }
  const fast = await (await fetch(`http://127.0.0.1:${listener.port}/`)).bytes();
  assert.equal(fast.length, PIECES * PIECE.length);
  // What the kernel holds for a connection is a few MB; 26 MB are not asked for.
  assert.ok(made.slice(0, 50).every((count) => count < PIECES / 2), made.join(" "));
  for (const connection of slow) connection.close();
});

Deno.test("a stream that is made after its client has left is told so", async () => {
  const { promise: cancelled, resolve } = Promise.withResolvers<void>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  await using listener = await open({
    fetch: async (request) => {
      ask();
      await new Promise((left) => request.signal.addEventListener("abort", left));
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        controller.enqueue(encoder.encode("data: 1\n\n"));
      };
      const stream = new ReadableStream<Uint8Array>({ pull, cancel: () => resolve() }, { highWaterMark: 0 });
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    },
  });
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
  await connection.write(encoder.encode("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"));
  await asked;
  connection.close();
  await cancelled;
});
