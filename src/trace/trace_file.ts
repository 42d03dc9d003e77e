/**
 * Writes records to the file of `serve --trace`: a header, then one JSON line a request.
 *
 * A line that would bring the file over its bound goes into a new file; the full one is kept as `FILE.1` and the one
 * before it is dropped, so a trace never takes more than twice the bound. Lines wait in memory while the disk is busy,
 * up to PENDING_BYTES_MAX; what comes on top, a line larger than the file, and all lines after the disk has failed are
 * counted as dropped and told to the log. A trace never fails a request.
 *
 * @module
 */
import { type RequestRecord, TRACE_VERSION, type TraceHeader } from "../api/request_record.ts";

/** Bytes that may wait for the disk. */
export const PENDING_BYTES_MAX = 64 * 1024 * 1024;

/** What a trace file can't be used for. The message names the file. */
export class TraceError extends Error {
  /** @param message Names the file, and the line where one is at fault. */
  constructor(message: string) {
    super(message);
    this.name = "TraceError";
  }
}

/** How a trace is written. */
export interface TraceOptions {
  /** The file; appended to if it is a trace already. */
  path: string;
  /** Largest size of the file. */
  bytesMax: number;
  /** Name and version of this program, for the header. */
  program: string;
  /** Told of dropped lines and of a disk that fails. */
  warn: (message: string) => void;
}

/** An open trace. */
export class TraceFile {
  readonly #options: TraceOptions;
  #file: Deno.FsFile;
  #bytes: number;
  #pendingBytes = 0;
  #dropped = 0;
  #failed = false;
  #queue: Promise<void> = Promise.resolve();

  private constructor(options: TraceOptions, file: Deno.FsFile, bytes: number) {
    this.#options = options;
    this.#file = file;
    this.#bytes = bytes;
  }

  /** Opens the file, readable by its owner only. @throws {TraceError} If it is something else or can't be written. */
  static async open(options: TraceOptions): Promise<TraceFile> {
    const { path } = options;
    let file: Deno.FsFile;
    try {
      file = await Deno.open(path, { read: true, write: true, create: true, append: true, mode: 0o600 });
    } catch (error) {
      throw new TraceError(`Cannot write the trace ${path}: ${error instanceof Error ? error.message : error}`);
    }
    const { size, isFile } = await file.stat();
    const start = new Uint8Array(16);
    await file.read(start);
    if (isFile && (size === 0 || new TextDecoder().decode(start).startsWith('{"trace":'))) {
      const trace = new TraceFile(options, file, size);
      if (size === 0) trace.#enqueue(toHeader(options.program));
      return trace;
    }
    file.close();
    throw new TraceError(`Cannot write the trace ${path}: it is there and no trace; give another name.`);
  }

  /** Lines that were not written. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Adds a line. */
  write(record: RequestRecord): void {
    const line = encode(record);
    if (this.#failed) return this.#drop();
    if (line.length > this.#options.bytesMax) return this.#drop("a record is larger than the file may be");
    if (this.#pendingBytes + line.length > PENDING_BYTES_MAX) return this.#drop("the disk is too slow");
    this.#enqueue(line);
  }

  /** Waits for the disk and closes the file. */
  async close(): Promise<void> {
    await this.#queue;
    this.#file.close();
  }

  #enqueue(line: Uint8Array): void {
    this.#pendingBytes += line.length;
    this.#queue = this.#queue.then(async () => {
      try {
        if (!this.#failed) await this.#append(line);
        else this.#drop();
      } catch (error) {
        this.#failed = true;
        this.#drop(`the file can't be written, and no more is: ${error instanceof Error ? error.message : error}`);
      } finally {
        this.#pendingBytes -= line.length;
      }
    });
  }

  async #append(line: Uint8Array): Promise<void> {
    if (this.#bytes + line.length > this.#options.bytesMax) await this.#rotate();
    for (let rest = line; rest.length > 0;) rest = rest.subarray(await this.#file.write(rest));
    this.#bytes += line.length;
  }

  async #rotate(): Promise<void> {
    const { path, program } = this.#options;
    const header = toHeader(program);
    if (this.#bytes <= header.length) return;
    await Deno.rename(path, `${path}.1`);
    const next = await Deno.open(path, { write: true, createNew: true, append: true, mode: 0o600 });
    this.#file.close();
    this.#file = next;
    this.#bytes = header.length;
    for (let rest = header; rest.length > 0;) rest = rest.subarray(await next.write(rest));
  }

  #drop(reason?: string): void {
    this.#dropped++;
    if (reason !== undefined) this.#options.warn(`trace: a record was dropped: ${reason}`);
  }
}

function toHeader(program: string): Uint8Array {
  const header: TraceHeader = {
    trace: TRACE_VERSION,
    program,
    warning: "This file holds what users wrote and what the model answered. Look before you share it.",
  };
  return encode(header);
}

function encode(value: object): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(value)}\n`);
}
