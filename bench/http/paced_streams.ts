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

/** What a read brought, and when. */
interface Read {
  ms: number;
  bytes: Uint8Array;
}

/** Streams a chat of `tokens` tokens. @throws If the server refuses or breaks off. */
export async function streamPaced(url: string, tokens: number): Promise<PacedStream> {
  const { hostname, port } = new URL(url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  connection.setNoDelay(true);
  const messages = [{ role: "user", content: "Say words." }];
  await send(connection, { model: "paced", messages, max_tokens: tokens, temperature: 0, stream: true });
  const reads: Read[] = [];
  const buffer = new Uint8Array(65_536);
  for (;;) {
    const size = await connection.read(buffer);
    if (size === null) throw new Error(`The connection ended in its answer: ${toText(reads).slice(-500)}`);
    reads.push({ ms: toEpochMs(), bytes: buffer.slice(0, size) });
    if (endsWith(buffer.subarray(0, size), "0\r\n\r\n")) break;
  }
  return { delaysMs: toDelays(toArrivals(reads, '"content":" word"'), tokens), endMs: toEndMs(reads) };
}

async function send(connection: Deno.TcpConn, body: object): Promise<void> {
  const text = JSON.stringify(body);
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;
  const bytes = new TextEncoder().encode(`${head}content-length: ${text.length}\r\n\r\n${text}`);
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

/** When each occurrence of a text was there, of reads that may cut it anywhere. */
function toArrivals(reads: readonly Read[], wanted: string): number[] {
  const arrivals: number[] = [];
  let rest = "";
  for (const { ms, bytes } of reads) {
    const pieces = (rest + new TextDecoder().decode(bytes)).split(wanted);
    for (let count = 1; count < pieces.length; count++) arrivals.push(ms);
    rest = (pieces.at(-1) ?? "").slice(1 - wanted.length);
  }
  return arrivals;
}

/** Token i of a stream is due i steps after its first; the first step is the latest that no token came before. */
function toDelays(arrivals: readonly number[], tokens: number): number[] {
  if (arrivals.length !== tokens) throw new Error(`${arrivals.length} tokens came, wanted are ${tokens}`);
  const first = Math.min(...arrivals.map((ms, index) => Math.floor(ms / STEP_MS) - index));
  return arrivals.map((ms, index) => ms - (first + index) * STEP_MS);
}

function toEndMs(reads: readonly Read[]): number {
  const [done] = toArrivals(reads, "data: [DONE]\n\n");
  if (done === undefined) throw new Error(`The stream has no [DONE]: ${toText(reads).slice(-500)}`);
  return (reads.at(-1)?.ms ?? NaN) - done;
}

function endsWith(bytes: Uint8Array, text: string): boolean {
  return new TextDecoder("latin1").decode(bytes.subarray(-text.length)) === text;
}

function toText(reads: readonly Read[]): string {
  return reads.map(({ bytes }) => new TextDecoder().decode(bytes)).join("");
}
