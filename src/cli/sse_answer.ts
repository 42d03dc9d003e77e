/**
 * Reads a streamed chat completion as text pieces; the other end of src/http/sse.ts, for `chat`.
 *
 * @module
 */
import { z } from "zod";
import { CommandError } from "./errors.ts";

const Chunk = z.object({
  choices: z.array(z.object({
    delta: z.object({ content: z.string().nullish(), reasoning_content: z.string().nullish() }),
    finish_reason: z.string().nullish(),
  })),
});
const Failure = z.object({ error: z.object({ message: z.string() }) });

/** A piece of an answer. */
export interface AnswerPiece {
  /** What the model says, or what it thinks. */
  kind: "text" | "reasoning";
  /** Never empty. */
  text: string;
}

/** The pieces of an answer. @throws {CommandError} With the server's own sentence if it refuses or fails. */
export async function* readAnswer(response: Response): AsyncGenerator<AnswerPiece> {
  if (!response.ok) throw new CommandError(toMessage(await response.text()) ?? `the server answers ${response.status}`);
  for await (const data of readEvents(response)) {
    if (data === "[DONE]") return;
    const failure = toMessage(data);
    if (failure !== undefined) throw new CommandError(failure);
    for (const { delta } of Chunk.parse(JSON.parse(data)).choices) {
      if (delta.reasoning_content) yield { kind: "reasoning", text: delta.reasoning_content };
      if (delta.content) yield { kind: "text", text: delta.content };
    }
  }
  throw new CommandError("the answer broke off: the server ended the stream without [DONE]");
}

async function* readEvents(response: Response): AsyncGenerator<string> {
  let rest = "";
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trim();
  }
}

function toMessage(text: string): string | undefined {
  try {
    return Failure.safeParse(JSON.parse(text)).data?.error.message;
  } catch {
    return undefined;
  }
}
