/**
 * A few damaged answers of the embedded model, recorded and replayed; `deno task test:damaged` asks for 500.
 *
 * @module
 */
import assert from "node:assert/strict";
import { compareRecords } from "../../src/replay/compare.ts";
import { replay } from "../../src/replay/replay.ts";
import { readTrace } from "../../src/trace/read_trace.ts";
import { serveProcess } from "../e2e/served_process.ts";
import { runDamaged } from "./damaged.ts";

Deno.test("Whatever the embedded model writes at temperature 1: no character lost, no 5xx, and it replays", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/trace.jsonl`;
    await using served = await serveProcess(["--record-content", "--trace", path]);
    const report = await runDamaged({ url: served.url, count: 12, seed: 1, atOnce: 12, maxTokens: 40 });
    assert.deepEqual(report.violations, []);
    assert.equal(report.requests, 12);
    assert.ok((report.characters.raw ?? 0) > 400);
    assert.equal(report.characters.lost, 0);
    assert.ok(Object.keys(report.repairs).length > 0, "nothing was damaged");
    await served.stop();
    let replayed = 0;
    for await (const line of readTrace(path)) {
      assert.ok("record" in line, `line ${line.line}`);
      assert.deepEqual(compareRecords(line.record, await replay(line.record)), []);
      replayed++;
    }
    // The request that asks for the markup's ids is one more.
    assert.equal(replayed, 13);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
