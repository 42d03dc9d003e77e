/**
 * Runs a record again: the recorded request through the whole server, on a core that plays the recorded tokens.
 *
 * Door, decoders and writers are those of today, so the record that comes out says what the client would see now. The
 * prompt is taken as recorded; nothing guides what is drawn, since it was drawn already.
 *
 * @module
 */
import type { RecordContent, RequestRecord } from "../api/request_record.ts";
import { loadConfig } from "../config.ts";
import { Engine } from "../engine/engine.ts";
import { FAKE_MODEL_INFO, FakeCore } from "../ffi/fake_core.ts";
import type { FakeReply } from "../ffi/fake_reply.ts";
import type { Vocabulary } from "../flow.ts";
import { createApp } from "../http/app.ts";
import { toParts } from "../http/app_parts.ts";
import { SYSTEM_CLOCK } from "../http/clock.ts";
import { SILENT_LOGGER } from "../log.ts";
import { findDialect } from "../output/parser_names.ts";
import { VOCABULARY_SIZE_MAX } from "../prompt/limits.ts";
import type { KeptResponses } from "../http/app_context.ts";
import { ServedModels } from "../route/models.ts";
import type { Script } from "../route/script.ts";
import { Records } from "../trace/records.ts";
import { countIds, RecordedTextModel } from "./recorded_model.ts";

/** A record can't be replayed. The message says why. */
export class ReplayError extends Error {
  /** @param message Why. */
  constructor(message: string) {
    super(message);
    this.name = "ReplayError";
  }
}

/** Refusals that the state of the server made, not the request. */
const STATE_CODES: readonly string[] = [
  "server_busy",
  "model_loading",
  "model_failed",
  "server_shutting_down",
  "insufficient_memory",
  "request_timeout",
  "request_too_large",
  "model_not_found",
];

/**
 * Replays a record.
 *
 * @returns The record of the replayed request, with content.
 * @throws {ReplayError} If it has no content, or the server's state and not the request made its end.
 */
export async function replay(record: RequestRecord): Promise<RequestRecord> {
  const { content, error } = record;
  if (content === null) throw new ReplayError(record.content_note ?? "the record has no content");
  if (error !== null && STATE_CODES.includes(error.code)) {
    throw new ReplayError(`the server's state ended it (${error.code}), which a replay does not have`);
  }
  if (countIds(record, content) > VOCABULARY_SIZE_MAX) {
    throw new ReplayError(`limits.vocabulary_size, or an id in content.vocabulary, is over ${VOCABULARY_SIZE_MAX}`);
  }
  const core = openCore(record, content);
  const engine = new Engine(core);
  try {
    return await ask(record, content, engine);
  } finally {
    await engine.close();
  }
}

async function ask(record: RequestRecord, content: RecordContent, engine: Engine): Promise<RequestRecord> {
  const handle = await engine.loadModel("recorded", {});
  const text = new RecordedTextModel(record, content);
  const models = new ServedModels();
  // A name that was listed as ignored meant the default model.
  const name = record.ignored.includes("model") ? undefined : modelOf(content.body);
  const model = models.add(record.model ?? "recorded", record.created, name);
  model.status = {
    state: "ready",
    loaded: {
      handle,
      info: engine.modelInfo(handle),
      text,
      sampling: {},
      templateArguments: {},
      dialect: findDialect(record.dialect?.tools, record.dialect?.reasoning),
      contextTokens: engine.modelInfo(handle).contextTokens,
    },
  };
  const records = new Records({ recordsContent: true });
  const app = createApp(toParts({
    engine,
    models,
    records,
    config: loadConfig({ maxBodyBytes: 64 * 2 ** 20, toolArguments: record.tool_arguments }, {}),
    responses: EARLIER_RESPONSES,
    clock: SYSTEM_CLOCK,
    log: SILENT_LOGGER,
    version: "replay",
    script: toScript(text.vocabulary),
  }));
  const headers = { "content-type": "application/json" };
  const response = await app.request(record.route, { method: "POST", headers, body: JSON.stringify(content.body) });
  await response.text();
  const replayed = records.find("", "last");
  if (replayed?.content) return replayed;
  throw new ReplayError(`${record.route} is no route whose requests are recorded`);
}

/** What a request refers to is in its recorded prompt; nothing is kept of its replay. */
const EARLIER_RESPONSES: KeptResponses = {
  put: () => true,
  get: () => undefined,
  chain: () => [],
  item: () => ({ role: "user", content: "" }),
  delete: () => false,
};

function openCore(record: RequestRecord, content: RecordContent): FakeCore {
  const { limits } = record;
  const contextTokens = limits?.context_tokens ?? FAKE_MODEL_INFO.contextTokens;
  const vocabularySize = limits?.vocabulary_size ?? FAKE_MODEL_INFO.vocabularySize;
  let next = 0;
  return new FakeCore({
    // Choices are submitted in their order.
    reply: (): FakeReply => toReply(record, content, next++),
    models: { recorded: { ...FAKE_MODEL_INFO, contextTokens, vocabularySize } },
    config: { prefillChunkTokens: contextTokens },
  });
}

function toReply({ choices, usage, error }: RequestRecord, content: RecordContent, index: number): FakeReply {
  const choice = content.choices[index];
  if (choice === undefined) return { tokens: [], end: "stop" };
  const { tokens, logprobs } = choice;
  const finish = choices[index]?.core_finish ?? null;
  const failure = error?.message ?? "the request failed";
  const last = tokens.at(-1);
  const endsByToken = finish === "stop" && last !== undefined && content.end_tokens.includes(last);
  return {
    tokens,
    cachedTokens: usage.cached_tokens,
    ...(logprobs && {
      logprobs: logprobs.map(({ logprob }) => logprob),
      top: logprobs.map(({ top }) => top.map(([token, logprob]) => ({ token, logprob }))),
    }),
    ...(!endsByToken && { end: finish === "stop" ? "stop" as const : "length" as const }),
    ...(finish === null && { failure: { afterTokens: tokens.length, code: "internal" as const, message: failure } }),
  };
}

/** A record as a script: what binds answers is checked, and follows nothing. */
function toScript(vocabulary: Vocabulary): Script {
  return { take: () => ({ vocabulary, closing: [], promptOpen: "", cutsConnection: false }), recent: () => [] };
}

/** The name that the request asked for, so that it is served. */
function modelOf(body: unknown): string | undefined {
  const model = typeof body === "object" && body !== null ? Reflect.get(body, "model") : undefined;
  return typeof model === "string" && model.length <= 512 ? model : undefined;
}
