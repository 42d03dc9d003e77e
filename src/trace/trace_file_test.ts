import assert from "node:assert/strict";
import type { RequestRecord } from "../api/request_record.ts";
import { readTrace, type TraceLine } from "./read_trace.ts";
import { Records } from "./records.ts";
import { TraceError, TraceFile, type TraceOptions } from "./trace_file.ts";

/** A record whose content is as long as asked. */
function recordOf(key: string, length = 10): RequestRecord {
  const lines: RequestRecord[] = [];
  const records = new Records({ recordsContent: false, trace: (record) => lines.push(record) });
  const start = { requestKey: key, owner: "", route: "/v1/chat/completions", arrivedMs: 0, created: 0, nowMs: () => 1 };
  const recorder = records.begin(start);
  recorder.sent("x".repeat(length));
  records.end(recorder, { state: "completed", status: 200 });
  return lines[0] ?? assert.fail();
}

async function read(path: string): Promise<TraceLine[]> {
  return await Array.fromAsync(readTrace(path));
}

const keysOf = (lines: TraceLine[]): string[] =>
  lines.map((line) => "record" in line ? line.record.request_id : line.fault);

async function withFolder(
  use: (path: string, open: (bytesMax?: number) => Promise<TraceFile>, warnings: string[]) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/trace.jsonl`;
  const warnings: string[] = [];
  const options: TraceOptions = { path, bytesMax: 1e6, program: "test", warn: (message) => warnings.push(message) };
  try {
    await use(path, (bytesMax = 1e6) => TraceFile.open({ ...options, bytesMax }), warnings);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("A trace holds what was written, across openings, and only its owner reads it", async () => {
  await withFolder(async (path, open) => {
    for (const key of ["a", "b"]) {
      const file = await open();
      file.write(recordOf(key));
      await file.close();
    }
    assert.deepEqual(keysOf(await read(path)), ["req-a", "req-b"]);
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
    assert.match((await Deno.readTextFile(path)).split("\n")[0] ?? "", /"trace":1.*what users wrote/);
  });
});

Deno.test("A full trace is kept as FILE.1, and the two never exceed twice the bound", async () => {
  await withFolder(async (path, open, warnings) => {
    const file = await open(6000);
    for (let i = 0; i < 9; i++) file.write(recordOf(String(i), 2000));
    file.write(recordOf("large", 10_000));
    await file.close();
    assert.deepEqual(keysOf(await read(path)).at(-1), "req-8");
    assert.ok((await read(`${path}.1`)).length > 0);
    for (const one of [path, `${path}.1`]) assert.ok((await Deno.stat(one)).size <= 6000);
    assert.equal(file.dropped, 1);
    assert.match(warnings[0] ?? "", /larger than the file/);
  });
});

Deno.test("A file that is no trace is not written to", async () => {
  await withFolder(async (path, open) => {
    await Deno.writeTextFile(path, "my novel");
    await assert.rejects(open(), TraceError);
    assert.equal(await Deno.readTextFile(path), "my novel");
  });
});

Deno.test("A line at fault is told with its number and its path, and the others are read", async () => {
  await withFolder(async (path, open) => {
    const file = await open();
    file.write(recordOf("a"));
    await file.close();
    const [header = "", record = ""] = (await Deno.readTextFile(path)).split("\n");
    const lines = [
      header,
      "{nonsense",
      "{}",
      record.replace('"ignored":[]', '"ignored":[3]'),
      record.replace('"content":{', '"content":null,"x":{'),
      '{"trace":99,"program":"x","warning":"y"}',
      "",
      record,
      record.slice(0, 50),
    ];
    await Deno.writeTextFile(path, lines.join("\n"));
    const faults = (await read(path)).map((line) =>
      `${line.line} ${"fault" in line ? line.fault : line.record.request_id}`
    );
    const wanted = [
      /^2 it is no JSON/,
      /^3 object: /,
      /^4 ignored\[0\]: /,
      /^5 content: expected an object/,
      /^6 trace: /,
      /^8 req-a$/,
      /^9 it is no JSON/,
    ];
    assert.equal(faults.length, wanted.length);
    for (const [at, pattern] of wanted.entries()) assert.match(faults[at] ?? "", pattern);
  });
});

Deno.test("A file without a header, an empty and a missing one are no traces, and no folder is", async () => {
  await withFolder(async (path) => {
    await assert.rejects(read(path), /Cannot read the trace/);
    await assert.rejects(read(path.slice(0, path.lastIndexOf("/"))), /Cannot read the trace/);
    await Deno.writeTextFile(path, "");
    await assert.rejects(read(path), /is empty/);
    await Deno.writeTextFile(path, "{}\n");
    await assert.rejects(read(path), /:1: expected the header/);
  });
});
