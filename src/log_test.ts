import assert from "node:assert/strict";
import { createLogger, LOG_VALUE_LENGTH_MAX, type LogLevel } from "./log.ts";

function record(level: LogLevel): { lines: string[]; logger: ReturnType<typeof createLogger> } {
  const lines: string[] = [];
  return { lines, logger: createLogger({ level, write: (line) => lines.push(line), now: () => 0 }) };
}

Deno.test("a logger writes one line with time, level, message and fields", () => {
  const { lines, logger } = record("info");
  logger.with({ request: "chatcmpl-1" }).log("info", "answered", { status: 200, model: undefined, note: "two words" });
  assert.deepEqual(lines, ['1970-01-01T00:00:00.000Z info answered request=chatcmpl-1 status=200 note="two words"\n']);
});

Deno.test("a logger drops lines under its level", () => {
  const { lines, logger } = record("warning");
  logger.log("info", "quiet");
  logger.log("error", "loud");
  assert.equal(lines.length, 1);
  assert.equal(logger.enabled("debug"), false);
  assert.equal(logger.enabled("warning"), true);
});

Deno.test("a logger lets no value forge a line or steer a terminal", () => {
  const { lines, logger } = record("info");
  for (const hostile of ["a\nb", "a\u2028b", "\u001b[2J", "\u009b2J", 'a" b="c', "", "a=b"]) {
    logger.log("info", "x", { hostile });
  }
  for (const line of lines) {
    assert.equal(line.match(/[\p{Cc}\p{Zl}\p{Zp}]/gu)?.length, 1, JSON.stringify(line));
    assert.match(line, /hostile=".*"\n$/);
  }
});

Deno.test("a logger cuts long values below trace", () => {
  const { lines, logger } = record("trace");
  logger.log("info", "x", { text: "a".repeat(10_000) });
  logger.log("trace", "x", { text: "a".repeat(10_000) });
  assert.ok((lines[0]?.length ?? 0) < LOG_VALUE_LENGTH_MAX + 200);
  assert.ok((lines[1]?.length ?? 0) > 10_000);
});
