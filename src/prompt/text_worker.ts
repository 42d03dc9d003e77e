/**
 * The main isolate's end of the text worker: numbers calls, matches replies, and fails every waiting call with one
 * sentence when the worker ends.
 *
 * @module
 */
import { TextWorkerError } from "./errors.ts";
import { PENDING_CALLS_MAX } from "./limits.ts";
import { fromFailure, type TextCall, type TextReply, type TextRequest, type TextResults } from "./protocol.ts";

interface Pending {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

/** One worker, shared by all models. */
export class TextWorker {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;
  /** Why no call can be made any more. */
  #ended: TextWorkerError | undefined;

  /** Starts the worker. @param url Its module; only tests give another than ours. */
  constructor(url: URL = new URL("./worker.ts", import.meta.url)) {
    this.#worker = new Worker(url, { type: "module", name: "text" });
    this.#worker.onmessage = ({ data }: MessageEvent<TextReply>): void => this.#settle(data);
    this.#worker.onerror = (event): void => {
      event.preventDefault();
      this.#end(new TextWorkerError(`The text worker ended: ${event.message}`));
    };
    this.#worker.onmessageerror = (): void =>
      this.#end(new TextWorkerError("The text worker ended: it sent what cannot be read"));
  }

  /** Asks. @throws {TextWorkerError} If the worker has ended or too many calls wait; else what the call throws. */
  call<C extends TextCall>(call: C): Promise<TextResults[C["type"]]> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    if (this.#pending.size >= PENDING_CALLS_MAX) {
      const waiting = this.#pending.size;
      return Promise.reject(new TextWorkerError(`The text worker is busy: ${waiting} calls wait already`));
    }
    const number = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#pending.set(number, { resolve, reject });
      this.#worker.postMessage({ number, call } satisfies TextRequest);
    });
  }

  /** Ends the worker; waiting calls fail. */
  close(): void {
    this.#end(new TextWorkerError("The text worker is closed"));
  }

  #settle(reply: TextReply): void {
    const pending = this.#pending.get(reply.number);
    this.#pending.delete(reply.number);
    if (pending === undefined) return;
    // The caller's type comes from its call; the worker answers a call by its own type of result.
    if (reply.ok) pending.resolve(reply.result as never);
    else pending.reject(fromFailure(reply.kind, reply.message));
  }

  #end(reason: TextWorkerError): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#worker.terminate();
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
  }
}
