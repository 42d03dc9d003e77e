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
  let silence: Silence | undefined;
  return new ReadableStream<Uint8Array>({
    start(controller): void {
      silence = new Silence(options.clock, () => {
        // One that was not read yet shows all that a second one would.
        if ((controller.desiredSize ?? 0) >= 0) controller.enqueue(encoder.encode(options.keepAlive()));
      });
    },
    async pull(controller): Promise<void> {
      silence?.begin();
      try {
        pending = frames.next();
        const result = await pending;
        silence?.end();
        if (!result.done) return controller.enqueue(encoder.encode(result.value));
        silence?.close();
        controller.close();
      } catch (error) {
        silence?.close();
        throw error;
      }
    },
    async cancel(): Promise<void> {
      silence?.close();
      options.onLeave();
      await pending;
      while (!(await frames.next()).done);
    },
  }, { highWaterMark: 0 });
}

/** Rings in every KEEP_ALIVE_MS of a wait. One alarm serves many: a timer a frame is a tenth of its cost. */
class Silence {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #sinceMs: number | undefined;
  #stop: (() => void) | undefined;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** A wait begins. */
  begin(): void {
    this.#sinceMs = this.#clock.nowMs();
    if (this.#stop === undefined) this.#set(KEEP_ALIVE_MS);
  }

  /** It ends. */
  end(): void {
    this.#sinceMs = undefined;
  }

  /** There will be no other. */
  close(): void {
    this.#sinceMs = undefined;
    this.#stop?.();
    this.#stop = undefined;
  }

  #set(delayMs: number): void {
    this.#stop = this.#clock.after(delayMs, () => {
      this.#stop = undefined;
      if (this.#sinceMs === undefined) return; // the next wait sets it again
      const nowMs = this.#clock.nowMs();
      if (nowMs - this.#sinceMs >= KEEP_ALIVE_MS) {
        this.#sinceMs = nowMs;
        this.#ring();
      }
      this.#set(KEEP_ALIVE_MS - (nowMs - this.#sinceMs));
    });
  }
}
