/**
 * One answer being made: a buffer between the pump, which pushes, and one reader, which iterates.
 *
 * Invariants: at most one `finish` is ever yielded and nothing follows it; the buffer never holds more than maxTokens
 * tokens, one progress event and the finish, because consecutive progress events merge and the core draws no more.
 *
 * @module
 */
import type { GenerationEvent } from "../flow.ts";

/** What the reader is waiting for. */
interface Reader {
  resolve: (result: IteratorResult<GenerationEvent>) => void;
  reject: (error: unknown) => void;
}

/** How a generation ended, for its reader: `open` may still get events. */
type End = { state: "open" } | { state: "finished" } | { state: "failed"; error: unknown };

/** The events of one generation; made by `Engine.generate`. */
export class Generation implements AsyncIterableIterator<GenerationEvent> {
  readonly #leave: () => void;
  #buffer: GenerationEvent[] = [];
  #end: End = { state: "open" };
  #reader: Reader | undefined;

  /** A generation without events yet; `leave` is called once if the reader stops before the end. */
  constructor(leave: () => void) {
    this.#leave = leave;
  }

  /** Takes an event from the pump; `finish` is the last. */
  push(event: GenerationEvent): void {
    if (this.#end.state !== "open") return;
    if (event.type === "finish") this.#end = { state: "finished" };
    if (this.#reader) {
      this.#reader.resolve({ done: false, value: event });
      this.#reader = undefined;
      return;
    }
    if (event.type === "prefill" && this.#buffer.at(-1)?.type === "prefill") this.#buffer.pop();
    this.#buffer.push(event);
  }

  /** Ends it with an error, after the events that are buffered already. */
  fail(error: unknown): void {
    if (this.#end.state !== "open") return;
    this.#end = { state: "failed", error };
    this.#reader?.reject(error);
    this.#reader = undefined;
  }

  /** The next event. @throws {CoreError} If the generation failed. @throws {TypeError} If a call is pending already. */
  next(): Promise<IteratorResult<GenerationEvent>> {
    if (this.#reader) return Promise.reject(new TypeError("A generation has one reader: its next() is pending"));
    const value = this.#buffer.shift();
    if (value) return Promise.resolve({ done: false, value });
    const end = this.#end;
    if (end.state === "open") return new Promise((resolve, reject) => this.#reader = { resolve, reject });
    this.#end = { state: "finished" };
    if (end.state === "failed") return Promise.reject(end.error);
    return Promise.resolve({ done: true, value: undefined });
  }

  /** The reader leaves, by `break` or a throw: the request is cancelled in the core. */
  return(): Promise<IteratorResult<GenerationEvent>> {
    const open = this.#end.state === "open";
    this.#end = { state: "finished" };
    this.#buffer = [];
    this.#reader?.resolve({ done: true, value: undefined });
    this.#reader = undefined;
    if (open) this.#leave();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Itself: there is one reader. */
  [Symbol.asyncIterator](): this {
    return this;
  }
}
