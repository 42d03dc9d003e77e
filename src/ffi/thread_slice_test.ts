import assert from "node:assert/strict";
import { getPriority } from "node:os";
import { setThreadSlice } from "./thread_slice.ts";

Deno.test("a thread's slice can be set and set again, and its niceness stays; what the kernel refuses is told", () => {
  const niceness = getPriority(0);
  const takes = setThreadSlice(100);
  assert.equal(setThreadSlice(3000), takes);
  assert.equal(getPriority(0), niceness);
  assert.equal(takes, Deno.build.os === "linux");
});
