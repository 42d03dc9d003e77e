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
  await using opened = new AsyncDisposableStack();
  const servers: { url: string; tool: string; dialect: string }[] = [];
  for (const dialect of ANSWER_PARSERS.filter((name) => name !== "none")) {
    const end = dialect === "harmony" ? "<|channel|>final<|message|>Noted." : "Noted.";
    const replies = [{ when: "kept as 7", text: end }, { text: DIALECTS[dialect] }];
    const { url } = opened.use(await serveScript({ tools: dialect, replies, repeat: true }));
    servers.push({ url, tool: calledIn(dialect).name, dialect });
  }
  const results = await python.run(`${folder}tool_loop.py`, { servers });
  for (const { url, dialect } of servers) {
    const own = results.filter((result) => result.url === url);
    assert.deepEqual(own.map(({ way }) => way), ["whole", "iterated", "helped"]);
    for (const { url: _url, way, ...result } of own) {
      const called = { ...calledIn(dialect), finish: "tool_calls" };
      assert.deepEqual(result, { ...called, answer: "Noted.", more: 0, end: "stop" }, `${dialect}, ${way}`);
    }
  }
});
