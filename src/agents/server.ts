/**
 * A running server → what clients are pointed at: its address, the model, the window.
 *
 * @module
 */
import { z } from "zod";
import type { Target } from "./agent.ts";

/** No usable server. The message says what was asked and what came. */
export class ServerError extends Error {
  /** @param message Names the address. */
  constructor(message: string) {
    super(message);
    this.name = "ServerError";
  }
}

/** The server answers, and its model is not there yet. */
class LoadingError extends ServerError {}

/** Between two looks at a model that is loading. */
const PAUSE_MS = 500;
const LOADING_MS_MAX = 600_000;
/** Longest wait for the list of models: it is made of what is in memory. */
const ANSWER_MS = 5000;

const ModelsSchema = z.object({
  data: z.array(z.object({
    id: z.string(),
    owned_by: z.string().optional(),
    state: z.string().optional(),
    context_length: z.number().int().positive().optional(),
    capabilities: z.array(z.string()).optional(),
  })),
});

type ModelEntries = z.output<typeof ModelsSchema>["data"];

/** How a server is looked for. */
export interface ServerQuery {
  /** Its address, with or without `/v1`; absent: the first of ours on the usual ports. */
  readonly url?: string | undefined;
  /** Its key. */
  readonly apiKey?: string | undefined;
  /** Served id; absent: the first one. */
  readonly model?: string | undefined;
  /** Ports of this machine to look at when no address is given. */
  readonly ports: readonly number[];
}

/** `http://host:1/v1/` → `http://host:1`. @throws {ServerError} If it is no address. */
export function toBaseUrl(url: string): string {
  const base = url.replace(/\/+$/, "").replace(/\/v1$/, "");
  if (URL.canParse(base) && /^https?:/.test(base)) return base;
  throw new ServerError(`--url is ${url}; wanted is an address like http://127.0.0.1:8000.`);
}

/** The server's facts; undefined where none answers. @throws {ServerError} If one answers, and can't be used. */
export async function findServer(query: ServerQuery): Promise<Target | undefined> {
  if (query.url !== undefined) {
    const baseUrl = toBaseUrl(query.url);
    const answer = await ask(baseUrl, query.apiKey);
    return answer === undefined ? undefined : toTarget(baseUrl, answer, query);
  }
  const found = await Promise.all(query.ports.map(async (port) => {
    const baseUrl = `http://127.0.0.1:${port}`;
    const answer = await ask(baseUrl, query.apiKey).catch(() => undefined);
    const isOurs = answer?.status === 401 || answer?.entries?.some((entry) => entry.owned_by === "rapid-mlx");
    return isOurs && answer !== undefined ? { baseUrl, answer } : undefined;
  }));
  const first = found.find((one) => one !== undefined);
  return first === undefined ? undefined : toTarget(first.baseUrl, first.answer, query);
}

/** Like `findServer`, and waits for a model that is loading, at most ten minutes. @param pause Waits some ms. */
export async function awaitServer(
  query: ServerQuery,
  pause: (ms: number) => Promise<void>,
): Promise<Target | undefined> {
  for (let waitedMs = 0;; waitedMs += PAUSE_MS) {
    try {
      return await findServer(query);
    } catch (error) {
      if (!(error instanceof LoadingError) || waitedMs >= LOADING_MS_MAX) throw error;
      await pause(PAUSE_MS);
    }
  }
}

/** Like `findServer`, for those who can't go on without. @throws {ServerError} If none answers. */
export async function requireServer(query: ServerQuery): Promise<Target> {
  const target = await findServer(query);
  if (target !== undefined) return target;
  const [first, last] = [query.ports[0], query.ports.at(-1)];
  const asked = query.url ?? `http://127.0.0.1, ports ${first} to ${last}`;
  throw new ServerError(`No server answers at ${asked}. Start one with: rapid-mlx serve`);
}

/** Whether a server wants a key. */
export async function asksForKey(baseUrl: string): Promise<boolean> {
  return (await ask(baseUrl, undefined))?.status === 401;
}

interface Answer {
  readonly status: number;
  readonly entries?: ModelEntries;
}

/** Undefined: nobody is there. */
async function ask(baseUrl: string, apiKey: string | undefined): Promise<Answer | undefined> {
  const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  let response: Response;
  try {
    response = await fetch(`${baseUrl}/v1/models`, { headers, signal: AbortSignal.timeout(ANSWER_MS) });
  } catch {
    return undefined;
  }
  const body: unknown = await response.json().catch(() => undefined);
  const parsed = ModelsSchema.safeParse(body);
  return { status: response.status, ...parsed.success && { entries: parsed.data.data } };
}

function toTarget(baseUrl: string, { status, entries }: Answer, { apiKey, model }: ServerQuery): Target {
  if (status === 401) {
    throw new ServerError(`${baseUrl} wants its key: give --api-key KEY, or set RAPID_MLX_API_KEY.`);
  }
  if (entries === undefined) throw new ServerError(`${baseUrl}/v1/models answers ${status} and no list of models.`);
  const entry = model === undefined ? entries[0] : entries.find(({ id }) => id === model);
  if (entry === undefined) {
    const served = entries.map(({ id }) => id).join(", ") || "none";
    throw new ServerError(
      `${baseUrl} serves ${served}; ${model === undefined ? "wanted is a model" : `not ${model}`}.`,
    );
  }
  if (entry.state === "loading") {
    throw new LoadingError(`${baseUrl}: ${entry.id} is still loading; try again when it is ready.`);
  }
  if (entry.context_length === undefined) throw new ServerError(`${baseUrl}: ${entry.id} tells no window.`);
  return {
    baseUrl,
    ...apiKey !== undefined && { apiKey },
    model: entry.id,
    contextTokens: entry.context_length,
    reasons: entry.capabilities?.includes("reasoning") ?? false,
  };
}
