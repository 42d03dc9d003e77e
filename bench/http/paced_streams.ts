/**
 * Streams of paced_server.ts over plain sockets: how late each token is, and how long after its last event a body ends.
 *
 * While streams run, only the clock is read: what came is read when they have ended.
 *
 * @module
 */
import { STEP_MS, toEpochMs } from "./pace.ts";

/** One stream that has ended. */
export interface PacedStream {
  /** From the step that made a token to its arrival, in milliseconds, token by token. */
  delaysMs: number[];
  /** From the arrival of the last event to that of the body's end. */
  endMs: number;
}

/** What came, and when: the client makes no garbage while it measures. */
class Reads {
  readonly #bytes: Uint8Array;
  readonly #ends: Float64Array;
  readonly #ms: Float64Array;
  #count = 0;

  /** @param tokens Of the answer: a frame has some 200 bytes, and there are a few more than tokens. */
  constructor(tokens: number) {
    this.#bytes = new Uint8Array(BYTES_A_FRAME * (tokens + FRAMES_MORE));
    this.#ends = new Float64Array(tokens + FRAMES_MORE);
    this.#ms = new Float64Array(tokens + FRAMES_MORE);
  }

  /** Reads until the body's end. @throws If the connection ends before. */
  async readAll(connection: Deno.TcpConn): Promise<void> {
    for (let end = 0; !this.#isWhole(end);) {
      const size = await connection.read(this.#bytes.subarray(end));
      if (size === null || size === 0) throw new Error(`The answer broke off: ${this.#text(0, end).slice(-500)}`);
      this.#ms[this.#count] = toEpochMs();
      this.#ends[this.#count++] = end += size;
    }
  }

  /** When the last read came. */
  get endMs(): number {
    return this.#ms[this.#count - 1] ?? NaN;
  }

  /** When each occurrence of a text was there. */
  toArrivals(wanted: string): number[] {
    const text = this.#text(0, this.#ends[this.#count - 1]);
    const arrivals: number[] = [];
    let read = 0;
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
      while ((this.#ends[read] ?? Infinity) < at + wanted.length) read++;
      arrivals.push(this.#ms[read] ?? NaN);
    }
    return arrivals;
  }

  #isWhole(end: number): boolean {
    return this.#bytes[end - 1] === 10 && this.#text(end - 5, end) === "0\r\n\r\n";
  }

  /** Bytes as characters, one each: the answers are ASCII. */
  #text(from: number, to?: number): string {
    return new TextDecoder("latin1").decode(this.#bytes.subarray(Math.max(0, from), to));
  }
}

/** What each token's frame has once. */
export const TOKEN = '"content":" word"';

const BYTES_A_FRAME = 400;
const FRAMES_MORE = 50;

/** Streams a chat of `tokens` tokens. @throws If the server refuses or breaks off. */
export async function streamPaced(url: string, tokens: number): Promise<PacedStream> {
  const { hostname, port } = new URL(url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  connection.setNoDelay(true);
  const messages = [{ role: "user", content: "Say words." }];
  const reads = new Reads(tokens);
  await send(connection, { model: "paced", messages, max_tokens: tokens, temperature: 0, stream: true });
  await reads.readAll(connection);
  const [doneMs] = reads.toArrivals("data: [DONE]\n\n");
  if (doneMs === undefined) throw new Error("The stream has no [DONE]");
  return { delaysMs: toDelays(reads.toArrivals(TOKEN), tokens), endMs: reads.endMs - doneMs };
}

async function send(connection: Deno.TcpConn, body: object): Promise<void> {
  const text = JSON.stringify(body);
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;
  const bytes = new TextEncoder().encode(`${head}content-length: ${text.length}\r\n\r\n${text}`);
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

/**
 * Token i of a stream is due i steps after its first; the first step is the latest that no token came before.
 *
 * @throws If not all came.
 */
export function toDelays(arrivals: readonly number[], tokens: number): number[] {
  if (arrivals.length !== tokens) throw new Error(`${arrivals.length} tokens came, wanted are ${tokens}`);
  const first = Math.min(...arrivals.map((ms, index) => Math.floor(ms / STEP_MS) - index));
  return arrivals.map((ms, index) => ms - (first + index) * STEP_MS);
}
