/**
 * Vercel's AI SDK and LangChain of npm run a loop of two steps with a tool, streamed and not, in six formats,
 * on chat completions, on Messages and on Responses.
 *
 * @module
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { ClientServers, FORMATS } from "./servers.ts";

Deno.test("The AI SDK and LangChain of npm run a loop of two steps in six formats, streamed and not", async () => {
  await using servers = await ClientServers.open();
  const folder = fileURLToPath(new URL("npm/", import.meta.url));
  const args = ["run", "-A", "--check", "--config", `${folder}deno.json`, `${folder}clients.ts`];
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args, ...servers.formats.keys()],
    env: { LANGCHAIN_TRACING_V2: "false" },
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  const results = new TextDecoder().decode(stdout).trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(results.length, FORMATS.length * 12);
  for (const { url, client, stream, ...result } of results) {
    const where = `${client}, ${stream ? "streamed" : "whole"}, ${servers.formats.get(url)}`;
    assert.deepEqual(result, { notes: ["buy figs"], answer: "Noted." }, where);
  }
});
