import assert from "node:assert/strict";
import { type Checkpoint, matchLine } from "./match.ts";
import { recommendSampling } from "./sampling.ts";
import { profileSchemas } from "./schema_gen.ts";
import { loadProfiles, ProfileError } from "./store.ts";

const OURS = await loadProfiles();

/** Checkpoint and the line that covers it. */
const MATCHES: [Checkpoint, string][] = [
  [{ name: "smollm2-135m-instruct", modelType: "llama" }, "smollm2"],
  [{ name: "HuggingFaceTB/SmolLM2-1.7B-Instruct", modelType: "llama" }, "smollm2"],
  [{ name: "model", modelType: "llama", chatTemplate: "named SmolLM, trained by Hugging Face" }, "smollm2"],
  [{ name: "mlx-community/Llama-3.2-3B-Instruct-4bit", modelType: "llama" }, "llama3"],
  [{ name: "folder", modelType: "llama", chatTemplate: "<|start_header_id|>…<|eot_id|>" }, "llama3"],
  [{ name: "mistralai/Mistral-7B-Instruct-v0.3", modelType: "mistral" }, "mistral"],
  [{ name: "folder", modelType: "mistral", chatTemplate: "[INST]" }, "mistral"],
  [{ name: "Qwen/Qwen3-8B", modelType: "qwen3" }, "qwen3"],
  [{ name: "Qwen/Qwen3-4B-Instruct-2507", modelType: "qwen3" }, "qwen3_instruct"],
  [{ name: "folder", modelType: "qwen3", chatTemplate: "<|im_start|> enable_thinking" }, "qwen3"],
  [{ name: "Qwen/Qwen3-Coder-30B-A3B-Instruct", modelType: "qwen3_moe" }, "qwen3_coder"],
  [{ name: "openai/gpt-oss-20b", modelType: "gpt_oss" }, "gpt_oss"],
  [{ name: "NousResearch/Hermes-3-Llama-3.2-3B", modelType: "llama" }, "hermes"],
  [{ name: "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", modelType: "qwen2" }, "deepseek_r1_distill"],
  [{ name: "someone/unheard-of", modelType: "llama" }, "default"],
  [{ name: "someone/unheard-of" }, "default"],
];

for (const [checkpoint, id] of MATCHES) {
  const what = `${checkpoint.name} (${checkpoint.modelType ?? "no type"}, ${checkpoint.chatTemplate ?? "no template"})`;
  Deno.test(`The line of ${what} is ${id}`, () => {
    const { line, reason } = matchLine(OURS, checkpoint);
    assert.equal(line.id, id);
    assert.ok(reason.length > 0);
  });
}

Deno.test("A line's sampling wins over the checkpoint's, and what neither says is absent", () => {
  const { line } = matchLine(OURS, { name: "Qwen/Qwen3-8B", modelType: "qwen3" });
  assert.deepEqual(recommendSampling(line, { temperature: 1, repetitionPenalty: 1.1 }), {
    temperature: 0.6,
    topP: 0.95,
    topK: 20,
    minP: 0,
    repetitionPenalty: 1.1,
  });
});

Deno.test("The generated schemas of profiles are current", async () => {
  for (const [name, text] of profileSchemas()) {
    assert.equal(await Deno.readTextFile(new URL(`../../profiles/${name}`, import.meta.url)), text, name);
  }
});

const LINE = { id: "x", title: "X", match: [], sources: ["a test"] };
const DEFAULT = { ...LINE, id: "default" };

/** Files of a folder of profiles, and what the error says. */
const BAD: [string, Record<string, unknown>, RegExp][] = [
  ["a misspelt key", { "lines/x.json": { ...LINE, smapling: {} } }, /x\.json: .*smapling/],
  ["a value out of range", { "lines/x.json": { ...LINE, sampling: { top_p: 2 } } }, /x\.json: sampling\.top_p/],
  ["another id than its file", { "lines/y.json": LINE }, /y\.json: id: is x/],
  ["no sources", { "lines/x.json": { ...LINE, sources: [] } }, /x\.json: sources/],
  ["a condition that looks at nothing", { "lines/x.json": { ...LINE, match: [{}] } }, /x\.json: match\.0/],
  ["no JSON", { "lines/x.json": "{" }, /x\.json: is no JSON/],
  ["no default line", { "lines/default.json": undefined }, /lines\/default\.json is missing/],
  [
    "a model of an unknown line",
    {
      "models/m.json": {
        id: "m",
        title: "M",
        line: "nope",
        source: { kind: "embedded" },
        download_bytes: 1,
        memory_bytes: 1,
        sources: ["a test"],
      },
    },
    /models\/m\.json: line: there is no lines\/nope\.json/,
  ],
];

for (const [name, files, message] of BAD) {
  Deno.test(`A profile with ${name} stops the start with file and field`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "profiles_" });
    try {
      for (const sub of ["lines", "models"]) await Deno.mkdir(`${folder}/${sub}`);
      for (const [path, content] of Object.entries({ "lines/default.json": DEFAULT, ...files })) {
        if (content === undefined) continue;
        const text = typeof content === "string" ? content : JSON.stringify(content);
        await Deno.writeTextFile(`${folder}/${path}`, text);
      }
      await assert.rejects(loadProfiles(new URL(`file://${folder}/`)), (error) => {
        assert.ok(error instanceof ProfileError);
        assert.match(error.message, message);
        return true;
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
