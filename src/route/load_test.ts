import assert from "node:assert/strict";
import { ByteTextModel } from "../../tests/support/byte_text_model.ts";
import { Engine } from "../engine/engine.ts";
import { FAKE_MODEL_INFO, FakeCore } from "../ffi/fake_core.ts";
import { findDialect } from "../output/parser_names.ts";
import { loadServedModel } from "./load.ts";
import { type ServedModel, ServedModels } from "./models.ts";

function addModel(): ServedModel {
  return new ServedModels().add("m", 0);
}

function openEngine(): Engine {
  return new Engine(new FakeCore({ reply: { tokens: [1] } }));
}

Deno.test("a load makes a model ready with the smallest of its context bounds and what its profile says", async () => {
  const engine = openEngine();
  const text = Object.assign(new ByteTextModel(), {
    contextTokens: 900,
    generationDefaults: { temperature: 0.2, topP: 0.8 },
  });
  const model = addModel();
  const openText = (): Promise<ByteTextModel> => Promise.resolve(text);
  await loadServedModel(model, {
    directory: "fake",
    engine,
    openText,
    modelConfig: { contextTokens: 1000 },
    profile: ({ generationDefaults }) => ({
      dialect: findDialect("hermes", "qwen3"),
      sampling: { ...generationDefaults, temperature: 0.6 },
      templateArguments: { enable_thinking: false },
    }),
  });
  assert.equal(model.status.state, "ready");
  if (model.status.state !== "ready") return;
  assert.equal(model.status.loaded.contextTokens, 900);
  assert.equal(model.status.loaded.info.vocabularySize, FAKE_MODEL_INFO.vocabularySize);
  assert.deepEqual(model.status.loaded.sampling, { temperature: 0.6, topP: 0.8 });
  assert.deepEqual(model.status.loaded.templateArguments, { enable_thinking: false });
  const plain = addModel();
  await loadServedModel(plain, { directory: "fake", engine, openText });
  if (plain.status.state !== "ready") assert.fail("the second load is not ready");
  assert.deepEqual(plain.status.loaded.sampling, { temperature: 0.2, topP: 0.8 });
  await engine.close();
});

Deno.test("a load that fails on either side leaves nothing loaded and says why", async () => {
  const engine = openEngine();
  let closed = 0;
  const text = Object.assign(new ByteTextModel(), { close: () => Promise.resolve(void closed++) });
  const noWeights = addModel();
  await assert.rejects(
    loadServedModel(noWeights, { directory: "missing", engine, openText: () => Promise.resolve(text) }),
    /Cannot load a model/,
  );
  assert.equal(noWeights.status.state, "failed");
  assert.equal(closed, 1);

  const noText = addModel();
  const openText = (): Promise<ByteTextModel> => Promise.reject(new Error("tokenizer.json is missing"));
  await assert.rejects(loadServedModel(noText, { directory: "fake", engine, openText }), /tokenizer\.json is missing/);
  assert.deepEqual(noText.status, { state: "failed", message: "tokenizer.json is missing" });
  assert.equal(engine.stats().models, 0);
  await engine.close();
});
