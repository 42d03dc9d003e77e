/**
 * Whether the server takes requests: it serves until it drains, and after that it refuses new work.
 *
 * @module
 */
import { RequestError } from "../api/errors.ts";
import { CLOSING_RETRY_SECONDS } from "./errors.ts";

/** One server's state. */
export class Lifecycle {
  #draining = false;

  /** True after the first signal to end. */
  get draining(): boolean {
    return this.#draining;
  }

  /** No new requests from now on. */
  drain(): void {
    this.#draining = true;
  }

  /** @throws {RequestError} `server_shutting_down`, while it drains. */
  requireServing(): void {
    if (!this.#draining) return;
    throw new RequestError("server_shutting_down", "The server is shutting down and takes no new requests.", {
      retryAfterSeconds: CLOSING_RETRY_SECONDS,
    });
  }
}
