/**
 * Carries out an attack over TCP and reads what comes back.
 *
 * @module
 */
import type { Attack } from "./attacks.ts";

/** Where the server under attack listens. */
export interface Target {
  /** Address. */
  hostname: string;
  /** Port. */
  port: number;
}

/** What came back. */
export interface Reply {
  /** Undefined: the connection was closed without an answer. */
  status?: number;
  /** Head and body as they came, possibly cut. */
  text: string;
}

/** A server that does not answer in this time has hung. */
const ANSWER_MS = 60_000;
/** Bytes of an answer after which a client leaves midway. */
const MIDWAY_BYTES = 200;
const PAUSE_MS = 1;

/** @throws {Error} If the server hangs. */
export async function carryOut(attack: Attack, target: Target): Promise<Reply> {
  const connection = await Deno.connect(target);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no whole answer within ${ANSWER_MS} ms`)), ANSWER_MS);
  });
  try {
    return await Promise.race([converse(attack, connection), late]);
  } finally {
    clearTimeout(timer);
    connection.close();
  }
}

async function converse(attack: Attack, connection: Deno.TcpConn): Promise<Reply> {
  const written = write(attack.pieces, connection);
  if (attack.leave === "written") {
    await written;
    return { text: "" };
  }
  const reply = await read(connection, attack.leave === "midway" ? MIDWAY_BYTES : Infinity);
  await written;
  return reply;
}

/** The server may close before it has read everything; that is its right. */
async function write(pieces: readonly Uint8Array[], connection: Deno.TcpConn): Promise<void> {
  try {
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      for (let at = 0; at < piece.length;) at += await connection.write(piece.subarray(at));
    }
  } catch (error) {
    if (!isClosed(error)) throw error;
  }
}

async function read(connection: Deno.TcpConn, bytesMax: number): Promise<Reply> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65_536);
  let text = "";
  try {
    for (let size = 0; size < bytesMax && !isWhole(text);) {
      const count = await connection.read(buffer);
      if (count === null) break;
      size += count;
      text += decoder.decode(buffer.subarray(0, count), { stream: true });
    }
  } catch (error) {
    if (!isClosed(error)) throw error;
  }
  const status = text.match(/^HTTP\/1\.[01] (\d{3})/)?.[1];
  return { ...(status !== undefined && { status: Number(status) }), text };
}

/** Whether an answer has come to its end, so far as its head tells. */
function isWhole(text: string): boolean {
  const split = text.indexOf("\r\n\r\n");
  if (split < 0) return false;
  const head = text.slice(0, split).toLowerCase();
  const body = text.slice(split + 4);
  if (head.startsWith("http/1.1 100")) return isWhole(body);
  if (head.includes("transfer-encoding: chunked")) return body.endsWith("0\r\n\r\n");
  const length = head.match(/content-length: (\d+)/)?.[1];
  return length !== undefined && new TextEncoder().encode(body).length >= Number(length);
}

function isClosed(error: unknown): boolean {
  return error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe ||
    error instanceof Deno.errors.ConnectionAborted || error instanceof Deno.errors.UnexpectedEof ||
    error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted ||
    error instanceof Deno.errors.NotConnected;
}
