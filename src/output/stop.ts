/**
 * Ends a text at the first stop string, without ever showing part of one.
 *
 * Takes runs from utf8.ts, gives runs to reasoning. Knows nothing of what the text means. Of several stop strings the
 * one that is complete first wins, and of those that end together the longest: so the result does not depend on how the
 * text was cut into tokens. A special token stops the answer if a stop string spells exactly it.
 * Invariant: shown + held = received, until a stop is found.
 *
 * @module
 */
import { heldTailStart } from "./held_tail.ts";
import { Run } from "./run.ts";

/** One answer's watch for stop strings. */
export class StopStage {
  readonly #stop: readonly string[];
  /** Logprobs are asked for: text is let go in whole tokens only, so that each is reported once. */
  readonly #wholeTokens: boolean;
  #held = Run.EMPTY;
  #matched: string | undefined;

  /** Takes stop strings, none empty. */
  constructor(stop: readonly string[], wholeTokens: boolean) {
    this.#stop = stop;
    this.#wholeTokens = wholeTokens;
  }

  /** The stop string that ended the answer. */
  get matched(): string | undefined {
    return this.#matched;
  }

  /** What can be shown now. Nothing comes after a match. */
  push(run: Run): Run[] {
    if (this.#matched !== undefined) return [];
    if (run.control) return this.#pushControl(run);
    const text = this.#held.concat(run);
    const match = this.#find(text.text);
    if (match !== undefined) {
      this.#matched = match.stop;
      this.#held = Run.EMPTY;
      return shown(text.split(match.start)[0]);
    }
    const border = heldTailStart(text.text, this.#stop);
    const [open, held] = text.split(this.#wholeTokens ? text.tokenBorder(border) : border);
    this.#held = held;
    return shown(open);
  }

  /** What was held and turned out to begin no stop string. */
  finish(): Run[] {
    const held = this.#held;
    this.#held = Run.EMPTY;
    return shown(held);
  }

  /** A special token parts the text: a stop string can't reach across it. */
  #pushControl(run: Run): Run[] {
    const before = this.finish();
    if (!this.#stop.includes(run.text)) return [...before, run];
    this.#matched = run.text;
    return before;
  }

  #find(text: string): { stop: string; start: number } | undefined {
    let best: { stop: string; start: number } | undefined;
    for (const stop of this.#stop) {
      const start = text.indexOf(stop);
      if (start < 0) continue;
      const end = start + stop.length;
      const bestEnd = best === undefined ? Infinity : best.start + best.stop.length;
      if (end < bestEnd || (end === bestEnd && best !== undefined && start < best.start)) best = { stop, start };
    }
    return best;
  }
}

function shown(run: Run): Run[] {
  return run.text === "" && run.tokens.length === 0 ? [] : [run];
}
