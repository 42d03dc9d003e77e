import assert from "node:assert/strict";
import { join } from "node:path";
import { CORE_LIBRARY } from "./core_build.ts";
import { EMBEDDED_LIST, extractEmbedded, writeEmbeddedList } from "./embedded.ts";
import { BUILD_FOLDER } from "./folders.ts";
import { coreFiles } from "./core_files.ts";
import { Library } from "../ffi/library.ts";

async function inFolders(body: (embedded: string, cache: string) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir();
  try {
    const embedded = join(root, "build");
    await Deno.mkdir(join(embedded, "mlx/lib"), { recursive: true });
    await Deno.writeTextFile(join(embedded, "librmx.so"), "core");
    await Deno.writeTextFile(join(embedded, "mlx/lib/libmlx.so"), "mlx");
    await writeEmbeddedList(embedded, ["librmx.so", "mlx/lib/libmlx.so"]);
    await body(embedded, join(root, "cache"));
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("embedded files are written once, side by side as they were, and found again", async () => {
  await inFolders(async (embedded, cache) => {
    const folder = await extractEmbedded(embedded, cache);
    assert.equal(await Deno.readTextFile(join(folder, "mlx/lib/libmlx.so")), "mlx");
    const before = await Deno.stat(join(folder, "librmx.so"));
    assert.equal(await extractEmbedded(embedded, cache), folder);
    assert.deepEqual((await Deno.stat(join(folder, "librmx.so"))).ino, before.ino);
    assert.equal([...Deno.readDirSync(join(cache, "core"))].length, 1);
  });
});

Deno.test("an extracted file that was changed is written anew", async () => {
  await inFolders(async (embedded, cache) => {
    const folder = await extractEmbedded(embedded, cache);
    await Deno.writeTextFile(join(folder, "librmx.so"), "evil");
    await extractEmbedded(embedded, cache);
    assert.equal(await Deno.readTextFile(join(folder, "librmx.so")), "core");
  });
});

Deno.test("another content gets another folder", async () => {
  await inFolders(async (embedded, cache) => {
    const first = await extractEmbedded(embedded, cache);
    await Deno.writeTextFile(join(embedded, "librmx.so"), "newer core");
    await writeEmbeddedList(embedded, ["librmx.so", "mlx/lib/libmlx.so"]);
    assert.notEqual(await extractEmbedded(embedded, cache), first);
  });
});

Deno.test("a damaged executable leaves nothing behind, and a list can't lead out of its folder", async () => {
  await inFolders(async (embedded, cache) => {
    await Deno.writeTextFile(join(embedded, "librmx.so"), "damaged");
    await assert.rejects(extractEmbedded(embedded, cache), /its file librmx\.so has another hash/);
    assert.deepEqual([...Deno.readDirSync(join(cache, "core"))], []);
    await Deno.writeTextFile(join(embedded, EMBEDDED_LIST), JSON.stringify({ "../x": "0".repeat(64) }));
    await assert.rejects(extractEmbedded(embedded, cache));
  });
});

Deno.test("two processes may extract at once", async () => {
  await inFolders(async (embedded, cache) => {
    const folders = await Promise.all([extractEmbedded(embedded, cache), extractEmbedded(embedded, cache)]);
    assert.equal(folders[0], folders[1]);
    assert.equal(await Deno.readTextFile(join(folders[0], "librmx.so")), "core");
  });
});

Deno.test("the real core opens from the folder that it was extracted to", async () => {
  assert(await Deno.stat(CORE_LIBRARY).then(() => true, () => false), "the core is not built: deno task core:build");
  const root = await Deno.makeTempDir();
  try {
    const embedded = join(root, "build");
    const files = await coreFiles(BUILD_FOLDER);
    for (const path of files) {
      await Deno.mkdir(join(embedded, path, ".."), { recursive: true });
      await Deno.copyFile(join(BUILD_FOLDER, path), join(embedded, path));
    }
    await writeEmbeddedList(embedded, files);
    const folder = await extractEmbedded(embedded, join(root, "cache"));
    const library = Library.open(join(folder, files[0]!));
    assert.match(library.version.mlx, /^0\.31\./);
    library.close();
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
