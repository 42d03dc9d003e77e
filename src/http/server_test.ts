import assert from "node:assert/strict";
import { ManualPace } from "../../tests/support/manual_pace.ts";
import { openTestApp, readEvents, type TestApp } from "../../tests/support/test_app.ts";
import { FORCED_EXIT_CODE, type RunningServer, type SignalSource, startServer, stopOnSignals } from "./server.ts";

const USER = [{ role: "user", content: "Hi" }];

/** Signals raised by hand; counts how the process would have ended. */
class Signals implements SignalSource {
  readonly exits: number[] = [];
  readonly #callbacks = new Map<string, Set<() => void>>();

  on(signal: Deno.Signal, callback: () => void): void {
    this.#callbacks.set(signal, (this.#callbacks.get(signal) ?? new Set()).add(callback));
  }

  off(signal: Deno.Signal, callback: () => void): void {
    this.#callbacks.get(signal)?.delete(callback);
  }

  exit(code: number): void {
    this.exits.push(code);
  }

  raise(signal: Deno.Signal): void {
    for (const callback of this.#callbacks.get(signal) ?? []) callback();
  }

  get count(): number {
    return this.#callbacks.values().reduce((sum, set) => sum + set.size, 0);
  }
}

async function start(server: TestApp): Promise<RunningServer> {
  return await startServer({ ...server, config: { ...server.config, port: 0 } });
}

async function ask(url: string, body: object, init: RequestInit = {}): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return await fetch(`${url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(body), headers, ...init });
}

/** Waits, without a clock, until something holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}

Deno.test("a server answers over a socket, whole and streamed, and stops when nothing runs", async () => {
  await using server = await openTestApp();
  const running = await start(server);
  assert.match(running.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  const whole = await (await ask(running.url, { messages: USER })).json();
  assert.equal(whole.choices[0].message.content, "Hello there.");
  const events = await readEvents(await ask(running.url, { messages: USER, stream: true }));
  assert.equal(events.at(-1), "[DONE]");
  await running.stop();
  await running.finished;
  await assert.rejects(ask(running.url, { messages: USER }));
});

Deno.test("a client that closes its connection ends its generation, streamed and whole, in prefill and in decode", async () => {
  for (const stream of [true, false]) {
    for (const steps of [1, 8]) {
      const pace = new ManualPace();
      await using server = await openTestApp({ pace: pace.pace, config: { prefillChunkTokens: 5 } });
      const running = await start(server);
      const leaving = new AbortController();
      const answer = ask(running.url, { messages: USER, stream }, { signal: leaving.signal });
      const body = answer.then((response) => response.text()).catch(() => "left");
      await until(() => server.engine.stats().submitted === 1);
      pace.advance(steps);
      await until(() => server.engine.stats().steps === steps);
      leaving.abort();
      assert.equal(await body, "left");
      await until(() => server.activity.live()[0]?.abort.signal.aborted !== false);
      pace.advance();
      await until(() => server.engine.stats().cancelled === 1);
      assert.equal(server.engine.stats().steps, steps + 1);
      await until(() => server.activity.counts.left === 1);
      await running.stop();
    }
  }
});

/** A request in packets of its own: head, then body. @returns The connection, which may be left. */
async function connectAsking(port: number, body: object): Promise<Deno.TcpConn> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  await connection.write(new TextEncoder().encode(head));
  await new Promise((resolve) => setTimeout(resolve, 1));
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
  return connection;
}

for (const [name, size] of [["in a packet of its own", 10], ["of 20 kB", 20_000]] as const) {
  Deno.test(`a client whose body came ${name} leaves: its request is gone before the next step, in every phase`, async () => {
    const messages = [{ role: "user", content: "x".repeat(size) }];
    const chunk = Math.ceil(size / 4) + 5;
    for (const stream of [true, false]) {
      for (const [phase, steps] of [["queued", 0], ["prefill", 2], ["generation", 8]] as const) {
        const pace = new ManualPace();
        await using server = await openTestApp({
          pace: pace.pace,
          contextTokens: 32_768,
          config: { prefillChunkTokens: chunk, maxRequests: 1 },
        });
        const running = await start(server);
        // Somebody else's request holds the only place while this one is queued.
        const first = phase === "queued" ? await connectAsking(running.port, { messages: USER }) : undefined;
        if (first) await until(() => server.engine.stats().submitted === 1);
        const leaving = await connectAsking(running.port, { messages, stream });
        await until(() => server.engine.stats().submitted === (first ? 2 : 1));
        pace.advance(steps);
        await until(() => server.engine.stats().steps === steps);
        const live = server.activity.live().at(-1);
        if (steps > 0) await until(() => live?.phase === phase);
        assert.equal(live?.phase, phase);
        leaving.close();
        await until(() => live?.abort.signal.aborted === true);
        first?.close();
        await until(() => server.activity.live().every(({ abort }) => abort.signal.aborted));
        pace.advance();
        await until(() => server.engine.stats().cancelled === (first ? 2 : 1));
        assert.ok(server.engine.stats().steps <= steps + 1, `${phase}, ${stream}`);
        await until(() => server.activity.counts.left === (first ? 2 : 1));
        await running.stop();
      }
    }
  });
}

Deno.test("the first signal drains: readiness is 503, new work is refused, what runs is finished", async () => {
  const pace = new ManualPace();
  await using server = await openTestApp({ pace: pace.pace });
  const running = await start(server);
  const signals = new Signals();
  const ended = stopOnSignals(running, signals);
  const answer = ask(running.url, { messages: USER });
  await until(() => server.engine.stats().submitted === 1);
  signals.raise("SIGTERM");
  const ready = await fetch(`${running.url}/readyz`);
  assert.deepEqual([ready.status, (await ready.json()).state], [503, "draining"]);
  const refused = await ask(running.url, { messages: USER });
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("retry-after"), "5");
  await refused.text();
  pace.advance(100);
  assert.equal((await (await answer).json()).choices[0].finish_reason, "stop");
  await ended;
  assert.deepEqual([signals.exits, signals.count], [[], 0]);
});

Deno.test("the drain is bounded: what still runs after it is cancelled and told", async () => {
  const pace = new ManualPace();
  await using server = await openTestApp({ pace: pace.pace, flags: { drainSeconds: "7" } });
  const running = await start(server);
  const answer = ask(running.url, { messages: USER });
  await until(() => server.engine.stats().submitted === 1);
  const stopped = running.stop();
  server.clock.advance(6999);
  assert.equal(server.engine.stats().cancelled, 0);
  server.clock.advance(1);
  await until(() => server.activity.live()[0]?.abort.signal.aborted !== false);
  pace.advance();
  const response = await answer;
  assert.equal(response.status, 503);
  assert.equal((await response.json()).error.code, "server_shutting_down");
  await stopped;
});

Deno.test("a second signal ends the process at once, in the middle of a stream", async () => {
  const pace = new ManualPace();
  await using server = await openTestApp({ pace: pace.pace });
  const running = await start(server);
  const signals = new Signals();
  const ended = stopOnSignals(running, signals);
  const answer = ask(running.url, { messages: USER, stream: true });
  await until(() => server.engine.stats().submitted === 1);
  pace.advance(3);
  await until(() => server.activity.live()[0]?.phase === "generation");
  signals.raise("SIGTERM");
  assert.deepEqual(signals.exits, []);
  signals.raise("SIGINT");
  assert.deepEqual(signals.exits, [FORCED_EXIT_CODE]);
  pace.advance(100);
  await (await answer).text();
  await ended;
});

Deno.test("a taken port is an error when it was asked for", async () => {
  await using server = await openTestApp();
  const running = await start(server);
  const { port } = running;
  await assert.rejects(startServer({ ...server, config: { ...server.config, port } }), Deno.errors.AddrInUse);
  await running.stop();
});

Deno.test("without a port the first free one of the range is taken", async () => {
  await using server = await openTestApp();
  const one = await startServer(server);
  const two = await startServer(server);
  assert.ok(one.port >= 8000 && two.port > one.port && two.port <= 8009, `${one.port}, ${two.port}`);
  await one.stop();
  await two.stop();
});

/** Sends raw bytes, gives the answer up to the end of its JSON. */
async function exchange(port: number, text: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(text));
  const buffer = new Uint8Array(4096);
  let answer = "";
  while (!answer.endsWith("}}")) {
    const count = await connection.read(buffer);
    if (count === null) break;
    answer += new TextDecoder().decode(buffer.subarray(0, count));
  }
  return answer;
}

Deno.test("bodies that are too large or too slow are refused on the socket before they are whole", async () => {
  await using server = await openTestApp({ flags: { maxBodyBytes: 2000 } });
  const running = await start(server);
  const head = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n";
  const large = await exchange(running.port, `${head}content-length: 2001\r\n\r\n{"mess`);
  assert.match(large, /^HTTP\/1\.1 413 /);
  assert.match(large, /connection: close[^]*request_too_large/i);
  const chunk = `${(1500).toString(16)}\r\n${"x".repeat(1500)}\r\n`;
  const chunked = await exchange(running.port, `${head}transfer-encoding: chunked\r\n\r\n${chunk}${chunk}`);
  assert.match(chunked, /^HTTP\/1\.1 413 /);
  await until(() => server.clock.alarmCount === 0); // both connections are closed
  const slow = exchange(running.port, `${head}content-length: 100\r\n\r\n{"mess`);
  await until(() => server.clock.alarmCount > 0);
  server.clock.advance(30_000);
  assert.match(await slow, /^HTTP\/1\.1 408 [^]*request_timeout/);
  assert.equal(
    (await ask(running.url, { messages: USER }).then((response) => response.json())).object,
    "chat.completion",
  );
  await running.stop();
});

Deno.test("a connection that never sends its body does not hold up the end", async () => {
  await using server = await openTestApp();
  const running = await start(server);
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: running.port });
  const head = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{";
  await connection.write(new TextEncoder().encode(head));
  await until(() => server.clock.alarmCount > 0);
  let stopped = false;
  void running.stop().then(() => stopped = true);
  await until(() => {
    server.clock.advance(100);
    return stopped;
  });
});
