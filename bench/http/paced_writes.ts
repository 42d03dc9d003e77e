/**
 * When the server of paced_server.ts gave each token to its socket: beside the client's clock, which also counts the
 * kernel's way and its own process, a second one that ends where the server ends.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { Socket } from "node:net";
import { toEpochMs } from "./pace.ts";
import { TOKEN } from "./paced_streams.ts";

/** One connection's tokens: milliseconds since the epoch. */
export type Writes = number[];

/** Notes the tokens of every connection from now on. */
export function watchWrites(): Writes[] {
  const all: Writes[] = [];
  const known = new WeakMap<object, Writes>();
  const note = (socket: object, pieces: readonly unknown[]): void => {
    const tokens = pieces.reduce((sum: number, piece) => sum + countTokens(piece), 0);
    if (tokens === 0) return;
    let times = known.get(socket);
    if (times === undefined) {
      known.set(socket, times = []);
      all.push(times);
    }
    const nowMs = toEpochMs();
    for (let token = 0; token < tokens; token++) times.push(nowMs);
  };
  // What a turn writes is gathered, and leaves by one of these two.
  watch("_write", (socket, piece) => note(socket, [piece]));
  watch("_writev", (socket, pieces) => note(socket, (pieces as { chunk: unknown }[]).map(({ chunk }) => chunk)));
  return all;
}

/** Tells of each call of a socket's method behind it. @throws {TypeError} If sockets have no such method. */
function watch(name: "_write" | "_writev", told: (socket: object, written: unknown) => void): void {
  const method: unknown = Reflect.get(Socket.prototype, name);
  if (typeof method !== "function") throw new TypeError(`Sockets of this runtime have no ${name}`);
  const watched = function (this: object, ...args: unknown[]): void {
    Reflect.apply(method, this, args);
    told(this, args[0]);
  };
  Object.defineProperty(Socket.prototype, name, { value: watched });
}

function countTokens(piece: unknown): number {
  if (typeof piece === "string") return piece.split(TOKEN).length - 1;
  if (!(piece instanceof Uint8Array)) return 0;
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
  let tokens = 0;
  for (let at = bytes.indexOf(TOKEN); at >= 0; at = bytes.indexOf(TOKEN, at + TOKEN.length)) tokens++;
  return tokens;
}
