/**
 * The main isolate's end of the text worker: numbers calls, matches replies, and fails every waiting call with one
 * sentence when the worker ends. The worker has one call at a time; the others wait here, where they can be dropped.
 *
 * @module
 */
import { Worker } from "node:worker_threads";
import { TextCallDropped, TextWorkerError } from "./errors.ts";
import { PENDING_CALLS_MAX } from "./limits.ts";
import { fromFailure, type TextCall, type TextReply, type TextRequest, type TextResults } from "./protocol.ts";

/**
 * Of V8's space for new objects. Opening a tokenizer makes hundreds of thousands of them; with V8's own choice 20 MB of
 * garbage stay resident in a worker that does little afterwards. Only Node's kind of worker can be told.
 */
const YOUNG_GENERATION_MB = 4;

interface Pending {
  call: TextCall;
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

/** One worker, shared by all models. */
export class TextWorker {
  readonly #worker: Worker;
  /** Calls in order, by number; the first is with the worker. */
  readonly #pending = new Map<number, Pending>();
  #calls = 0;
  /** The call that the worker has. */
  #sent: number | undefined;
  /** Why no call can be made any more. */
  #ended: TextWorkerError | undefined;

  /** Starts the worker. @param url Its module; only tests give another than ours. @param givesWay To streams. */
  constructor(url: URL = new URL("./worker.ts", import.meta.url), givesWay = false) {
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB };
    this.#worker = new Worker(url, { name: "text", resourceLimits, workerData: { givesWay } })
      .on("message", (reply: TextReply) => this.#settle(reply))
      .on("error", ({ message }) => this.#end(new TextWorkerError(`The text worker ended: ${message}`)))
      .on("messageerror", () => this.#end(new TextWorkerError("The text worker ended: it sent what cannot be read")));
  }

  /**
   * Asks.
   *
   * @param signal Takes the call out of the queue; one that the worker has already runs to its end.
   * @throws {TextCallDropped} If the signal aborts before the worker has it.
   * @throws {TextWorkerError} If the worker has ended or too many calls wait; else what the call throws.
   */
  call<C extends TextCall>(call: C, signal?: AbortSignal): Promise<TextResults[C["type"]]> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    if (this.#pending.size >= PENDING_CALLS_MAX) {
      const waiting = this.#pending.size;
      return Promise.reject(new TextWorkerError(`The text worker is busy: ${waiting} calls wait already`));
    }
    const number = ++this.#calls;
    const { promise, resolve, reject } = Promise.withResolvers<TextResults[C["type"]]>();
    this.#pending.set(number, { call, resolve, reject });
    const drop = (): void => {
      if (this.#sent === number || !this.#pending.delete(number)) return;
      reject(new TextCallDropped());
    };
    signal?.addEventListener("abort", drop);
    this.#sendNext();
    return promise.finally(() => signal?.removeEventListener("abort", drop));
  }

  /** Ends the worker; waiting calls fail. */
  close(): void {
    this.#end(new TextWorkerError("The text worker is closed"));
  }

  #settle(reply: TextReply): void {
    const pending = this.#pending.get(reply.number);
    this.#pending.delete(reply.number);
    this.#sent = undefined;
    this.#sendNext();
    if (pending === undefined) return;
    // The caller's type comes from its call; the worker answers a call by its own type of result.
    if (reply.ok) pending.resolve(reply.result as never);
    else pending.reject(fromFailure(reply.kind, reply.message));
  }

  #sendNext(): void {
    const [next] = this.#pending;
    if (next === undefined || this.#sent !== undefined) return;
    const [number, { call }] = next;
    this.#sent = number;
    this.#worker.postMessage({ number, call } satisfies TextRequest);
  }

  #end(reason: TextWorkerError): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    void this.#worker.terminate();
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
  }
}
