import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_FOLDER } from "./folders.ts";
import { V8_FLAGS } from "./v8_flags.ts";

Deno.test("the tasks that start a server give V8 the flags that the launcher gives", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(join(PROJECT_FOLDER, "deno.json")));
  assert.equal(tasks.serve, `deno run -A ${V8_FLAGS} main.ts serve`);
  assert.equal(tasks["rapid-mlx"], `deno run -A ${V8_FLAGS} main.ts`);
  // What is measured inside of a server's isolates.
  assert.equal(tasks["bench:mask"], `deno run -A ${V8_FLAGS} bench/ffi/masks.ts`);
  assert.equal(tasks["bench:grammar"], `deno run -A ${V8_FLAGS} bench/guide/grammar.ts`);
});
