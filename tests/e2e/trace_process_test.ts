/**
 * What a user does with a bad answer: asks what happened, sends the trace, and somebody replays it.
 *
 * @module
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { serveProcess } from "./served_process.ts";

const MAIN = fileURLToPath(new URL("../../main.ts", import.meta.url));
const SCRIPT = {
  model: "scripted",
  tools: "hermes",
  replies: [{ text: "I keep it. <tool_call>{nonsense}</tool_call>" }],
};
const TOOLS = [{ type: "function", function: { name: "add_note", parameters: { type: "object" } } }];

async function rapidMlx(...args: string[]): Promise<{ code: number; text: string }> {
  const command = new Deno.Command(Deno.execPath(), { args: ["run", "-A", MAIN, ...args] });
  const { code, stdout, stderr } = await command.output();
  return { code, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

Deno.test("explain tells what happened, of a server and of a trace; replay shows the same, and names bad lines", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const [script, trace] = [`${folder}/script.json`, `${folder}/trace.jsonl`];
    await Deno.writeTextFile(script, JSON.stringify(SCRIPT));
    await using served = await serveProcess(["--fake", script, "--trace", trace, "--record-content"]);
    const answer = await fetch(`${served.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content: "Note this" }], tools: TOOLS }),
    });
    const { id } = await answer.json();
    for (const args of [["explain", id, "--url", served.url], ["explain", "--url", `${served.url}/v1`, "--full"]]) {
      const { code, text } = await rapidMlx(...args);
      assert.equal(code, 0, text);
      assert.match(text, /client "I keep it\."/);
      assert.match(text, /=> Model: choice 0: it wrote a call that can't be read/);
    }
    assert.match(
      (await rapidMlx("explain", "req-0", "--url", served.url)).text,
      /^rapid-mlx: No record of this request/,
    );
    await served.stop();
    const fromFile = await rapidMlx("explain", id, "--file", trace, "--json");
    assert.equal(JSON.parse(fromFile.text).id, id);
    const replayed = await rapidMlx("replay", trace, "--diff");
    assert.equal(replayed.code, 0, replayed.text);
    assert.match(replayed.text, /1 the same, 0 different, 0 not replayed, 0 lines at fault/);
    await Deno.writeTextFile(trace, "{nonsense\n", { append: true });
    const damaged = await rapidMlx("replay", trace, "--diff");
    assert.equal(damaged.code, 1);
    assert.match(damaged.text, /trace\.jsonl:3: it is no JSON/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
