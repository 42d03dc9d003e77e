/**
 * The core may use of mlx-swift what swift/linux/mlx-swift/API.md lists, and our module MLX has exactly that. The real
 * mlx-swift is the judge (`deno task check:mlx-swift`); this test needs no checkout and no Swift.
 *
 * @module
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withoutCommentsAndStrings } from "../../swift/linux/mlx-swift/api/declarations.ts";
import { readList } from "../../swift/linux/mlx-swift/api/list.ts";
import { API_LIST, key, OUR_SOURCES, readModule } from "../../swift/linux/mlx-swift/api/upstream.ts";
import { absentNamesUsed, declaredNames } from "../../swift/linux/mlx-swift/api/uses.ts";

const SWIFT = fileURLToPath(new URL("../../swift", import.meta.url));
const CORE_FOLDERS = ["Kernels", "Layers", "Models", "Runtime", "CoreCommands", "Bridge"];

async function coreSources(): Promise<Map<string, string>> {
  const sources = new Map<string, string>();
  const walk = async (folder: string): Promise<void> => {
    for await (const entry of Deno.readDir(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory) await walk(path);
      else if (entry.name.endsWith(".swift")) {
        sources.set(path, withoutCommentsAndStrings(await Deno.readTextFile(path)));
      }
    }
  };
  for (const folder of CORE_FOLDERS) await walk(join(SWIFT, folder));
  return sources;
}

Deno.test("API.md lists exactly what our module MLX declares", async () => {
  const listed = new Set(readList(await Deno.readTextFile(API_LIST)).ours.map(key));
  const declared = new Set((await readModule(OUR_SOURCES)).map(key));
  assert.ok(declared.size > 500, `only ${declared.size} declarations were read`);
  assert.deepEqual(
    [...declared].filter((found) => !listed.has(found)),
    [],
    "declared but not listed: run mlx-swift:api",
  );
  assert.deepEqual(
    [...listed].filter((found) => !declared.has(found)),
    [],
    "listed but not declared: run mlx-swift:api",
  );
});

Deno.test("the core uses no name of mlx-swift that API.md doesn't list", async () => {
  const { absent } = readList(await Deno.readTextFile(API_LIST));
  assert.ok(absent.includes("convTransposed1d"), "API.md names what is not here");
  const sources = await coreSources();
  const own = declaredNames(sources.values());
  const uses: string[] = [];
  for (const [path, code] of sources) {
    if (!/^\s*import MLX\b/m.test(code)) continue;
    for (const { name, line } of absentNamesUsed(code, absent, own)) uses.push(`${path}:${line}: ${name}`);
  }
  assert.deepEqual(uses, [], "used but not listed: add it to swift/linux/mlx-swift first");
});
