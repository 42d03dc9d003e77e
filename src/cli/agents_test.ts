/**
 * `agents`, `launch` and `connect` as processes, against a scripted server and in an empty home.
 *
 * @module
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { serveScript } from "../../tests/support/scripted_server.ts";
import { PROJECT_FOLDER } from "../setup/folders.ts";

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command whose home is a folder. */
async function rapidMlx(home: string, args: string[], env: Record<string, string> = {}): Promise<Outcome> {
  const main = join(PROJECT_FOLDER, "main.ts");
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "-A", "--config", join(PROJECT_FOLDER, "deno.json"), main, ...args],
    env: {
      NO_COLOR: "1",
      HOME: home,
      XDG_CONFIG_HOME: join(home, ".config"),
      XDG_STATE_HOME: join(home, ".state"),
      DENO_DIR: Deno.env.get("DENO_DIR") ?? join(Deno.env.get("HOME") ?? "", ".cache/deno"),
      ...env,
    },
    stdin: "null",
  }).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

async function inHome(body: (home: string) => Promise<void>): Promise<void> {
  const home = await Deno.makeTempDir();
  try {
    await body(home);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

Deno.test("agents lists every client without a server", async () => {
  await inHome(async (home) => {
    const { code, stdout } = await rapidMlx(home, ["agents"]);
    assert.equal(code, 0);
    for (const id of ["claude-code", "codex", "opencode", "cursor", "smolagents"]) {
      assert.match(stdout, new RegExp(`^${id} `, "m"));
    }
  });
});

Deno.test("agents sets a client up with a diff and a copy, verifies it by a request, and takes it back", async () => {
  await using server = await serveScript({ context_tokens: 16_384, replies: [{ text: "Hello." }], repeat: true });
  await inHome(async (home) => {
    const path = join(home, ".config/opencode/opencode.json");
    await Deno.mkdir(join(home, ".config/opencode"), { recursive: true });
    const before = '{\n  // mine\n  "theme": "dark"\n}\n';
    await Deno.writeTextFile(path, before, { mode: 0o640 });
    const asked = await rapidMlx(home, ["agents", "opencode", "--setup", "--url", server.url]);
    assert.equal(asked.code, 1);
    assert.match(asked.stderr, /^rapid-mlx: Nothing was written: give --yes/);
    assert.equal(await Deno.readTextFile(path), before);

    const made = await rapidMlx(home, ["agents", "opencode", "--setup", "--yes", "--url", server.url]);
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /^--- .*opencode\.json$/m);
    assert.match(made.stdout, /^\+.*"context": 16384/m);
    assert.match(made.stdout, /^POST \/v1\/chat\/completions answers: "Hello\."/m);
    const copy = /^Kept the former file as (.*)$/m.exec(made.stdout)?.[1] ?? "";
    assert.equal(await Deno.readTextFile(copy), before);
    assert.match(await Deno.readTextFile(path), /\/\/ mine/);
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o640);

    const tried = await rapidMlx(home, ["agents", "opencode", "--test", "--url", server.url]);
    assert.match(tried.stdout, /^Files hold what was set: .*opencode\.json$/m);
    await Deno.writeTextFile(path, (await Deno.readTextFile(path)).replace("16384", "99"));
    const other = await rapidMlx(home, ["agents", "opencode", "--test", "--url", server.url]);
    assert.equal(other.code, 1);
    assert.match(other.stderr, /Other values than ours: .*opencode\.json: provider\.rapid-mlx\.models/);
    await Deno.writeTextFile(path, (await Deno.readTextFile(path)).replace("99", "16384"));

    const removed = await rapidMlx(home, ["agents", "opencode", "--remove", "--yes"]);
    assert.equal(removed.code, 0, removed.stderr);
    assert.equal(await Deno.readTextFile(path), before);
    const again = await rapidMlx(home, ["agents", "opencode", "--remove", "--yes"]);
    assert.match(again.stdout, /nothing to take back/);
  });
});

Deno.test("agents refuses an unknown client, two actions, a broken file and an absent server by name", async () => {
  await using server = await serveScript({ replies: [{ text: "Hello." }], repeat: true });
  await inHome(async (home) => {
    const refusal = async (...args: string[]): Promise<string> => {
      const { code, stderr } = await rapidMlx(home, ["agents", ...args]);
      assert.equal(code, 1);
      return stderr;
    };
    assert.match(await refusal("emacs"), /No client is called emacs; known are claude-code, /);
    assert.match(await refusal("codex", "--setup", "--remove"), /Give one of --setup and --remove/);
    assert.match(await refusal("codex", "--setup", "--url", "http://127.0.0.1:9"), /No server answers at http:/);
    assert.match(await refusal("cursor", "--config", "--url", server.url), /Cursor's own servers call the address/);
    await Deno.mkdir(join(home, ".codex"));
    await Deno.writeTextFile(join(home, ".codex/config.toml"), "model = \n");
    const setUp = ["codex", "--setup", "--yes", "--url", server.url];
    assert.match(await refusal(...setUp), /config\.toml is no TOML/);
    assert.equal(await Deno.readTextFile(join(home, ".codex/config.toml")), "model = \n");
  });
});

Deno.test("connect tells every address as JSON, and asks for the key of a server that has one", async () => {
  await using server = await serveScript({ replies: [{ text: "Hello." }] }, { apiKey: "secret" });
  await inHome(async (home) => {
    const { stdout } = await rapidMlx(home, ["connect", "--json", "--url", `${server.url}/v1`, "--api-key", "secret"]);
    const addresses = JSON.parse(stdout);
    assert.equal(addresses.openai_base_url, `${server.url}/v1`);
    assert.equal(addresses.anthropic_base_url, server.url);
    assert.equal(addresses.messages, `${server.url}/v1/messages`);
    assert.deepEqual([addresses.model, addresses.context_length, addresses.needs_key], ["scripted", 32_768, true]);
    await using open = await serveScript({ replies: [{ text: "Hello." }] });
    const shown = await rapidMlx(home, ["connect", "--json", "--url", open.url, "--api-key", "needless"]);
    assert.equal(JSON.parse(shown.stdout).needs_key, false);
    const keyless = await rapidMlx(home, ["connect", "--json", "--url", server.url]);
    assert.match(keyless.stderr, /wants its key: give --api-key KEY/);
  });
});

Deno.test("launch starts a server where none answers, gives it to the client, and ends with its exit code", async () => {
  await inHome(async (home) => {
    const bin = join(home, "bin");
    await Deno.mkdir(bin);
    const script = join(home, "script.json");
    const replies = [{ text: "Hello." }];
    await Deno.writeTextFile(script, JSON.stringify({ model: "scripted", replies, context_tokens: 4096 }));
    const claude = `#!/bin/sh
echo "$ANTHROPIC_BASE_URL|$ANTHROPIC_MODEL|$CLAUDE_CODE_MAX_CONTEXT_TOKENS|$ANTHROPIC_API_KEY|$*"
exec ${Deno.execPath()} eval --quiet 'const r = await fetch(Deno.env.get("ANTHROPIC_BASE_URL") + "/readyz");
console.log((await r.json()).ready); Deno.exit(7)'
`;
    await Deno.writeTextFile(join(bin, "claude"), claude, { mode: 0o755 });
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    listener.close();
    const args = ["launch", "claude-code", "--url", `http://127.0.0.1:${port}`, "--", "-p", "do it"];
    const env = { PATH: `${bin}:/usr/bin:/bin`, RAPID_MLX_FAKE: script, ANTHROPIC_API_KEY: "the user's" };
    const { code, stdout, stderr } = await rapidMlx(home, args, env);
    assert.equal(code, 7, stderr);
    assert.equal(
      stdout.replace(/\/\S*\/settings\.json/, "FILE"),
      `http://127.0.0.1:${port}|scripted|4096||--settings FILE -p do it\ntrue\n`,
    );
    await assert.rejects(fetch(`http://127.0.0.1:${port}/livez`));
    assert.match(await Deno.readTextFile(join(home, ".state/rapid-mlx/launch.log")), / stopped$/m);
  });
});

Deno.test("launch says how to install a program that is not there, before anything is started", async () => {
  await inHome(async (home) => {
    const { code, stderr } = await rapidMlx(home, ["launch", "codex"], { PATH: "/nowhere" });
    assert.equal(code, 1);
    assert.equal(stderr, "rapid-mlx: codex is not on your PATH. Install it with: npm install -g @openai/codex\n");
  });
});
