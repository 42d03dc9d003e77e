import assert from "node:assert/strict";
import { createLogger } from "../log.ts";
import { openSeal } from "./open_seal.ts";

const lines: string[] = [];
const log = createLogger({ level: "info", write: (line) => lines.push(line), now: () => 0 });

async function inFolder(
  body: (folder: string, read: (name: string) => string | undefined) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  lines.length = 0;
  try {
    await body(folder, (name) => name === "XDG_STATE_HOME" ? `${folder}/state` : undefined);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("what one server sealed the next one opens, also where both start at once", async () => {
  await inFolder(async (folder, read) => {
    const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => openSeal(log, read)));
    assert.ok(first);
    const sealed = first.seal("Hm.");
    for (const seal of [...others, await openSeal(log, read)]) {
      assert.deepEqual(seal.open(sealed, ""), { state: "sealed", text: "Hm." });
    }
    const files = [...Deno.readDirSync(`${folder}/state/rapid-mlx`)].map(({ name }) => name);
    assert.deepEqual(files, ["seal.key"]);
    assert.equal((await Deno.stat(`${folder}/state/rapid-mlx/seal.key`)).mode! & 0o777, 0o600);
    assert.deepEqual(lines, []);
  });
});

Deno.test("a key that can't be used is told, left as it is, and the server has one of its own", async () => {
  await inFolder(async (folder, read) => {
    await Deno.mkdir(`${folder}/state/rapid-mlx`, { recursive: true });
    await Deno.writeTextFile(`${folder}/state/rapid-mlx/seal.key`, "short");
    const seal = await openSeal(log, read);
    assert.deepEqual(seal.open(seal.seal("Hm."), ""), { state: "sealed", text: "Hm." });
    assert.match(lines.join(), /has 5 bytes instead of 32: delete it/);
    assert.equal(await Deno.readTextFile(`${folder}/state/rapid-mlx/seal.key`), "short");
    assert.ok(await openSeal(log, () => undefined)); // no home at all
    assert.equal(lines.length, 2);
  });
});
