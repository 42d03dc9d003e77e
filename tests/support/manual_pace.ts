/**
 * Steps of a fake core by hand, for tests that must know what has happened.
 *
 * @module
 */

/** Steps by hand: pass `pace` to a FakeCore and let its steps happen one `advance` at a time. */
export class ManualPace {
  #granted = 0;
  #release: (() => void) | undefined;

  /** For `FakeCoreOptions.pace`. */
  readonly pace = (): Promise<void> =>
    new Promise((resolve) => {
      this.#release = resolve;
      this.advance(0);
    });

  /** Lets `steps` more steps run. */
  advance(steps = 1): void {
    this.#granted += steps;
    if (!this.#release || this.#granted === 0) return;
    this.#granted--;
    this.#release();
    this.#release = undefined;
  }
}
