/**
 * Our core as a peer: the engine over the library, without text and HTTP. Speaks the protocol of protocol.py.
 *
 *     deno run -A run_rapid_mlx.ts LIBRARY FOLDER '{"threads":2}'
 *
 * @module
 */
import { Engine } from "../../src/engine/engine.ts";
import type { EngineConfig, ModelHandle } from "../../src/ffi/core.ts";
import { openNativeCore } from "../../src/ffi/native_core.ts";
import { print } from "../../src/cli/terminal.ts";
import { readLines } from "../lines.ts";
import { generate } from "../generate.ts";

/** A question of the protocol. */
type Question = { do: "generate"; prompt: number[][]; tokens: number } | {
  do: "rows";
  prompt: number[];
  times: number;
};

const [libraryPath = "", folder = "", config = "{}"] = Deno.args;
const engine = new Engine(openNativeCore(libraryPath, JSON.parse(config) as EngineConfig));
const model = await engine.loadModel(folder, {});
for await (const line of readLines(Deno.stdin.readable)) {
  print(JSON.stringify(await answer(model, JSON.parse(line) as Question)));
}
await engine.close();

async function answer(model: ModelHandle, question: Question): Promise<object> {
  if (question.do === "generate") {
    const { prefillMs, decodeMs, decodeTokens } = await generate(engine, model, question.prompt, question.tokens);
    return { "prefill_ms": prefillMs, "decode_ms": decodeMs, "decode_tokens": decodeTokens };
  }
  const stepMs: number[] = [];
  for (let i = 0; i < question.times; i++) {
    stepMs.push((await generate(engine, model, [question.prompt], 1)).prefillMs);
  }
  return { "step_ms": stepMs };
}
