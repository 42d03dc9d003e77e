/**
 * The whole server but its listener, on a fake core and a model of bytes.
 *
 * @module
 */
import { type Config, loadConfig } from "../../src/config.ts";
import { Engine } from "../../src/engine/engine.ts";
import { FAKE_MODEL_INFO, FakeCore, type FakeCoreOptions } from "../../src/ffi/fake_core.ts";
import type { FakeReply } from "../../src/ffi/fake_reply.ts";
import { createApp } from "../../src/http/app.ts";
import { toParts } from "../../src/http/app_parts.ts";
import type { AppDependencies } from "../../src/http/app_context.ts";
import { createLogger, type LogLevel } from "../../src/log.ts";
import type { Dialect } from "../../src/output/decoder.ts";
import { findDialect } from "../../src/output/parser_names.ts";
import type { TextModel } from "../../src/prompt/text_model.ts";
import { type ServedModel, ServedModels } from "../../src/route/models.ts";
import { ResponseStore } from "../../src/store/responses.ts";
import { Records } from "../../src/trace/records.ts";
import { BYTE_VOCABULARY_SIZE, ByteTextModel, END_TOKEN, toByteTokens } from "./byte_text_model.ts";
import { ManualClock } from "./manual_clock.ts";

/** Served id of the test's model. */
export const MODEL_ID = "test-model";
/** Its Hugging Face id, with a slash. */
export const MODEL_HF_ID = "someone/Test-Model";

/** What a test may choose. */
export interface TestAppOptions extends Partial<FakeCoreOptions> {
  /** Flags of `serve`. */
  flags?: Record<string, unknown>;
  /** Context of the model. */
  contextTokens?: number;
  /** Text side of the model; absent: of bytes. It is not closed. */
  text?: TextModel;
  /** How the model writes; absent: all is text. */
  dialect?: Dialect;
  /** Least level that `lines` gets. */
  logLevel?: LogLevel;
}

/** A server for one test. */
export interface TestApp extends AppDependencies {
  /** The app. */
  app: ReturnType<typeof createApp>;
  /** The settings. */
  config: Config;
  /** The core behind it. */
  engine: Engine;
  /** Turned by hand. */
  clock: ManualClock;
  /** What was logged. */
  lines: string[];
  /** The served model. */
  model: ServedModel;
  /** Sends JSON, or text as it is. */
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  /** Asks for a path. */
  get(path: string, init?: RequestInit): Promise<Response>;
  /** Ends it; fails if the core has a request left. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A reply of the fake core that spells a text and then ends. */
export function says(text: string, more: Partial<FakeReply> = {}): FakeReply {
  return { tokens: [...toByteTokens(text), END_TOKEN], ...more };
}

/** Opens one with a loaded model. */
export async function openTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const { flags = {}, contextTokens = 4096, logLevel = "info", ...modelOptions } = options;
  const { text = new ByteTextModel(), dialect = findDialect(), ...coreOptions } = modelOptions;
  const vocabularySize = Math.max(BYTE_VOCABULARY_SIZE, text.vocabulary.size);
  const info = { ...FAKE_MODEL_INFO, vocabularySize, contextTokens };
  const core = new FakeCore({ reply: says("Hello there."), models: { bytes: info }, ...coreOptions });
  const engine = new Engine(core);
  const handle = await engine.loadModel("bytes", {});
  const models = new ServedModels();
  const model = models.add(MODEL_ID, 1_700_000_000, MODEL_HF_ID);
  model.status = {
    state: "ready",
    loaded: { handle, info, text, sampling: {}, templateArguments: {}, dialect, contextTokens },
  };
  const lines: string[] = [];
  const clock = new ManualClock();
  const config = loadConfig(flags, {});
  const parts = toParts({
    config,
    engine,
    models,
    records: new Records({ recordsContent: config.recordsContent }),
    responses: new ResponseStore(),
    clock,
    log: createLogger({ level: logLevel, write: (line) => lines.push(line), now: () => 0 }),
    version: "0.0.0-test",
  });
  const app = createApp(parts);
  return {
    ...parts,
    app,
    lines,
    model,
    get: async (path, init) => await app.request(path, init),
    post: async (path, body, init = {}) => {
      const headers = new Headers(init.headers);
      if (!headers.has("content-type")) headers.set("content-type", "application/json");
      const text = typeof body === "string" || body instanceof Uint8Array ? body as BodyInit : JSON.stringify(body);
      return await app.request(path, { ...init, method: "POST", headers, body: text });
    },
    async [Symbol.asyncDispose](): Promise<void> {
      const { running, waiting } = engine.stats();
      await engine.close();
      parts.grammars.close();
      parts.responses.close();
      if (running + waiting > 0) throw new Error(`The test left ${running + waiting} requests in the core`);
    },
  };
}

/** The `data:` payloads of an event stream, parsed but for `[DONE]`. */
export async function readEvents(response: Response): Promise<unknown[]> {
  return toEvents(await response.text());
}

/** The same, of the text of a stream. */
export function toEvents(text: string): unknown[] {
  const frames = text.split("\n\n");
  if (frames.pop() !== "") throw new Error(`The stream ends inside a frame: ${JSON.stringify(text.slice(-100))}`);
  return frames.map((frame) => {
    if (!frame.startsWith("data: ") || frame.includes("\n")) throw new Error(`Not a frame: ${JSON.stringify(frame)}`);
    const data = frame.slice("data: ".length);
    return data === "[DONE]" ? data : JSON.parse(data);
  });
}

/** The named events of a stream of the Messages or Responses wire; each name must be its data's type. */
export async function readNamedEvents(response: Response): Promise<Record<string, unknown>[]> {
  const frames = (await response.text()).split("\n\n");
  if (frames.pop() !== "") throw new Error("The stream ends inside a frame");
  return frames.map((frame) => {
    const [, event, json] = /^event: ([\w.]+)\ndata: ([^\n]*)$/.exec(frame) ?? [];
    if (json === undefined) throw new Error(`Not a named frame: ${JSON.stringify(frame)}`);
    const data = JSON.parse(json);
    if (data.type !== event) throw new Error(`The event ${event} has the type ${data.type}`);
    return data;
  });
}
