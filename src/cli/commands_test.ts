/**
 * The command line as a process: what short commands print, and how wrong ones end.
 *
 * @module
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { writeGguf } from "../../tests/support/gguf_writer.ts";
import { tinyModel } from "../../tests/support/tiny_gguf.ts";
import project from "../../deno.json" with { type: "json" };
import { PROJECT_FOLDER } from "../setup/folders.ts";

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

async function rapidMlx(
  args: string[],
  options: { env?: Record<string, string>; input?: string } = {},
): Promise<Outcome> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "-A",
      "--config",
      join(PROJECT_FOLDER, "deno.json"),
      join(PROJECT_FOLDER, "main.ts"),
      ...args,
    ],
    env: { NO_COLOR: "1", ...options.env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  if (options.input !== undefined) await writer.write(new TextEncoder().encode(options.input));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("help names every command, and a wrong one ends with exit code 1", async () => {
  const help = await rapidMlx(["--help"]);
  assert.equal(help.code, 0);
  for (const name of ["serve", "chat", "models", "pull", "convert", "info", "doctor", "version"]) {
    assert.match(help.stdout, new RegExp(`^ {2}${name}\\b`, "m"));
  }
  const wrong = await rapidMlx(["surf"]);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /unknown command 'surf'/);
});

Deno.test("a number flag that holds a word is refused by name, not ignored", async () => {
  for (const flag of ["--max-tokens", "--temperature", "--seed"]) {
    const { code, stderr } = await rapidMlx(["chat", "--url", "http://127.0.0.1:9", flag, "many"]);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`${flag}.*'many' is invalid`));
  }
});

Deno.test("version shows server, runtime and core", async () => {
  const { code, stdout } = await rapidMlx(["version"]);
  assert.equal(code, 0);
  assert.match(stdout, new RegExp(`^rapid-mlx ${project.version.replaceAll(".", "\\.")}\ndeno \\d`));
  assert.match(stdout, /^core \d+\.\d+\.\d+ \(ABI \d+\.\d+, MLX 0\.31\.1, /m);
});

Deno.test("convert prints the folder, and a damaged file is a sentence and exit code 1", async () => {
  await inFolder(async (folder) => {
    const [source, target] = [join(folder, "tiny.gguf"), join(folder, "tiny")];
    const bytes = writeGguf(tinyModel("llama"));
    await Deno.writeFile(source, bytes);
    const good = await rapidMlx(["convert", source, target]);
    assert.deepEqual([good.code, good.stdout], [0, `${target}\n`]);
    await Deno.writeFile(source, bytes.subarray(0, 1000));
    const bad = await rapidMlx(["convert", source, join(folder, "other")]);
    assert.equal(bad.code, 1);
    assert.match(bad.stderr, /^rapid-mlx: Cannot convert .*tiny\.gguf: .*\n$/);
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), ["tiny", "tiny.gguf"]);
    const absent = await rapidMlx(["convert", join(folder, "absent.gguf"), join(folder, "other")]);
    assert.equal(absent.code, 1);
    assert.match(absent.stderr, /^rapid-mlx: Cannot convert .*absent\.gguf: there is no such file/);
  });
});

Deno.test("info tells what the embedded model is and needs", async () => {
  const { code, stdout } = await rapidMlx(["info", "--json"]);
  assert.equal(code, 0);
  const facts = JSON.parse(stdout);
  assert.deepEqual([facts.modelType, facts.profile, facts.quantization], ["llama", "smollm2", "4-bit g32"]);
  assert.equal(facts.contextTokens, 8192);
  assert(facts.weightBytes > 90e6 && facts.weightBytes < 300e6, String(facts.weightBytes));
  assert(facts.kvBytesPerToken > 0);
});

Deno.test("models lists the embedded model as ready", async () => {
  const { stdout } = await rapidMlx(["models", "--json"]);
  const { models } = JSON.parse(stdout) as { models: { id: string; state: string }[] };
  assert.equal(models.find(({ id }) => id === "smollm2-135m-instruct")?.state, "ready");
});

Deno.test("serve ends with exit code 1 and a sentence when a model can't be loaded", async () => {
  await inFolder(async (folder) => {
    const target = join(folder, "broken");
    await Deno.writeFile(join(folder, "tiny.gguf"), writeGguf(tinyModel("qwen3")));
    assert.equal((await rapidMlx(["convert", join(folder, "tiny.gguf"), target])).code, 0);
    const serve = (): Promise<Outcome> => rapidMlx(["serve", target, "--port", "0"]);
    const [config, tokenizer] = [join(target, "config.json"), join(target, "tokenizer.json")];
    const whole = await Deno.readTextFile(config);
    await Deno.writeTextFile(config, whole.replace('"qwen3"', '"mamba"'));
    const unknown = await serve();
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /^rapid-mlx: .*mamba/m);
    await Deno.writeTextFile(config, whole);
    await Deno.rename(tokenizer, `${tokenizer}.away`);
    const wordless = await serve();
    assert.equal(wordless.code, 1);
    assert.match(wordless.stderr, /^rapid-mlx: .*tokenizer\.json/m);
    await Deno.rename(`${tokenizer}.away`, tokenizer);
    await Deno.truncate(join(target, "model.safetensors"), 5000);
    const cut = await serve();
    assert.equal(cut.code, 1);
    assert.match(cut.stderr, /^rapid-mlx: .*model\.safetensors/m);
  });
});

Deno.test("chat answers piped lines with the model in this process, and repeats with a seed", async () => {
  const ask = (): Promise<Outcome> =>
    rapidMlx(["chat", "--temperature", "0", "--max-tokens", "12"], {
      input: "What is the capital of Japan?\n/exit\n",
    });
  const [first, second] = [await ask(), await ask()];
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stdout, /Tokyo/);
  assert.equal(second.stdout, first.stdout);
});

Deno.test("chat with a server that isn't there is a sentence and exit code 1", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const { code, stderr } = await rapidMlx(["chat", "--url", `http://127.0.0.1:${port}`], { input: "hi\n" });
  assert.equal(code, 1);
  assert.match(stderr, /^rapid-mlx: no server answers at http:\/\/127\.0\.0\.1:\d+/);
});

Deno.test("a setting that can't be used is named, and nothing is set up for it", async () => {
  const wrong = await rapidMlx(["serve", "--port", "99999"]);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /--port/);
  const open = await rapidMlx(["serve", "--host", "0.0.0.0"]);
  assert.match(open.stderr, /Refusing to listen on 0\.0\.0\.0 without a key/);
});
