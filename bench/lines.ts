/**
 * Bytes → lines of text.
 *
 * @module
 */

/** The lines of a stream, without their ends; what follows the last line break is a line if it is not empty. */
export async function* readLines(bytes: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  let rest = "";
  for await (const text of bytes.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
