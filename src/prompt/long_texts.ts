/**
 * Long prompts, in a worker of their own, so that a short one never waits for them.
 *
 * The worker is started when the first long prompt comes. It has one call at a time: the others wait here, where a
 * client that leaves takes its call with it. A call that is under way can't be stopped, so its worker is ended and the
 * next call starts another one.
 *
 * @module
 */
import { TextCallDropped, TextWorkerError } from "./errors.ts";
import { LONG_CALLS_MAX } from "./limits.ts";
import type { TextCall, TextResults } from "./protocol.ts";
import { TextWorker } from "./text_worker.ts";

/** A worker with the checkpoint opened in it. */
interface Opened {
  worker: TextWorker;
  model: Promise<number>;
}

/** The long prompts of one checkpoint. */
export class LongTexts {
  readonly #directory: string;
  readonly #start: () => TextWorker;
  #opened: Opened | undefined;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  #closed = false;

  /** @param directory The checkpoint's folder. @param start Makes a worker; only tests give another than ours. */
  constructor(directory: string, start: () => TextWorker = () => new TextWorker(undefined, true)) {
    this.#directory = directory;
    this.#start = start;
  }

  /**
   * Asks, when those who came before are done.
   *
   * @param toCall The call, for the model of this number.
   * @throws {TextCallDropped} If the signal aborts first. {TextWorkerError} If too many wait. What the call throws.
   */
  async call<C extends TextCall>(toCall: (model: number) => C, signal?: AbortSignal): Promise<TextResults[C["type"]]> {
    if (this.#waiting >= LONG_CALLS_MAX) {
      throw new TextWorkerError(`The text worker is busy: ${this.#waiting} long prompts wait already`);
    }
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    this.#waiting++;
    try {
      await before;
      return await this.#run(toCall, signal);
    } finally {
      this.#waiting--;
      resolve();
    }
  }

  /** Ends the worker; the call under way and the waiting ones fail. */
  close(): void {
    this.#closed = true;
    this.#end();
  }

  async #run<C extends TextCall>(toCall: (model: number) => C, signal?: AbortSignal): Promise<TextResults[C["type"]]> {
    if (this.#closed) throw new TextWorkerError("The text worker is closed");
    if (signal?.aborted) throw new TextCallDropped();
    const end = (): void => this.#end();
    signal?.addEventListener("abort", end);
    try {
      const { worker, model } = this.#opened ??= this.#open();
      return await worker.call(toCall(await model));
    } catch (error) {
      if (error instanceof TextWorkerError) this.#end();
      throw signal?.aborted ? new TextCallDropped() : error;
    } finally {
      signal?.removeEventListener("abort", end);
    }
  }

  #open(): Opened {
    const worker = this.#start();
    return { worker, model: worker.call({ type: "open", directory: this.#directory }).then(({ model }) => model) };
  }

  #end(): void {
    this.#opened?.worker.close();
    this.#opened = undefined;
  }
}
