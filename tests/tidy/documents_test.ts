/**
 * README, ARCHITECTURE and the tree agree, and no source speaks of the machine that it was written on.
 *
 * @module
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_FOLDER } from "../../src/setup/folders.ts";
import { listTop, readSources } from "./sources.ts";

/** At the top, but of no interest to a reader of the tree. */
const UNNAMED = /^(\..*|README\.md|CHANGELOG\.md|LICENSE|NOTICE|deno\.lock|Package\.resolved|shared\/)$/;

Deno.test("the tree in the README is the tree on the disk", async () => {
  const readme = await Deno.readTextFile(join(PROJECT_FOLDER, "README.md"));
  const tree = /## The tree\n\n```\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  const named = tree.trim().split("\n").map((line) => line.split(" ")[0]!);
  const present = (await listTop()).filter((name) => !UNNAMED.test(name));
  assert.deepEqual(named.toSorted(), present);
});

Deno.test("every folder of the architecture exists, and every folder of src and swift is in it", async () => {
  const text = await Deno.readTextFile(join(PROJECT_FOLDER, "docs/ARCHITECTURE.md"));
  const table = text.split("## Folders")[1]?.split("\n## ")[0] ?? "";
  const cells = table.split("\n").map((line) => line.split("|")[1] ?? "");
  const named = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!));
  assert(named.length > 10);
  for (const path of named) await Deno.stat(join(PROJECT_FOLDER, path));
  for (const root of ["src", "swift"]) {
    for await (const entry of Deno.readDir(join(PROJECT_FOLDER, root))) {
      const path = `${root}/${entry.name}`;
      const isNamed = named.some((one) => one === path || one.startsWith(`${path}/`));
      if (entry.isDirectory) assert(isNamed, `docs/ARCHITECTURE.md does not name ${path}`);
    }
  }
});

Deno.test("no source names a path of one machine or the host of a package registry", async () => {
  const forbidden =
    /\/work\/|\/root\/|\/home\/\w+\/|\/Users\/\w+\/|registry\.npmjs|deb\.debian\.org|pythonhosted|pypi\.org/;
  const sources = await readSources(/\.(ts|swift|cpp|h|c|py|md|json|sh)$|^\.ci\/run$/);
  const found = sources.filter(({ path }) => path !== "tests/tidy/documents_test.ts").flatMap(({ path, lines }) =>
    lines.flatMap((line, i) => forbidden.test(line) ? [`${path}:${i + 1}`] : [])
  );
  assert.deepEqual(found, []);
});

Deno.test("imports of packages name exact versions, and npm alone", async () => {
  const { imports } = JSON.parse(await Deno.readTextFile(join(PROJECT_FOLDER, "deno.json")));
  for (const [name, target] of Object.entries<string>(imports)) {
    assert.match(target, /^npm:\/?(@[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+(\/.*)?$/, name);
  }
});
