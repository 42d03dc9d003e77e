import assert from "node:assert/strict";
import { type AnswerPiece, readAnswer } from "./sse_answer.ts";

/** A response whose body comes in pieces of `size` bytes. */
function inPieces(text: string, size: number, status = 200): Response {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller): void {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, at += size));
    },
  });
  return new Response(body, { status });
}

async function readAll(response: Response): Promise<AnswerPiece[]> {
  const pieces: AnswerPiece[] = [];
  for await (const piece of readAnswer(response)) pieces.push(piece);
  return pieces;
}

const chunk = (delta: object): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
const STREAM = ": keep-alive\n\n" + chunk({ role: "assistant", content: "" }) + chunk({ reasoning_content: "hm" }) +
  chunk({ content: "Grüße " }) + chunk({ content: "👋" }) + 'data: {"choices":[],"usage":{}}\n\n' + "data: [DONE]\n\n";

Deno.test("a streamed answer is read the same however the network cuts it", async () => {
  for (const size of [1, 2, 3, 7, 64, 10_000]) {
    assert.deepEqual(await readAll(inPieces(STREAM, size)), [
      { kind: "reasoning", text: "hm" },
      { kind: "text", text: "Grüße " },
      { kind: "text", text: "👋" },
    ]);
  }
});

Deno.test("a refusal, an error inside a stream and a stream without an end are errors with the server's sentence", async () => {
  const refusal = inPieces('{"error":{"message":"messages: wanted at least one"}}', 10, 400);
  await assert.rejects(readAll(refusal), /^CommandError: messages: wanted at least one$/);
  await assert.rejects(readAll(inPieces("<html>", 10, 502)), /the server answers 502/);
  const broken = chunk({ content: "a" }) + 'data: {"error":{"message":"the device failed"}}\n\n';
  await assert.rejects(readAll(inPieces(broken, 9)), /the device failed/);
  await assert.rejects(readAll(inPieces(STREAM.replace("data: [DONE]", ""), 9)), /without \[DONE\]/);
});
