import assert from "node:assert/strict";
import { loadConfig } from "../config.ts";
import { createLogger } from "../log.ts";
import { CommandError, explain } from "./errors.ts";
import { openTrace } from "./open_trace.ts";

Deno.test("a file of kept answers that can't be used ends the start with its path and a way out", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const read = (name: string): string | undefined => name === "XDG_STATE_HOME" ? folder : undefined;
    const config = loadConfig({ keepContent: true }, {});
    const log = createLogger({ level: "error", write: () => {} });
    const path = `${folder}/rapid-mlx/responses.sqlite`;
    const kept = await openTrace(config, log, read);
    await kept.close();
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    await Deno.writeTextFile(path, "This is a text and no database, which SQLite tells by its head.");
    await assert.rejects(openTrace(config, log, read), (error: unknown) => {
      assert.ok(error instanceof CommandError, String(error));
      const told = explain(error);
      return told.includes(path) && /not a database/.test(told) && /without --keep-content/.test(told);
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
