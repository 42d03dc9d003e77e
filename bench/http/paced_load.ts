/**
 * What runs beside the streams of paced.ts, in a thread of its own, so that the thread that takes the time does nothing
 * else: long prompts, and requests with many tools, one after the other until it is told to stop.
 *
 * @module
 */
import { toWords } from "../prompts.ts";
import { goFirst } from "./pace.ts";

/** What it is told: where the server is and what to send, or to stop. */
export type LoadMessage = { url: string; kinds: readonly LoadKind[] } | "stop";
/** A prompt of some 60,000 tokens; sixty tools of which one has to be called. */
export type LoadKind = "prompts" | "tools";
/** What it says at its end. */
export interface LoadDone {
  /** Answers that came. */
  asked: number;
  /** What failed. */
  error?: string;
}

declare const self: {
  onmessage: (event: MessageEvent<LoadMessage>) => void;
  postMessage(message: LoadDone): void;
};

/** Words of a long prompt: a little over one token each. */
const LONG_WORDS = 56_000;
const TOOLS = 60;
/** Where a body differs from all others, so that nothing of it is cached. */
const NUMBER = "@NUMBER@";

/** Bodies are made beforehand but for their number. */
const BODIES: Readonly<Record<LoadKind, string>> = {
  prompts: JSON.stringify({
    model: "paced",
    max_tokens: 1,
    messages: [{ role: "user", content: `${NUMBER} ${toWords(LONG_WORDS, 1)}` }],
  }),
  tools: JSON.stringify({
    model: "paced",
    max_tokens: 1,
    messages: [{ role: "user", content: "Call a tool." }],
    tools: Array.from({ length: TOOLS }, (_, index) => toTool(index)),
    tool_choice: "required",
  }),
};

goFirst(false);
let isStopped = false;
let question = Date.now();

self.onmessage = ({ data }): void => {
  if (data === "stop") isStopped = true;
  else void run(data.url, data.kinds);
};

async function run(url: string, kinds: readonly LoadKind[]): Promise<void> {
  let asked = 0;
  try {
    await Promise.all(kinds.map(async (kind) => {
      while (!isStopped) {
        await ask(url, BODIES[kind].replaceAll(NUMBER, String(++question)));
        asked++;
      }
    }));
    self.postMessage({ asked });
  } catch (error) {
    self.postMessage({ asked, error: String(error) });
  }
}

async function ask(url: string, body: string): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body });
  const text = await response.text();
  if (!response.ok) throw new Error(`The server answers ${response.status}: ${text.slice(0, 500)}`);
}

function toTool(index: number): object {
  const properties = {
    path: { type: "string", minLength: 1 },
    content: { type: "string", maxLength: 2000 },
    limit: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    mode: { enum: ["read", "write", NUMBER] },
    options: { type: "object", additionalProperties: { type: "string" } },
  };
  const parameters = { type: "object", properties, required: ["path"], additionalProperties: false };
  return {
    type: "function",
    function: { name: `tool_${index}`, description: toWords(100, index), parameters },
  };
}
