/**
 * A client that takes the time: streamed and whole chat completions over loopback.
 *
 * Reading and parsing are apart: while an answer comes in, only the clock is read, so that the client does not take
 * the processor from the server that it measures.
 *
 * @module
 */
import { z } from "zod";

const Usage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  rapid_mlx: z.object({ queue_ms: z.number(), prefill_ms: z.number(), decode_ms: z.number() }).optional(),
});
const Chunk = z.object({
  choices: z.array(z.object({ delta: z.object({ content: z.string().nullish() }) })),
  usage: Usage.nullish(),
});

/** What is asked. */
export interface ChatQuestion {
  /** The user's words. */
  text: string;
  /** Longest answer. */
  maxTokens: number;
}

/** A streamed answer, in milliseconds of this process's clock. */
export interface TimedAnswer {
  /** When the request was sent. */
  sentMs: number;
  /** When each piece of text arrived: that of the read that completed it. */
  pieceMs: number[];
  /** When the body ended. */
  endMs: number;
  /** Prompt. */
  promptTokens: number;
  /** Drawn, the end token included. */
  completionTokens: number;
  /** From submit to the first step, and from there to the first token, as the core says; NaN of other servers. */
  coreFirstTokenMs: number;
  /** Mean of the steps after the first token, as the core says; NaN for fewer than two tokens and other servers. */
  coreStepMs: number;
}

/** Streams an answer. @throws If the server refuses, fails or breaks off. */
export async function streamChat(url: string, question: ChatQuestion, client = "bench"): Promise<TimedAnswer> {
  const sentMs = performance.now();
  const response = await post(
    url,
    { ...toBody(question), stream: true, stream_options: { include_usage: true } },
    client,
  );
  const reads: { ms: number; bytes: Uint8Array }[] = [];
  for await (const bytes of response.body ?? []) reads.push({ ms: performance.now(), bytes });
  const endMs = performance.now();
  const pieceMs: number[] = [];
  let usage: z.infer<typeof Usage> | undefined;
  for (const { ms, data } of toEvents(reads)) {
    if (data === "[DONE]") break;
    const chunk = Chunk.parse(JSON.parse(data));
    if (chunk.choices[0]?.delta.content) pieceMs.push(ms);
    usage ??= chunk.usage ?? undefined;
  }
  if (!usage) throw new Error(`The stream has no usage: ${new TextDecoder().decode(reads.at(-1)?.bytes)}`);
  const { queue_ms: queueMs = NaN, prefill_ms: prefillMs = NaN, decode_ms: decodeMs = NaN } = usage.rapid_mlx ?? {};
  const completionTokens = usage.completion_tokens;
  return {
    sentMs,
    pieceMs,
    endMs,
    promptTokens: usage.prompt_tokens,
    completionTokens,
    coreFirstTokenMs: queueMs + prefillMs,
    coreStepMs: completionTokens > 1 ? decodeMs / (completionTokens - 1) : NaN,
  };
}

/** A whole answer. @returns Its completion tokens. @throws If the server refuses or fails. */
export async function askChat(url: string, question: ChatQuestion, client = "bench"): Promise<number> {
  const response = await post(url, toBody(question), client);
  return z.object({ usage: Usage }).parse(await response.json()).usage.completion_tokens;
}

/** Starts a stream and leaves after `reads` reads of its body. */
export async function leaveChat(url: string, question: ChatQuestion, reads: number): Promise<void> {
  const response = await post(url, { ...toBody(question), stream: true }, "bench");
  const reader = response.body?.getReader();
  for (let i = 0; i < reads; i++) await reader?.read();
  await reader?.cancel();
}

/** Mean time between the pieces of an answer; NaN for fewer than two. */
export function toGapMs({ pieceMs }: TimedAnswer): number {
  return ((pieceMs.at(-1) ?? NaN) - (pieceMs[0] ?? NaN)) / (pieceMs.length - 1);
}

function toBody({ text, maxTokens }: ChatQuestion): object {
  return { model: "default", messages: [{ role: "user", content: text }], max_tokens: maxTokens, temperature: 0 };
}

async function post(url: string, body: object, client: string): Promise<Response> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "user-agent": client },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url} answers ${response.status}: ${await response.text()}`);
  return response;
}

function* toEvents(reads: readonly { ms: number; bytes: Uint8Array }[]): Generator<{ ms: number; data: string }> {
  const decoder = new TextDecoder();
  let rest = "";
  for (const { ms, bytes } of reads) {
    const frames = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) yield { ms, data: frame.replace(/^data: /, "") };
  }
}
