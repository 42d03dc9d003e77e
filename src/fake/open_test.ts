/** What a script says of time is kept, by a clock that the test turns. */
import assert from "node:assert/strict";
import { Engine } from "../engine/engine.ts";
import type { GenerationRequest } from "../flow.ts";
import { loadProfiles } from "../profiles/store.ts";
import { openFakeModel } from "./open.ts";
import { parseScript } from "./script.ts";

const THINKING = { enabled: null, budget: null, effort: null };
const ASKED = {
  route: "/v1/completions",
  prompt: "x",
  lastMessage: "x",
  tools: [],
  thinking: THINKING,
  constraint: null,
};
/** Milliseconds of one step of the core. */
const STEP_MS = 10;

Deno.test("a reply keeps its delay and its speed", async () => {
  let nowMs = 0;
  const pace = (): Promise<void> =>
    new Promise((resolve) =>
      setTimeout(() => {
        nowMs += STEP_MS;
        resolve();
      })
    );
  const script = { model: "m", replies: [{ chunks: ["a", "b", "c"], delay_ms: 900, ms_per_token: 300 }] };
  const file = parseScript(JSON.stringify(script), "script.json");
  const findFolder = (): Promise<undefined> => Promise.resolve(undefined);
  const clock = { nowMs: (): number => nowMs, pace };
  const fake = await openFakeModel({
    file,
    name: "script.json",
    profiles: await loadProfiles(),
    findFolder,
    config: {},
    clock,
  });
  const engine = new Engine(fake.core);
  const prompt = Int32Array.of(0, 1, 2);
  const off = { topP: 1, topK: 0, minP: 0, repetitionPenalty: 1, presencePenalty: 0, frequencyPenalty: 0 };
  const request: GenerationRequest = {
    requestId: "test",
    model: await engine.loadModel("m", {}),
    prompt,
    endTokens: [],
    sampling: { temperature: 0, ...off, logitBias: new Map(), seed: 7n },
    limits: { maxTokens: 16, stop: [], ignoreEnd: false },
    client: 1,
  };
  const { sampling, limits } = request;
  fake.player.take({ ...ASKED, prompts: [prompt], sampling, limits });
  const times: number[] = [];
  for await (const event of engine.generate(request, new AbortController().signal)) {
    if (event.type === "token") times.push(nowMs);
  }
  await engine.close();
  await fake.model.text.close();
  const [first = 0, second = 0, third = 0] = times;
  assert.equal(times.length, 3);
  assert.ok(first >= 900 && first < 1200, `${first}`);
  assert.ok(second - first >= 300 - STEP_MS && third - first >= 600 - STEP_MS, `${times}`);
});
