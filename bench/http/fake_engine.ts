/**
 * Engine and decoder on the fake core: what fake_server.ts has behind its routes.
 *
 * @module
 */
import { setImmediate } from "node:timers";
import { Engine } from "../../src/engine/engine.ts";
import { FAKE_MODEL_INFO, FakeCore } from "../../src/ffi/fake_core.ts";
import type { ModelHandle, ModelInfo } from "../../src/ffi/core.ts";
import { createDecoder } from "../../src/output/decoder.ts";
import { startAnswer } from "../../src/route/answer.ts";
import { BYTE_VOCABULARY_SIZE, ByteTextModel, END_TOKEN, toByteTokens } from "../../tests/support/byte_text_model.ts";
import { toRequest } from "../generate.ts";

/** Context of its model. */
export const FAKE_CONTEXT_TOKENS = 8192;

/** An engine with a model of bytes. */
export interface FakeEngine extends AsyncDisposable {
  /** Owns the fake core. */
  readonly engine: Engine;
  /** Its model. */
  readonly handle: ModelHandle;
  /** The model's facts. */
  readonly info: ModelInfo;
  /** Its text side. */
  readonly text: ByteTextModel;
}

/** Opens it. Steps run at the next turn of the event loop and take no time. */
export async function openFake(): Promise<FakeEngine> {
  const info = { ...FAKE_MODEL_INFO, vocabularySize: BYTE_VOCABULARY_SIZE, contextTokens: FAKE_CONTEXT_TOKENS };
  // One letter a token, more of them than any answer has: an answer is as long as its limit says.
  const core = new FakeCore({
    reply: { tokens: toByteTokens("a word ".repeat(FAKE_CONTEXT_TOKENS / 7)) },
    models: { bytes: info },
    pace: () => new Promise((resolve) => setImmediate(resolve)),
  });
  const engine = new Engine(core);
  const handle = await engine.loadModel("bytes", {});
  return { engine, handle, info, text: new ByteTextModel(), [Symbol.asyncDispose]: () => engine.close() };
}

/** Runs streams to their ends. @returns Milliseconds a token. */
export async function generateOnFake(fake: FakeEngine, streams: number, tokens: number): Promise<number> {
  const startMs = performance.now();
  await Promise.all(Array.from({ length: streams }, async (_, client) => {
    const { vocabulary } = fake.text;
    const decoder = createDecoder({ vocabulary, endTokens: [END_TOKEN], stop: [] });
    const choice = { request: toRequest(fake.handle, [1, 2, 3], tokens, client), decoder, vocabulary };
    for await (const _event of startAnswer(fake.engine, choice, new AbortController().signal, () => {}));
  }));
  return (performance.now() - startMs) / (streams * tokens);
}
