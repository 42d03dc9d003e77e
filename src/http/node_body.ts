/**
 * The body of a request of `node:http` as a stream that reads only what is asked for.
 *
 * @module
 */
import type { IncomingMessage } from "node:http";

/** A body that may be read, or thrown away. */
export interface NodeBody {
  /** Its bytes; errors if the client breaks off. */
  readonly stream: ReadableStream<Uint8Array>;
  /** Whether the client was asked for it, or never waited to be. */
  asked(): boolean;
  /** Reads what is left and throws it away. @returns Resolves when it has ended or broken off. */
  discard(): Promise<void>;
}

/** @param ask Told when the first piece is wanted, of a client that waits for that. */
export function openBody(incoming: IncomingMessage, ask?: () => void): NodeBody {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let sink: ReadableStreamDefaultController<Uint8Array> | undefined;
  incoming.pause();
  incoming.on("data", (piece: Uint8Array) => {
    sink?.enqueue(piece);
    if (sink) incoming.pause();
  });
  /** The first of several ends counts: `error` is followed by `close`. */
  const end = (settle: (sink: ReadableStreamDefaultController<Uint8Array>) => void): void => {
    if (sink) settle(sink);
    sink = undefined;
    resolve();
  };
  incoming.once("end", () => end((sink) => sink.close()));
  incoming.on("error", (error) => end((sink) => sink.error(error)));
  incoming.once("close", () => end((sink) => sink.error(new Error("the connection was closed"))));
  const stream = new ReadableStream<Uint8Array>({
    start: (controller): void => void (sink = controller),
    pull: (): void => {
      ask?.();
      ask = undefined;
      incoming.resume();
    },
    cancel: (): void => void (sink = undefined),
  }, { highWaterMark: 0 });
  return {
    stream,
    asked: () => ask === undefined,
    discard(): Promise<void> {
      sink = undefined;
      incoming.resume();
      return ended;
    },
  };
}
