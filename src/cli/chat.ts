/**
 * `rapid-mlx chat [MODEL]`: a conversation in the terminal, with a model loaded here or with a running server.
 *
 * Either way it speaks the server's own API; without `--url` the requests go to the app in this process. Lines come
 * from standard input, so a script can pipe them in. `/reset` forgets the conversation, `/exit` or end of input leaves.
 *
 * @module
 */
import { loadConfig } from "../config.ts";
import { createLogger } from "../log.ts";
import { loadProfiles } from "../profiles/store.ts";
import { CommandError } from "./errors.ts";
import { ensureModel } from "./find_model.ts";
import { openServer } from "./open_server.ts";
import { openTrace } from "./open_trace.ts";
import { prepareCore } from "./prepare_core.ts";
import { toSystemPackages } from "./serve.ts";
import { readAnswer } from "./sse_answer.ts";
import { print, write } from "./terminal.ts";

/** Flags of `chat`. */
export interface ChatFlags {
  /** A running server. */
  readonly url?: string;
  /** Its key. */
  readonly apiKey?: string;
  /** System message. */
  readonly system?: string;
  /** Longest answer. */
  readonly maxTokens?: number;
  /** 0: greedy. */
  readonly temperature?: number;
  /** Answers repeat. */
  readonly seed?: number;
  /** False: no system packages may be installed. */
  readonly systemPackages?: boolean;
}

/** A turn of the conversation, as the API takes it. */
interface Turn {
  role: "system" | "user" | "assistant";
  content: string;
}

/** Sends a chat completion request. */
type Ask = (body: unknown, signal: AbortSignal) => Promise<Response>;

const DIM = ["\x1b[2m", "\x1b[22m"] as const;

/** Talks until the input ends. @throws What set-up, the core or the server's refusal throws. */
export async function chat(model: string | undefined, flags: ChatFlags): Promise<void> {
  if (flags.url !== undefined) {
    const base = flags.url.replace(/\/+$/, "").replace(/\/v1$/, "");
    if (!URL.canParse(base)) {
      throw new CommandError(`--url is ${flags.url}; wanted is an address like http://127.0.0.1:8000.`);
    }
    await converse((body, signal) => askServer(toRequest(base, body, signal, flags.apiKey)), model, flags);
    return;
  }
  const setup = { systemPackages: toSystemPackages({ ...flags }) };
  const config = loadConfig({ logLevel: "warning" }, {}, model);
  const profiles = await loadProfiles();
  const libraryPath = await prepareCore(setup);
  const place = await ensureModel(model, profiles, setup);
  const log = createLogger({ level: config.logLevel });
  const trace = await openTrace(config, log);
  await using parts = openServer({ config, libraryPath, place, profiles, log, trace });
  await parts.load();
  const ask: Ask = async (body, signal) => await parts.app.fetch(toRequest("http://127.0.0.1", body, signal));
  await converse(ask, place.id, flags);
}

/** A request to a running server. @throws {CommandError} If nobody answers there. */
async function askServer(request: Request): Promise<Response> {
  return await fetch(request).catch((error: unknown) => {
    if (request.signal.aborted) throw error;
    throw new CommandError(`no server answers at ${request.url}: ${error instanceof Error ? error.message : error}`);
  });
}

function toRequest(base: string, body: unknown, signal: AbortSignal, key?: string): Request {
  const headers = { "content-type": "application/json", ...key !== undefined && { authorization: `Bearer ${key}` } };
  return new Request(`${base}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(body), signal });
}

async function converse(ask: Ask, model: string | undefined, flags: ChatFlags): Promise<void> {
  const isTerminal = Deno.stdin.isTerminal();
  const opening: Turn[] = flags.system === undefined ? [] : [{ role: "system", content: flags.system }];
  let turns = [...opening];
  if (isTerminal) print("Enter sends, /reset forgets, /exit leaves, Ctrl-C stops an answer.");
  const prompt = (): void => isTerminal ? write("> ") : undefined;
  prompt();
  for await (const line of readLines()) {
    const content = line.trim();
    if (content === "/exit") return;
    if (content === "/reset") turns = [...opening];
    else if (content !== "") turns = await answer(ask, model, flags, [...turns, { role: "user", content }]);
    prompt();
  }
}

/** One answer, shown as it comes. A failure is shown and forgets the turn; it does not end the conversation. */
async function answer(ask: Ask, model: string | undefined, flags: ChatFlags, turns: Turn[]): Promise<Turn[]> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  Deno.addSignalListener("SIGINT", onSignal);
  let text = "";
  try {
    const body = {
      messages: turns,
      stream: true,
      ...model !== undefined && { model },
      ...flags.maxTokens !== undefined && { max_tokens: flags.maxTokens },
      ...flags.temperature !== undefined && { temperature: flags.temperature },
      ...flags.seed !== undefined && { seed: flags.seed },
    };
    for await (const piece of readAnswer(await ask(body, stop.signal))) {
      if (piece.kind === "text") text += piece.text;
      write(piece.kind === "text" || !Deno.stdout.isTerminal() ? piece.text : `${DIM[0]}${piece.text}${DIM[1]}`);
    }
    print();
  } catch (error) {
    if (!stop.signal.aborted) {
      // A script that pipes its lines in must see the failure; a person can try again.
      if (!Deno.stdin.isTerminal()) throw error;
      print(`(${error instanceof Error ? error.message : String(error)})`);
      return turns.slice(0, -1);
    }
    print(" (stopped)");
  } finally {
    Deno.removeSignalListener("SIGINT", onSignal);
  }
  return [...turns, { role: "assistant", content: text }];
}

async function* readLines(): AsyncGenerator<string> {
  let rest = "";
  for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
