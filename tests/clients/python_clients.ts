/**
 * LangChain, PydanticAI, smolagents, LiteLLM, and the SDKs of OpenAI and Anthropic of PyPI run a loop of two steps with
 * a tool, on each wire that they speak, streamed and not, in six formats: `deno task test:clients`. Not among the daily
 * tests: the packages have 400 MB.
 *
 * @module
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { ensurePythonPackages } from "../support/python_packages.ts";
import { ClientServers, FORMATS } from "./servers.ts";

Deno.test("LangChain, PydanticAI, smolagents, LiteLLM, openai and anthropic run a loop of two steps in six formats", async () => {
  const folder = fileURLToPath(new URL("python/", import.meta.url));
  const python = await ensurePythonPackages(`${folder}requirements.txt`);
  await using servers = await ClientServers.open();
  const results = await python.run(`${folder}clients.py`, { urls: [...servers.formats.keys()] });
  assert.equal(results.length, FORMATS.length * 26);
  for (const { url, client, stream, ...result } of results) {
    const where = `${client}, ${stream ? "streamed" : "whole"}, ${servers.formats.get(String(url))}`;
    assert.deepEqual(result, { notes: ["buy figs"], answer: "Noted." }, where);
  }
});
