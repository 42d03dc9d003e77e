import assert from "node:assert/strict";
import { ManualClock } from "../../tests/support/manual_clock.ts";
import { KEEP_ALIVE_MS, toEventStream, toFrame } from "./sse.ts";

/** Frames released by hand. */
class Frames {
  asked = 0;
  ended = false;
  readonly #gates: PromiseWithResolvers<string | undefined>[] = [];

  async *iterate(): AsyncGenerator<string, void> {
    try {
      for (;;) {
        const frame = await this.#gate(this.asked++).promise;
        if (frame === undefined) return;
        yield frame;
      }
    } finally {
      this.ended = true;
    }
  }

  /** Frame number `index`; undefined: the end. */
  release(index: number, frame: string | undefined): void {
    this.#gate(index).resolve(frame);
  }

  #gate(index: number): PromiseWithResolvers<string | undefined> {
    return this.#gates[index] ??= Promise.withResolvers();
  }
}

interface Opened {
  frames: Frames;
  clock: ManualClock;
  left: () => number;
  reader: ReadableStreamDefaultReader<Uint8Array>;
  read: () => Promise<string | undefined>;
}

function open(): Opened {
  const frames = new Frames();
  const clock = new ManualClock();
  let left = 0;
  const stream = toEventStream(frames.iterate(), { clock, keepAlive: () => "alive", onLeave: () => void left++ });
  const reader = stream.getReader();
  const read = async (): Promise<string | undefined> => {
    const { value } = await reader.read();
    return value && new TextDecoder().decode(value);
  };
  return { frames, clock, left: () => left, reader, read };
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

Deno.test("frames come in order and the stream ends after the last", async () => {
  const { frames, read, left, clock } = open();
  frames.release(0, "one");
  frames.release(1, "two");
  frames.release(2, undefined);
  assert.equal(await read(), "one");
  assert.equal(await read(), "two");
  assert.equal(await read(), undefined);
  assert.equal(left(), 0);
  assert.equal(clock.alarmCount, 0);
});

Deno.test("a frame is asked for only when the reader can take it", async () => {
  const { frames, read } = open();
  await settle();
  assert.equal(frames.asked, 0);
  for (let i = 0; i < 10; i++) frames.release(i, String(i));
  await read();
  await settle();
  assert.ok(frames.asked <= 2, `${frames.asked} frames were asked for`);
});

Deno.test("every silence of 15 s is filled, and the frame that was late is not lost", async () => {
  const { frames, clock, read } = open();
  for (let i = 0; i < 3; i++) {
    const next = read();
    await settle();
    clock.advance(KEEP_ALIVE_MS - 1);
    await settle();
    clock.advance(1);
    assert.equal(await next, "alive");
  }
  const late = read();
  await settle();
  frames.release(0, "late");
  assert.equal(await late, "late");
  assert.equal(KEEP_ALIVE_MS, 15_000);
});

Deno.test("a client that leaves is reported once, and the frames are drained to their end", async () => {
  const { frames, reader, read, left } = open();
  frames.release(0, "one");
  assert.equal(await read(), "one");
  void read();
  await settle();
  const cancelled = reader.cancel();
  await settle();
  assert.equal(left(), 1);
  frames.release(1, "unread");
  frames.release(2, undefined);
  await cancelled;
  assert.equal(left(), 1);
  assert.ok(frames.ended);
});

Deno.test("a frame is one line whatever the data holds", () => {
  const frame = toFrame({ data: { text: "a\nb\r\nc\u2028d\u0000" } });
  assert.match(frame, /^data: [^\n\r]*\n\n$/);
  assert.deepEqual(JSON.parse(frame.slice("data: ".length)), { text: "a\nb\r\nc\u2028d\u0000" });
});

Deno.test("an event has its name on a line before its data, and [DONE] is a word", () => {
  assert.equal(toFrame({ event: "ping", data: { type: "ping" } }), 'event: ping\ndata: {"type":"ping"}\n\n');
  assert.equal(toFrame({ data: "[DONE]" }), "data: [DONE]\n\n");
});
