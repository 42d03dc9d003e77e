/**
 * Ids of tool calls that the model did not name.
 *
 * @module
 */

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** An id as OpenAI makes them: `call_` and 24 letters and digits. */
export function newCallId(): string {
  return `call_${randomLetters(24)}`;
}

/** An id that Mistral's templates accept: nine letters and digits. */
export function newMistralId(): string {
  return randomLetters(9);
}

function randomLetters(count: number): string {
  // 62 of 256 values a letter: bytes of 248 and more would prefer the first letters, and are drawn again.
  let text = "";
  while (text.length < count) {
    for (const byte of crypto.getRandomValues(new Uint8Array(count))) {
      if (byte < 248 && text.length < count) text += LETTERS[byte % 62];
    }
  }
  return text;
}
