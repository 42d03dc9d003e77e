/**
 * Frames → text/event-stream, with back-pressure and keep-alive.
 *
 * A frame is asked for only when the connection can take it. When none has come for a while, a keep-alive frame is
 * sent instead and the wait goes on. A client that leaves is reported once; what is left of the frames is then drained,
 * so that whoever makes them reaches its end.
 *
 * @module
 */
import type { WireEvent } from "../api/answer.ts";
import type { Clock } from "./clock.ts";

/** Silence after which a stream shows that it lives. Agents give up after 30 s and more (measured). */
export const KEEP_ALIVE_MS = 15_000;

/** Headers of every event stream: no cache, no proxy may hold frames back. */
export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** One frame. JSON text has no raw line breaks, so its `data:` is one line. */
export function toFrame({ event, data }: WireEvent): string {
  const line = typeof data === "string" ? data : JSON.stringify(data);
  return event === undefined ? `data: ${line}\n\n` : `event: ${event}\ndata: ${line}\n\n`;
}

/** What a stream needs beside its frames. */
export interface EventStreamOptions {
  /** Measures the silence. */
  clock: Clock;
  /** The frame that is sent in it. */
  keepAlive: () => string;
  /** The client has left. */
  onLeave: () => void;
}

/** The body of a streamed response. */
export function toEventStream(frames: AsyncIterator<string>, options: EventStreamOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let pending: Promise<IteratorResult<string>> | undefined;
  return new ReadableStream<Uint8Array>({
    async pull(controller): Promise<void> {
      pending ??= frames.next();
      const result = await nextOrSilence(pending, options.clock);
      if (result === "silence") {
        controller.enqueue(encoder.encode(options.keepAlive()));
        return;
      }
      pending = undefined;
      if (result.done) controller.close();
      else controller.enqueue(encoder.encode(result.value));
    },
    async cancel(): Promise<void> {
      options.onLeave();
      await pending;
      while (!(await frames.next()).done);
    },
  }, { highWaterMark: 0 });
}

async function nextOrSilence(
  pending: Promise<IteratorResult<string>>,
  clock: Clock,
): Promise<IteratorResult<string> | "silence"> {
  const { promise: silence, resolve } = Promise.withResolvers<"silence">();
  const stop = clock.after(KEEP_ALIVE_MS, () => resolve("silence"));
  try {
    return await Promise.race([pending, silence]);
  } finally {
    stop();
  }
}
