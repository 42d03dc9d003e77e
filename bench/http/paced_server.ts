/**
 * The whole server with a real tokenizer, text worker and grammar worker, on the fake core at a pace: one token of
 * every stream each STEP_MS. The steps are counted by a thread of their own, and those that the server was too busy
 * for are made up for at once, so that a token's time is known beforehand. Arguments are the model's folder and a file
 * for what paced_writes.ts saw.
 *
 * @module
 */
import { Engine } from "../../src/engine/engine.ts";
import { FAKE_MODEL_INFO, FakeCore } from "../../src/ffi/fake_core.ts";
import { findDialect } from "../../src/output/parser_names.ts";
import { openTextModel } from "../../src/prompt/text_model.ts";
import { watchWrites } from "./paced_writes.ts";
import { serveUntilSignal } from "./served_parts.ts";

/** Holds a prompt of 60,000 tokens. */
const CONTEXT_TOKENS = 131_072;

/** Steps that are due; those of an idle core are not made up for. */
let stepsDue = 0;
let wake = (): void => {};

const [folder, account] = Deno.args;
if (folder === undefined || account === undefined) throw new TypeError("Wanted are a model's folder and a file");
const writes = watchWrites();
const text = await openTextModel(folder);
const [word = 0] = await text.encode(" word", { addSpecial: false, parseSpecial: false });
const core = new FakeCore({
  reply: { tokens: new Array(CONTEXT_TOKENS).fill(word) },
  models: { paced: { ...FAKE_MODEL_INFO, vocabularySize: text.vocabulary.size, contextTokens: CONTEXT_TOKENS } },
  config: { prefillChunkTokens: CONTEXT_TOKENS },
  pace: async () => {
    if (stepsDue === 0) await new Promise<void>((resolve) => wake = resolve);
    stepsDue--;
  },
});
const engine = new Engine(core);
const handle = await engine.loadModel("paced", {});
const clock = new Worker(new URL("pace_worker.ts", import.meta.url), { type: "module" });
clock.onmessage = (): void => {
  const { running, waiting } = core.stats();
  stepsDue = running + waiting === 0 ? 0 : stepsDue + 1;
  if (stepsDue > 0) wake();
};
await serveUntilSignal(engine, "paced", {
  handle,
  info: engine.modelInfo(handle),
  text,
  sampling: {},
  templateArguments: {},
  dialect: findDialect("hermes"),
  contextTokens: CONTEXT_TOKENS,
});
await Deno.writeTextFile(account, JSON.stringify(writes));
Deno.exit(0);
