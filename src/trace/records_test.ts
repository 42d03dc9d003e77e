import assert from "node:assert/strict";
import type { RequestRecord } from "../api/request_record.ts";
import { CONTENT_NOTES, Records, RECORDS_MAX } from "./records.ts";
import type { RequestRecorder } from "./recorder.ts";

/** A request of a key. */
function arrive(records: Records, requestKey: string, owner = ""): RequestRecorder {
  return records.begin({ requestKey, owner, route: "/v1/chat/completions", arrivedMs: 0, created: 0, nowMs: () => 5 });
}

function finish(records: Records, requestKey: string, owner = "", sent = ""): void {
  const recorder = arrive(records, requestKey, owner);
  recorder.sent(sent);
  records.end(recorder, { state: "completed", status: 200 });
}

const keysOf = (records: RequestRecord[]): string[] => records.map(({ request_id }) => request_id);

Deno.test("A key sees its own requests only", () => {
  const records = new Records();
  finish(records, "a", "mine");
  finish(records, "b", "yours");
  const running = arrive(records, "c", "yours");
  assert.deepEqual(keysOf(records.list("mine")), ["req-a"]);
  assert.deepEqual(keysOf(records.list("yours")), ["req-c", "req-b"]);
  assert.equal(records.find("mine", "req-b"), undefined);
  assert.equal(records.find("mine", "req-c"), undefined);
  assert.equal(records.find("yours", "req-c")?.state, "running");
  assert.equal(records.find("mine", "last")?.request_id, "req-a");
  records.end(running, { state: "left", status: 499 });
});

Deno.test("The last requests are kept, and older ones are forgotten", () => {
  const records = new Records();
  for (let i = 0; i <= RECORDS_MAX; i++) finish(records, String(i));
  assert.equal(records.list("").length, RECORDS_MAX);
  assert.equal(records.find("", "req-0"), undefined);
  assert.equal(records.find("", "req-1")?.state, "completed");
});

Deno.test("Old content leaves when newer content fills its room, and its record says so", () => {
  const records = new Records({ recordsContent: true, contentBytesMax: 2000 });
  finish(records, "old", "", "x".repeat(500));
  finish(records, "new", "", "y".repeat(500));
  assert.equal(records.find("", "req-old")?.content, null);
  assert.equal(records.find("", "req-old")?.content_note, CONTENT_NOTES.dropped);
  assert.equal(records.find("", "req-new")?.content?.response.text, "y".repeat(500));
});

Deno.test("Without the flag no content is kept, and the record says so", () => {
  const records = new Records();
  finish(records, "a", "", "secret");
  assert.doesNotMatch(JSON.stringify(records.find("", "last")), /secret/);
  assert.equal(records.find("", "last")?.content_note, CONTENT_NOTES.off);
});

Deno.test("A trace gets content that the ring does not keep", () => {
  const lines: RequestRecord[] = [];
  const records = new Records({ recordsContent: false, trace: (record) => lines.push(record) });
  finish(records, "a", "", "secret");
  assert.equal(lines[0]?.content?.response.text, "secret");
  assert.equal(records.find("", "last")?.content, null);
});
