/**
 * The one error of set-up: a sentence for the person at the keyboard.
 *
 * @module
 */

/** Set-up can't go on. The message says what was tried, what was found and what the reader can do. */
export class SetupError extends Error {
  /** @param message Tried, found, wanted. */
  constructor(message: string) {
    super(message);
    this.name = "SetupError";
  }
}
