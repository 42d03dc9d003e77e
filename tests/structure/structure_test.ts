/**
 * A few bound answers of the embedded model; `deno task test:structure` asks for sixty schemas and a hundred calls.
 *
 * @module
 */
import assert from "node:assert/strict";
import { REFUSED_KEYWORDS } from "../../src/grammar/schema/keywords.ts";
import { serveProcess } from "../e2e/served_process.ts";
import { runStructure } from "./structure.ts";

Deno.test("Whatever the embedded model writes at temperature 1: bound answers are valid, required calls are made", async () => {
  await using served = await serveProcess();
  // The first twenty schemas are formats, patterns and small objects: short answers.
  const report = await runStructure({ url: served.url, count: 10, calls: 6, maxTokens: 512, seed: 3, atOnce: [8] });
  assert.deepEqual(report.violations, []);
  const row = report.answers["8 at once"];
  assert.ok(row !== undefined && row.asked === 10 && row.ended >= 9, JSON.stringify(row));
  assert.equal(report.calls.valid, 6);
  assert.equal(report.refused.named, REFUSED_KEYWORDS.length);
});
