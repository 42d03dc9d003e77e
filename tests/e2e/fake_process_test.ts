/**
 * `serve --fake` as a command: it needs no core and no model, and a bad script is one sentence.
 *
 * @module
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_FOLDER } from "../../src/setup/folders.ts";

/** Runs the command on a script of that text. */
async function run(
  script: string,
  use: (process: Deno.ChildProcess) => Promise<void>,
): Promise<{ code: number; errors: string }> {
  const folder = await Deno.makeTempDir();
  try {
    const path = join(folder, "script.json");
    await Deno.writeTextFile(path, script);
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", join(PROJECT_FOLDER, "main.ts"), "serve", "--fake", path, "--port", "0", "--threads", "1"],
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const errors = new Response(process.stderr).text();
    await use(process);
    return { code: (await process.status).code, errors: await errors };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("serve --fake answers from its script, says which flags have no use, and ends on SIGTERM", async () => {
  const { code, errors } = await run('{"model": "m", "replies": [{"text": "Hello there."}]}', async (process) => {
    let shown = "";
    const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
    while (!/try /.test(shown)) {
      const { value, done } = await reader.read();
      if (done) break;
      shown += value;
    }
    const url = /base URL +(\S+)\/v1/.exec(shown)?.[1];
    assert.ok(url, shown);
    const body = JSON.stringify({ messages: [{ role: "user", content: "Hi" }] });
    const answer = await (await fetch(`${url}/v1/chat/completions`, { method: "POST", body })).json();
    assert.equal(answer.choices[0].message.content, "Hello there.");
    assert.equal(answer.usage.completion_tokens, 3);
    process.kill("SIGTERM");
    while (!(await reader.read()).done);
  });
  assert.equal(code, 0);
  assert.match(errors, /warning --threads is not used: a script has no core/);
});

Deno.test("serve --fake with a bad script ends with its path and code 1", async () => {
  const { code, errors } = await run('{"model": "m", "replies": [{}]}', async (process) => {
    await process.stdout.cancel();
  });
  assert.equal(code, 1);
  assert.match(errors, /rapid-mlx: .*script\.json: replies\[0\]\.text: expected/);
});
