/**
 * One streamed request as a client's wire makes it: does a whole answer come back?
 *
 * @module
 */
import { type Target, toKey, type Wire } from "./agent.ts";
import { ServerError } from "./server.ts";

/** What came. */
export interface Verified {
  /** The route that was asked. */
  readonly route: string;
  /** Until the first event. */
  readonly firstMs: number;
  /** Until the end. */
  readonly totalMs: number;
  /** Words of the answer, at most 200 characters; empty if it only thought or called. */
  readonly text: string;
}

const QUESTION = "Say hello in one word.";
/** Enough for a word, also where a model thinks first; thinking that is longer is cut, which is no fault. */
const TOKENS_MAX = 256;
const WAIT_MS = 300_000;

interface Probe {
  readonly route: string;
  body(model: string): object;
  /** Text in an event. */
  text(event: WireData): string | undefined;
  /** Whether an event ends a whole answer. */
  ends(event: WireData): boolean;
}

/** The fields of all wires' events that are looked at. */
interface WireData {
  type?: string;
  error?: { message?: string };
  choices?: { delta?: { content?: string | null }; finish_reason?: string | null }[];
  delta?: { text?: string } | string;
  response?: { error?: { message?: string } | null };
}

const PROBES: Readonly<Record<Wire, Probe>> = {
  chat: {
    route: "/v1/chat/completions",
    body: (model) => ({
      model,
      max_tokens: TOKENS_MAX,
      stream: true,
      messages: [{ role: "user", content: QUESTION }],
    }),
    text: ({ choices }) => choices?.[0]?.delta?.content ?? undefined,
    ends: ({ choices }) => typeof choices?.[0]?.finish_reason === "string",
  },
  messages: {
    route: "/v1/messages",
    body: (model) => ({
      model,
      max_tokens: TOKENS_MAX,
      stream: true,
      messages: [{ role: "user", content: QUESTION }],
    }),
    text: ({ delta }) => typeof delta === "object" ? delta.text : undefined,
    ends: ({ type }) => type === "message_stop",
  },
  responses: {
    route: "/v1/responses",
    body: (model) => ({ model, max_output_tokens: TOKENS_MAX, stream: true, store: false, input: QUESTION }),
    text: ({ type, delta }) => type === "response.output_text.delta" && typeof delta === "string" ? delta : undefined,
    ends: ({ type }) => type === "response.completed" || type === "response.incomplete",
  },
};

/** Asks. @throws {ServerError} If no whole answer comes. */
export async function verify(target: Target, wire: Wire, nowMs: () => number): Promise<Verified> {
  const probe = PROBES[wire];
  const startMs = nowMs();
  const where = `${target.baseUrl}${probe.route}`;
  const response = await fetch(where, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${toKey(target)}` },
    body: JSON.stringify(probe.body(target.model)),
    signal: AbortSignal.timeout(WAIT_MS),
  }).catch((error: unknown) => {
    throw new ServerError(`${where} does not answer: ${error instanceof Error ? error.message : error}`);
  });
  if (!response.ok || response.body === null) {
    const text = await response.text();
    throw new ServerError(`${where} answers ${response.status}: ${toMessage(text)}`);
  }
  let firstMs: number | undefined;
  let [text, isWhole] = ["", false];
  try {
    for await (const event of readEvents(response.body)) {
      firstMs ??= nowMs() - startMs;
      const failure = event.error ?? event.response?.error;
      if (failure !== undefined && failure !== null) throw new ServerError(`${where} failed: ${failure.message ?? ""}`);
      text += probe.text(event) ?? "";
      isWhole ||= probe.ends(event);
    }
  } catch (error) {
    if (error instanceof ServerError) throw error;
    throw new ServerError(
      `${where} was lost in the middle of an answer: ${error instanceof Error ? error.message : error}`,
    );
  }
  if (!isWhole) throw new ServerError(`${where} ended in the middle of an answer.`);
  const totalMs = nowMs() - startMs;
  return { route: probe.route, firstMs: firstMs ?? totalMs, totalMs, text: text.trim().slice(0, 200) };
}

async function* readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<WireData> {
  let rest = "";
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const data = /^data: ?(.*)$/.exec(line)?.[1];
      if (data !== undefined && data !== "[DONE]") yield JSON.parse(data);
    }
  }
}

function toMessage(text: string): string {
  try {
    const body = JSON.parse(text) as { error?: { message?: unknown } };
    if (typeof body.error?.message === "string") return body.error.message;
  } catch {
    // Not ours: shown as it is.
  }
  return text.slice(0, 300);
}
