/**
 * Every dialect has its transcripts: at least twelve for a tool format, eight for one of reasoning, and none lies
 * where the suite does not look.
 *
 * @module
 */
import assert from "node:assert/strict";
import { ANSWER_PARSERS } from "../../src/output/decoder.ts";
import { REASONING_PARSERS } from "../../src/output/reasoning/mod.ts";
import { toolParsers } from "../../src/output/tools/mod.ts";
import { DIALECTS } from "../golden/tools/dialects.ts";
import { loadTranscripts } from "../golden/tools/suite.ts";

const TOOL_TRANSCRIPTS_MIN = 12;
const REASONING_TRANSCRIPTS_MIN = 8;

const GOLDEN = new URL("../golden/", import.meta.url);

/** Two names of one parser; and headers that no reasoning follows, which the tool format's transcripts have. */
const NOT_THEIR_OWN: readonly string[] = ["none", "deepseek_v3", "functionary"];

async function count(kind: "tools" | "reasoning"): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { folder, dialect } of DIALECTS) {
    for (const [, transcript] of await loadTranscripts(new URL(`${folder}/`, GOLDEN))) {
      const isOwn = folder.startsWith(`${kind}/`);
      const name = kind === "tools" || dialect === "harmony" ? dialect : transcript.reasoning ?? "none";
      if (isOwn) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return counts;
}

Deno.test("Every tool format has at least twelve transcripts", async () => {
  assert.equal(toolParsers.deepseek_v3, toolParsers.deepseek);
  const counts = await count("tools");
  for (const name of ANSWER_PARSERS.filter((name) => name !== "none" && name !== "deepseek_v3")) {
    assert.ok((counts.get(name) ?? 0) >= TOOL_TRANSCRIPTS_MIN, `${name} has ${counts.get(name) ?? 0}`);
  }
});

Deno.test("Every format of reasoning has at least eight transcripts", async () => {
  const counts = await count("reasoning");
  for (const name of [...REASONING_PARSERS.filter((name) => !NOT_THEIR_OWN.includes(name)), "harmony"]) {
    assert.ok((counts.get(name) ?? 0) >= REASONING_TRANSCRIPTS_MIN, `${name} has ${counts.get(name) ?? 0}`);
  }
});

Deno.test("Every folder of transcripts is one that the suite reads", async () => {
  for (const kind of ["tools", "reasoning"]) {
    for await (const { name, isDirectory } of Deno.readDir(new URL(`${kind}/`, GOLDEN))) {
      if (isDirectory) assert.ok(DIALECTS.some(({ folder }) => folder === `${kind}/${name}`), `${kind}/${name}`);
    }
  }
});

Deno.test("Every rule of recovery names transcripts that are there", async () => {
  const text = await Deno.readTextFile(new URL("tools/RECOVERY.md", GOLDEN));
  const rows = text.split("\n").filter((line) => /^\| (?!rule)/.test(line));
  assert.ok(rows.length >= 25);
  for (const row of rows) {
    const files = [...row.matchAll(/`((?:tools|reasoning)\/\w+\/\w+)`/g)].map(([, file]) => file);
    assert.ok(files.length > 0, row);
    for (const file of files) await Deno.stat(new URL(`${file}.json`, GOLDEN));
  }
});

Deno.test("README and CHANGELOG say as many formats as there are", async () => {
  const tools = ANSWER_PARSERS.filter((name) => name !== "none" && name !== "deepseek_v3");
  const reasoning = [...REASONING_PARSERS.filter((name) => !NOT_THEIR_OWN.includes(name)), "harmony"];
  for (const name of ["README.md", "CHANGELOG.md"]) {
    const text = await Deno.readTextFile(new URL(`../../${name}`, import.meta.url));
    const [, toolCount, reasoningCount] = /\b(\d+) tool formats and (\d+) of\s+reasoning/.exec(text) ?? [];
    assert.deepEqual([Number(toolCount), Number(reasoningCount)], [tools.length, reasoning.length], name);
  }
});
