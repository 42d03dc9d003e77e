/**
 * The bytes of a request body, bounded in size and in patience.
 *
 * @module
 */
import { RequestError } from "../api/errors.ts";
import type { Clock } from "./clock.ts";

/** Bounds of a body. */
export interface BodyLimits {
  /** Most bytes. */
  maxBodyBytes: number;
  /** Longest silence of the client. */
  bodyTimeoutMs: number;
}

/**
 * Reads a body whole.
 *
 * @throws {RequestError} `request_too_large`, on the declared or on the real size; `request_timeout`; `invalid_request`
 * with status 415 for a compressed body.
 */
export async function readBody(request: Request, limits: BodyLimits, clock: Clock): Promise<Uint8Array> {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    const message =
      "The request body is compressed (Content-Encoding), which this server does not read: send it plain.";
    throw new RequestError("invalid_request", message, { status: 415 });
  }
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limits.maxBodyBytes) throw tooLarge(limits);
  if (!request.body) return new Uint8Array(0);
  const reader = request.body.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await readInTime(reader, limits, clock);
      if (done) break;
      size += value.length;
      if (size > limits.maxBodyBytes) throw tooLarge(limits);
      pieces.push(value);
    }
  } catch (error) {
    reader.cancel().catch(() => {}); // a client that has left can't be told
    throw error;
  }
  return join(pieces, size);
}

async function readInTime(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limits: BodyLimits,
  clock: Clock,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  const { promise: silence, reject } = Promise.withResolvers<never>();
  const stop = clock.after(limits.bodyTimeoutMs, () =>
    reject(
      new RequestError("request_timeout", `The request body stopped for ${limits.bodyTimeoutMs} ms before its end.`),
    ));
  const read = reader.read().catch((error: unknown) => {
    throw new RequestError("client_closed_request", `The request body broke off: ${String(error)}`);
  });
  try {
    return await Promise.race([read, silence]);
  } finally {
    stop();
    read.catch(() => {}); // after a timeout nobody waits for it
  }
}

function tooLarge({ maxBodyBytes }: BodyLimits): RequestError {
  return new RequestError(
    "request_too_large",
    `The request body is larger than ${maxBodyBytes} bytes, the limit of this server (--max-body-bytes).`,
  );
}

function join(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = pieces;
  if (pieces.length === 1 && only) return only;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
