/**
 * The main isolate's end of the grammar worker: starts it at the first bound answer, numbers calls, matches replies,
 * and starts another one after it has failed.
 *
 * @module
 */
import { GrammarError } from "../grammar/errors.ts";
import type { TokenTableParts } from "../prompt/token_table.ts";
import type { GrammarSource, GuideCall, GuideReply, GuideRequest } from "./protocol.ts";

/** The worker ended, or could not do what it was asked; no fault of the client. */
export class GuideError extends Error {
  /** Whether the grammar has to be sent again. */
  readonly missing: boolean;

  /** @param message What happened. */
  constructor(message: string, missing = false) {
    super(message);
    this.name = "GuideError";
    this.missing = missing;
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

  /**
   * Makes a grammar, checks and keeps it.
   *
   * @returns Keywords of tools that it does not keep.
   * @throws {ToolGrammarError} If none can be made. @throws {GrammarError} If it can't be followed.
   */
  async prepare(vocabulary: GuideVocabulary, key: string, source: GrammarSource): Promise<readonly string[]> {
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
      if (!(error instanceof GuideError && error.missing)) throw error;
      await this.#call(running, { ...call, source });
    }
    return matcher;
  }

  /** Goes over tokens; the mask behind them is in the answer's memory then. */
  async advance(matcher: number, tokens: readonly number[]): Promise<void> {
    await this.#call(this.#start(), { type: "advance", matcher, tokens });
  }

  /** Forgets an answer. */
  finish(matcher: number): void {
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
    const running: Running = { worker, pending: new Map(), known: new Map(), prepared: new Map() };
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
    const number = ++this.#calls;
    return new Promise((resolve, reject) => {
      running.worker.postMessage({ number, call } satisfies GuideRequest);
      running.pending.set(number, { resolve, reject });
    });
  }

  #end(running: Running, reason: string): void {
    if (this.#running === running) this.#running = undefined;
    running.worker.terminate();
    for (const { reject } of running.pending.values()) reject(new GuideError(reason));
    running.pending.clear();
  }
}

function settle(running: Running, reply: GuideReply): void {
  const pending = running.pending.get(reply.number);
  running.pending.delete(reply.number);
  if (reply.ok) pending?.resolve(reply.dropped);
  else if (reply.kind === "tools") pending?.reject(new ToolGrammarError(reply.message));
  else if (reply.kind === "grammar") pending?.reject(new GrammarError(reply.message));
  else pending?.reject(new GuideError(reply.message, reply.kind === "missing"));
}
