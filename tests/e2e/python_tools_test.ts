/**
 * The `openai` package of PyPI runs a tool loop on the scripted server, in every format that a parser reads.
 *
 * @module
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { ANSWER_PARSERS } from "../../src/output/decoder.ts";
import { calledIn, DIALECTS } from "../api/tool_dialects.ts";
import { ensurePythonPackages } from "../support/python_packages.ts";
import { serveScript } from "../support/scripted_server.ts";

Deno.test("openai of PyPI runs a loop of two steps in every format: whole, iterated, and by its stream helper", async () => {
  const folder = fileURLToPath(new URL("python/", import.meta.url));
  const python = await ensurePythonPackages(`${folder}requirements.txt`);
  for (const dialect of ANSWER_PARSERS.filter((name) => name !== "none")) {
    const end = dialect === "harmony" ? "<|channel|>final<|message|>Noted." : "Noted.";
    const replies = [{ when: "kept as 7", text: end }, { text: DIALECTS[dialect] }];
    await using served = await serveScript({ tools: dialect, replies, repeat: true });
    const results = await python.run(`${folder}tool_loop.py`, {
      url: served.url,
      rounds: 1,
      tool: calledIn(dialect).name,
    });
    assert.deepEqual(results.map(({ way }) => way), ["whole", "iterated", "helped"]);
    for (const { way, ...result } of results) {
      const called = { ...calledIn(dialect), finish: "tool_calls" };
      assert.deepEqual(result, { ...called, answer: "Noted.", more: 0, end: "stop" }, `${dialect}, ${way}`);
    }
  }
});
