/**
 * A few thousand damaged answers; `deno task mutate:decoders` runs as many as one likes.
 *
 * @module
 */
import { loadSources, runMutations } from "./mutations.ts";

Deno.test("Damaged answers are read alike in every cut, call nothing undeclared and lose nothing", async () => {
  runMutations(await loadSources(), 3000, 20261130);
});
