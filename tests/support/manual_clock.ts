/**
 * A clock that stands still until a test moves it.
 *
 * @module
 */
import type { Clock } from "../../src/http/clock.ts";

/** A clock turned by hand. */
export class ManualClock implements Clock {
  #nowMs = 0;
  readonly #alarms = new Set<{ atMs: number; callback: () => void }>();

  nowMs(): number {
    return this.#nowMs;
  }

  epochSeconds(): number {
    return 1_700_000_000 + Math.floor(this.#nowMs / 1000);
  }

  after(delayMs: number, callback: () => void): () => void {
    const alarm = { atMs: this.#nowMs + delayMs, callback };
    this.#alarms.add(alarm);
    return () => void this.#alarms.delete(alarm);
  }

  /** Alarms that are set and have not rung. */
  get alarmCount(): number {
    return this.#alarms.size;
  }

  /** Moves on and rings what is due, in order. */
  advance(ms: number): void {
    this.#nowMs += ms;
    const due = [...this.#alarms].filter(({ atMs }) => atMs <= this.#nowMs).sort((one, two) => one.atMs - two.atMs);
    for (const alarm of due) {
      if (this.#alarms.delete(alarm)) alarm.callback();
    }
  }
}
