/**
 * The plain loop of every real program that `deno task test:agents --install` has fetched. The programs are 80 to
 * 690 MB each, so the suite itself fetches none: those that are not there are skipped by name, and their recorded
 * requests (requests_test.ts) stand for them.
 *
 * @module
 */
import assert from "node:assert/strict";
import { ensureProgram, isInstalled } from "./install.ts";
import { PROGRAMS } from "./programs.ts";
import { runProgram } from "./run.ts";
import { SCENARIOS } from "./scenarios.ts";

const plain = SCENARIOS.find(({ id }) => id === "plain")!;

for (const program of PROGRAMS) {
  const { name, version } = program.package;
  Deno.test({
    name: `${program.id} (${name} ${version}) reads a file, edits it and ends`,
    ignore: !await isInstalled(program.package),
    async fn(): Promise<void> {
      const { faults, output } = await runProgram(program, await ensureProgram(program.package), plain);
      assert.deepEqual(faults, [], output);
    },
  });
}
