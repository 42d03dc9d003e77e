/**
 * Every rule has tests that are there, and every test of this folder is some rule's.
 *
 * @module
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_FOLDER } from "../../src/setup/folders.ts";
import { RULES } from "./rules.ts";

const HERE = "tests/wires/";

Deno.test("Every rule of the wires has a test in this folder, and the tests that it names are there", async () => {
  for (const { rule, tests } of RULES) {
    assert.ok(Object.keys(tests).some((file) => file.startsWith(HERE)), rule);
    for (const [file, names] of Object.entries(tests)) {
      const source = await Deno.readTextFile(join(PROJECT_FOLDER, file));
      for (const name of names) assert.ok(source.includes(name), `${file} has no test "${name}"`);
    }
  }
});

Deno.test("Every test of the wires holds a rule", async () => {
  const named = RULES.flatMap(({ tests }) => Object.values(tests).flat());
  for await (const { name: file } of Deno.readDir(join(PROJECT_FOLDER, HERE))) {
    if (!file.endsWith("_test.ts") || file === "rules_test.ts" || file === "security_test.ts") continue;
    const source = await Deno.readTextFile(join(PROJECT_FOLDER, HERE, file));
    const names = [...source.matchAll(/Deno\.test\(\s*["`](.*)["`],/g)].map((match) => match[1] ?? "");
    assert.ok(names.length > 0, file);
    for (const name of names) assert.ok(named.some((one) => name.endsWith(one)), `no rule names "${name}" of ${file}`);
  }
});
