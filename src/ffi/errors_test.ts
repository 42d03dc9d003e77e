/** Statuses of the header and the errors made from them. */
import assert from "node:assert/strict";
import { CONSTANTS } from "./abi.gen.ts";
import { STATUS_OF, toCoreError } from "./errors.ts";

Deno.test("every RMX_ERR_* of the header has a code, and the code gives it back", () => {
  const statuses = Object.entries(CONSTANTS).filter(([name]) => name.startsWith("RMX_ERR_")).map(([, value]) => value);
  assert.deepEqual(Object.values(STATUS_OF).toSorted((a, b) => b - a), statuses);
  for (const status of statuses) assert.equal(STATUS_OF[toCoreError(status, "x").code], status);
});

Deno.test("toCoreError() keeps the message, says when there is none, and names a status that it does not know", () => {
  assert.equal(toCoreError(-5, "The queue is full").message, "The queue is full");
  assert.equal(toCoreError(-5, "").message, "The core answered busy (-5) without a message");
  const unknown = toCoreError(-99, "What");
  assert.equal(unknown.code, "internal");
  assert.equal(unknown.message, "What (unknown status -99 of the core)");
});
