/**
 * Diffs as `diff -u` shows them.
 *
 * @module
 */
import assert from "node:assert/strict";
import { toDiff } from "./diff.ts";

Deno.test("A diff shows changed lines with three around them, and their places", () => {
  const before = Array.from({ length: 12 }, (_, i) => `${i + 1}`);
  const after = before.with(5, "six").toSpliced(6, 0, "new");
  assert.equal(
    toDiff("f", `${before.join("\n")}\n`, `${after.join("\n")}\n`),
    "--- f\n+++ f\n@@ -3,7 +3,8 @@\n 3\n 4\n 5\n-6\n+six\n+new\n 7\n 8\n 9\n",
  );
});

Deno.test("A diff of distant changes has a hunk each, of equal texts it is empty", () => {
  const before = Array.from({ length: 30 }, (_, i) => `${i}`);
  const after = before.with(2, "a").with(25, "b");
  const diff = toDiff("f", before.join("\n"), after.join("\n"));
  assert.deepEqual(diff.match(/^@@.*@@$/gm), ["@@ -1,6 +1,6 @@", "@@ -23,7 +23,7 @@"]);
  assert.equal(toDiff("f", "a\n", "a\n"), "");
});

Deno.test("A new file and a deleted one are diffs with nothing on the other side", () => {
  assert.equal(toDiff("f", undefined, "a\nb\n"), "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n");
  assert.equal(toDiff("f", "a\n", undefined), "--- f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n");
});
