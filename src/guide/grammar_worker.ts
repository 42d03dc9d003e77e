/**
 * The main isolate's end of the grammar worker: starts it at the first bound answer, numbers calls, matches replies,
 * and starts another one after it has failed.
 *
 * @module
 */
import { GrammarError } from "../grammar/errors.ts";
import type { TokenTableParts } from "../prompt/token_table.ts";
import { KnownPlaces } from "./known_places.ts";
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
  /** What it has said of places. */
  places: KnownPlaces;
  /** Steps of answers that leave together at the end of this turn: streams that step together are told together. */
  steps: { number: number; call: GuideCall }[];
  /** When the oldest waiting call was begun: at the last reply, or with the first call behind it. */
  sinceMs: number;
  /** Ends the looking whether it takes too long. */
  stopAlarm: () => void;
}

/** What tells how long calls take. */
export interface GuideClock {
  /** Milliseconds, from anywhere. */
  nowMs(): number;
  /** Does something again and again. @returns What ends it. */
  every(ms: number, work: () => void): () => void;
}

const REAL_CLOCK: GuideClock = {
  nowMs: () => performance.now(),
  every(ms, work): () => void {
    const timer = setInterval(work, ms);
    // No server stays for it.
    timer.unref();
    return () => clearInterval(timer);
  },
};

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
  readonly #clock: GuideClock;

  /** @param callMs Most milliseconds of a call. */
  constructor(callMs: number = CALL_MS_MAX, clock: GuideClock = REAL_CLOCK) {
    this.#callMs = callMs;
    this.#clock = clock;
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

  /** Begins an answer; its first place is in `place` then. @returns Its number for `advance` and `finish`. */
  async start(
    vocabulary: GuideVocabulary,
    key: string,
    source: GrammarSource,
    place: SharedArrayBuffer,
  ): Promise<{ matcher: number; places: KnownPlaces }> {
    const running = this.#start();
    const matcher = ++this.#matchers;
    const number = await this.#know(running, vocabulary);
    const call = { type: "start", matcher, vocabulary: number, key, place } as const;
    try {
      await this.#call(running, call);
    } catch (error) {
      if (!(error instanceof GuideError && error.kind === "missing")) throw error;
      await this.#call(running, { ...call, source });
    }
    running.matchers.add(matcher);
    return { matcher, places: running.places };
  }

  /**
   * Goes over tokens; the place behind them is in the answer's memory then.
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
    send(this.#running);
    this.#running.worker.postMessage({ close: matcher } satisfies GuideRequest);
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
    const stopAlarm = this.#clock.every(this.#callMs / 4, () => this.#look(running));
    const running: Running = {
      worker,
      pending: new Map(),
      known: new Map(),
      prepared: new Map(),
      matchers: new Set(),
      places: new KnownPlaces(),
      steps: [],
      sinceMs: 0,
      stopAlarm,
    };
    worker.onmessage = ({ data }: MessageEvent<readonly GuideReply[]>): void => {
      running.sinceMs = this.#clock.nowMs();
      for (const reply of data) settle(running, reply);
    };
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
      if (running.pending.size === 0) running.sinceMs = this.#clock.nowMs();
      running.pending.set(number, { call, resolve, reject });
      // All else may take long, and nobody should wait for what is not theirs.
      if (call.type === "advance") return gather(running, { number, call });
      send(running);
      running.worker.postMessage({ calls: [{ number, call }] } satisfies GuideRequest);
    });
  }

  /** Ends a worker whose call takes too long: that call fails, the others are begun anew by those who wait for them. */
  #look(running: Running): void {
    const [oldest] = running.pending;
    if (oldest === undefined || this.#clock.nowMs() - running.sinceMs < this.#callMs) return;
    const [number, { call, reject }] = oldest;
    const message = `it takes longer than ${this.#callMs} ms to work out`;
    running.pending.delete(number);
    reject(call.type === "prepare" ? new GrammarError(message) : new GuideError(`The grammar: ${message}`));
    this.#end(running, LOST, "lost");
  }

  #end(running: Running, reason: string, kind: GuideError["kind"] = "failed"): void {
    if (this.#running === running) this.#running = undefined;
    running.stopAlarm();
    running.steps = [];
    running.worker.terminate();
    for (const { reject } of running.pending.values()) reject(new GuideError(reason, kind));
    running.pending.clear();
  }
}

function gather(running: Running, step: { number: number; call: GuideCall }): void {
  if (running.steps.push(step) === 1) queueMicrotask(() => send(running));
}

/** Calls leave in the order in which they were made, so that the oldest that waits is the one at work. */
function send(running: Running): void {
  const calls = running.steps;
  running.steps = [];
  if (calls.length > 0) running.worker.postMessage({ calls } satisfies GuideRequest);
}

function settle(running: Running, reply: GuideReply): void {
  const pending = running.pending.get(reply.number);
  running.pending.delete(reply.number);
  if (reply.ok) pending?.resolve(reply.dropped);
  else if (reply.kind === "tools") pending?.reject(new ToolGrammarError(reply.message));
  else if (reply.kind === "grammar") pending?.reject(new GrammarError(reply.message));
  else pending?.reject(new GuideError(reply.message, reply.kind === "missing" ? "missing" : "failed"));
}
