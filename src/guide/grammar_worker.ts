/**
 * The main isolate's end of the grammar worker: starts it at the first bound answer, numbers calls, matches replies,
 * and starts another one after it has failed.
 *
 * @module
 */
import { GrammarError } from "../grammar/errors.ts";
import type { TokenTableParts } from "../prompt/token_table.ts";
import { CALL_MS_MAX } from "./limits.ts";
import type { GrammarSource, GuideCall, GuideReply, GuideRequest } from "./protocol.ts";

/** The worker ended, or could not do what it was asked; no fault of the client. */
export class GuideError extends Error {
  /** `missing`: the grammar has to be sent again; `lost`: the worker was ended because of another answer. */
  readonly kind: "missing" | "lost" | "failed";

  /** @param message What happened. */
  constructor(message: string, kind: GuideError["kind"] = "failed") {
    super(message);
    this.name = "GuideError";
    this.kind = kind;
  }
}

/** No grammar can be made of the tools. */
export class ToolGrammarError extends GrammarError {}

/** A vocabulary as the worker needs it. */
export interface GuideVocabulary {
  /** Of its tokenizer; copied. */
  table: TokenTableParts;
  /** Ids that the model can draw. */
  size: number;
  /** Ids that end an answer. */
  endTokens: readonly number[];
}

interface Pending {
  call: GuideCall;
  resolve: (dropped: readonly string[]) => void;
  reject: (error: Error) => void;
}

/** One running worker. */
interface Running {
  worker: Worker;
  pending: Map<number, Pending>;
  /** Numbers of the vocabularies that it knows, once it does. */
  known: Map<GuideVocabulary, Promise<number>>;
  /** Grammars that it checks or has checked, by vocabulary and key, with the keywords that they do not keep. */
  prepared: Map<string, Promise<readonly string[]>>;
  /** Answers that it follows. */
  matchers: Set<number>;
  /** When the oldest waiting call was begun: at the last reply, or with the first call behind it. */
  sinceMs: number;
  /** Looks whether it takes too long. */
  alarm: ReturnType<typeof setInterval>;
}

const LOST = "The grammar worker was ended because of another answer";

/** Times that something is begun anew because another answer has ended the worker. */
const TRIES_MAX = 3;

/** Does something, and again where the worker was lost meanwhile. */
export async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let left = TRIES_MAX;; left--) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof GuideError) || error.kind !== "lost" || left <= 1) throw error;
    }
  }
}

/** Keys of checked grammars that are remembered. */
const PREPARED_MAX = 4096;

/** The worker of all models; none runs until it is needed. */
export class GrammarWorker {
  #running: Running | undefined;
  #calls = 0;
  #matchers = 0;
  #vocabularies = 0;
  #closed = false;
  readonly #callMs: number;

  /** @param callMs Most milliseconds of a call. */
  constructor(callMs: number = CALL_MS_MAX) {
    this.#callMs = callMs;
  }

  /**
   * Makes a grammar, checks and keeps it.
   *
   * @returns Keywords of tools that it does not keep.
   * @throws {ToolGrammarError} If none can be made. @throws {GrammarError} If it can't be followed.
   */
  async prepare(vocabulary: GuideVocabulary, key: string, source: GrammarSource): Promise<readonly string[]> {
    return await again(() => this.#prepare(vocabulary, key, source));
  }

  async #prepare(vocabulary: GuideVocabulary, key: string, source: GrammarSource): Promise<readonly string[]> {
    const running = this.#start();
    const number = await this.#know(running, vocabulary);
    const name = `${number} ${key}`;
    // Tools take milliseconds to cross; a grammar that is kept no more is asked for again by `start`.
    const known = running.prepared.get(name);
    if (known !== undefined) return await known;
    const told = this.#call(running, { type: "prepare", vocabulary: number, key, source });
    if (running.prepared.size >= PREPARED_MAX) running.prepared.clear();
    running.prepared.set(name, told);
    told.catch(() => running.prepared.delete(name));
    return await told;
  }

  /** Begins an answer; its first mask is in `mask` then. @returns Its number for `advance` and `finish`. */
  async start(
    vocabulary: GuideVocabulary,
    key: string,
    source: GrammarSource,
    mask: SharedArrayBuffer,
  ): Promise<number> {
    const running = this.#start();
    const matcher = ++this.#matchers;
    const number = await this.#know(running, vocabulary);
    const call = { type: "start", matcher, vocabulary: number, key, mask } as const;
    try {
      await this.#call(running, call);
    } catch (error) {
      if (!(error instanceof GuideError && error.kind === "missing")) throw error;
      await this.#call(running, { ...call, source });
    }
    running.matchers.add(matcher);
    return matcher;
  }

  /**
   * Goes over tokens; the mask behind them is in the answer's memory then.
   *
   * @throws {GuideError} `lost`, if the worker that began the answer has ended.
   */
  async advance(matcher: number, tokens: readonly number[]): Promise<void> {
    const running = this.#start();
    if (!running.matchers.has(matcher)) throw new GuideError(LOST, "lost");
    await this.#call(running, { type: "advance", matcher, tokens });
  }

  /** Forgets an answer. */
  finish(matcher: number): void {
    if (this.#running?.matchers.delete(matcher) !== true) return;
    this.#running?.worker.postMessage({ close: matcher } satisfies GuideRequest);
  }

  /** Ends the worker; waiting calls fail. */
  close(): void {
    this.#closed = true;
    if (this.#running) this.#end(this.#running, "The grammar worker is closed");
  }

  #start(): Running {
    if (this.#closed) throw new GuideError("The grammar worker is closed");
    if (this.#running) return this.#running;
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "grammar" });
    const alarm = setInterval(() => this.#look(running), this.#callMs / 4);
    alarm.unref();
    const running: Running = {
      worker,
      pending: new Map(),
      known: new Map(),
      prepared: new Map(),
      matchers: new Set(),
      sinceMs: 0,
      alarm,
    };
    worker.onmessage = ({ data }: MessageEvent<GuideReply>): void => settle(running, data);
    worker.onerror = (event): void => {
      event.preventDefault();
      this.#end(running, `The grammar worker ended: ${event.message}`);
    };
    worker.onmessageerror = (): void => this.#end(running, "The grammar worker ended: it sent what cannot be read");
    return this.#running = running;
  }

  /** One that the worker could not take is sent again by the next answer. */
  #know(running: Running, vocabulary: GuideVocabulary): Promise<number> {
    const known = running.known.get(vocabulary);
    if (known !== undefined) return known;
    const number = ++this.#vocabularies;
    const told = this.#call(running, { type: "vocabulary", vocabulary: number, ...vocabulary }).then(() => number);
    told.catch(() => running.known.delete(vocabulary));
    running.known.set(vocabulary, told);
    return told;
  }

  #call(running: Running, call: GuideCall): Promise<readonly string[]> {
    // It may have ended while its caller waited.
    if (running !== this.#running) return Promise.reject(new GuideError(LOST, "lost"));
    const number = ++this.#calls;
    return new Promise((resolve, reject) => {
      if (running.pending.size === 0) running.sinceMs = performance.now();
      running.worker.postMessage({ number, call } satisfies GuideRequest);
      running.pending.set(number, { call, resolve, reject });
    });
  }

  /** Ends a worker whose call takes too long: that call fails, the others are begun anew by those who wait for them. */
  #look(running: Running): void {
    const [oldest] = running.pending;
    if (oldest === undefined || performance.now() - running.sinceMs < this.#callMs) return;
    const [number, { call, reject }] = oldest;
    const message = `it takes longer than ${this.#callMs} ms to work out`;
    running.pending.delete(number);
    reject(call.type === "prepare" ? new GrammarError(message) : new GuideError(`The grammar: ${message}`));
    this.#end(running, LOST, "lost");
  }

  #end(running: Running, reason: string, kind: GuideError["kind"] = "failed"): void {
    if (this.#running === running) this.#running = undefined;
    clearInterval(running.alarm);
    running.worker.terminate();
    for (const { reject } of running.pending.values()) reject(new GuideError(reason, kind));
    running.pending.clear();
  }
}

function settle(running: Running, reply: GuideReply): void {
  const pending = running.pending.get(reply.number);
  running.pending.delete(reply.number);
  running.sinceMs = performance.now();
  if (reply.ok) pending?.resolve(reply.dropped);
  else if (reply.kind === "tools") pending?.reject(new ToolGrammarError(reply.message));
  else if (reply.kind === "grammar") pending?.reject(new GrammarError(reply.message));
  else pending?.reject(new GuideError(reply.message, reply.kind === "missing" ? "missing" : "failed"));
}
