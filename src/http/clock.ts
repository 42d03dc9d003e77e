/**
 * Time as a parameter: tests of keep-alives, timeouts and draining pass in a clock that they turn by hand.
 *
 * @module
 */

/** What the edge needs of time. */
export interface Clock {
  /** Milliseconds since some fixed moment; never goes back. */
  nowMs(): number;
  /** Seconds since the epoch, whole, for `created`. */
  epochSeconds(): number;
  /** Calls back once after a delay, unless the function that it returns was called before. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The clock of the process. */
export const SYSTEM_CLOCK: Clock = {
  nowMs: () => performance.now(),
  epochSeconds: () => Math.floor(Date.now() / 1000),
  after(delayMs, callback): () => void {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Waits for a promise, but no longer than a time. @throws What the promise does. */
export async function waitAtMost(promise: Promise<void>, timeMs: number, clock: Clock): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const stop = clock.after(timeMs, resolve);
  try {
    await Promise.race([promise, late]);
  } finally {
    stop();
  }
}
