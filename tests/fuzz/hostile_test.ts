import assert from "node:assert/strict";
import { startServer } from "../../src/http/server.ts";
import { openTestApp, says } from "../support/test_app.ts";
import { fuzz } from "./hostile.ts";

const SEED = 20_261_130;

Deno.test("2,000 seeded hostile requests leave the server healthy and its answers unchanged", async () => {
  await using server = await openTestApp({
    reply: (request) => says(`${request.prompt.length} tokens, then ${"word ".repeat(request.prompt.length % 7)}`),
    config: { maxRequests: 8, maxQueue: 64 },
  });
  const running = await startServer({ ...server, config: { ...server.config, port: 0 } });
  const before = server.engine.stats();
  const report = await fuzz({ url: running.url, count: 2000, seed: SEED });
  assert.deepEqual(report.faults, [], `seed ${SEED}`);
  assert.equal(report.count, 2000);
  for (const status of ["200", "400", "403", "404", "405", "413", "left"]) {
    assert.ok((report.statuses[status] ?? 0) > 5, `${status}: ${JSON.stringify(report.statuses)}`);
  }
  const after = server.engine.stats();
  assert.equal(after.submitted, after.completed + after.cancelled + after.failed);
  assert.deepEqual([after.failed, after.openHandles, after.models], [0, before.openHandles, before.models]);
  assert.equal(server.activity.live().length, 0);
  assert.equal(after.pump.droppedEvents, 0);
  assert.ok(!server.lines.some((line) => line.includes(" error ")), "a fault of ours was logged");
  await running.stop();
});
