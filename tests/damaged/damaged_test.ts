/**
 * A few damaged answers of the embedded model; `deno task test:damaged` asks for 500.
 *
 * @module
 */
import assert from "node:assert/strict";
import { serveProcess } from "../e2e/served_process.ts";
import { runDamaged } from "./damaged.ts";

Deno.test("Whatever the embedded model writes at temperature 1, no character is lost and nothing is a 5xx", async () => {
  await using served = await serveProcess(["--record-content"]);
  const report = await runDamaged({ url: served.url, count: 12, seed: 1, atOnce: 12, maxTokens: 40 });
  assert.deepEqual(report.violations, []);
  assert.equal(report.requests, 12);
  assert.ok((report.characters.raw ?? 0) > 500);
  assert.equal(report.characters.lost, 0);
  assert.ok(Object.keys(report.repairs).length > 0, "nothing was damaged");
});
