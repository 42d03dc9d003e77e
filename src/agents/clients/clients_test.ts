/**
 * What each client is configured with: exact files, written into what is there, and taken back.
 *
 * @module
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { parse as parseToml } from "smol-toml";
import { parse as parseYaml } from "yaml";
import { SAMPLE_PLACES, toSampleTarget } from "../../../tests/support/agent_samples.ts";
import { AGENT_LISTINGS } from "../../../tests/golden/update_agents.ts";
import { toListing } from "../listing.ts";
import { AGENTS, requireAgent } from "../mod.ts";
import { planRemove, planSetup } from "../setup.ts";
import type { Agent, Target } from "../agent.ts";
import type { FileRecord } from "../record.ts";

/** Files in memory. */
class Disk {
  readonly files = new Map<string, string>();
  records: FileRecord[] = [];
  readonly read = (path: string): Promise<string | undefined> => Promise.resolve(this.files.get(path));

  async setUp(agent: Agent, target: Target = toSampleTarget(agent)): Promise<void> {
    this.#apply(await planSetup(agent, target, SAMPLE_PLACES, this));
  }

  async remove(): Promise<void> {
    this.#apply(await planRemove(this));
  }

  #apply(changes: Awaited<ReturnType<typeof planRemove>>): void {
    for (const { path, after } of changes) {
      if (after === undefined) this.files.delete(path);
      else this.files.set(path, after);
    }
    this.records = changes.flatMap(({ record }) => record === undefined ? [] : [record]);
  }
}

for (const agent of AGENTS) {
  Deno.test(`${agent.title} is configured with exactly the files and variables of its listing`, async () => {
    const listing = await toListing(agent, toSampleTarget(agent), SAMPLE_PLACES);
    assert.equal(listing, await Deno.readTextFile(join(AGENT_LISTINGS, `${agent.id}.txt`)));
  });

  Deno.test(`${agent.title} is set up twice as once, follows another model, and leaves nothing behind`, async () => {
    const disk = new Disk();
    await disk.setUp(agent);
    const once = new Map(disk.files);
    assert(once.size > 0);
    await disk.setUp(agent);
    assert.deepEqual(disk.files, once);
    await disk.setUp(agent, { ...toSampleTarget(agent), model: "other-model" });
    const other = [...disk.files.values()].join("");
    const isNamed = /other-model/.test(other);
    assert.equal(isNamed, /qwen3-8b/.test([...once.values()].join("")));
    assert.doesNotMatch(other, /qwen3-8b/);
    await disk.remove();
    assert.deepEqual([...disk.files], []);
  });
}

Deno.test("Each client knows window or timeout where it has a setting for it", async () => {
  const listing = async (id: string): Promise<string> =>
    await toListing(requireAgent(id), toSampleTarget(requireAgent(id)), SAMPLE_PLACES);
  for (const id of ["claude-code", "codex", "opencode", "qwen-code", "aider", "hermes", "continue", "cline", "kilo"]) {
    assert.match(await listing(id), /32768|131072/, id);
  }
  for (const id of ["claude-code", "codex", "qwen-code", "cline"]) assert.match(await listing(id), /1800000/, id);
});

Deno.test("Comments, order and foreign keys of a JSON, a TOML and a YAML file survive set-up and removal", async () => {
  const before = {
    "/h/.claude/settings.json": '{\n\t// mine\n\t"env": { "EDITOR": "vi" },\n\t"model": "opus", // keep\n}\n',
    "/h/.codex/config.toml":
      '# mine\nmodel = "gpt" # chosen\napproval_policy = "never"\n\n[model_providers.other]\nname = "o"\n\n[tui]\nx = [\n  1,\n]\n',
    "/h/.continue/config.yaml":
      "# mine\nname: My own\nversion: 2.0.0\nschema: v1\nmodels:\n  # first\n  - name: Cloud\n    provider: openai\n    model: gpt\n",
  };
  for (const [id, path] of [["claude-code", 0], ["codex", 1], ["continue", 2]] as const) {
    const [file, text] = Object.entries(before)[path]!;
    const disk = new Disk();
    disk.files.set(file, text);
    await disk.setUp(requireAgent(id));
    const written = disk.files.get(file)!;
    const kept = text.match(
      /# mine|\/\/ mine|\/\/ keep|"EDITOR": "vi"|# first|approval.*|name = "o"|name: (My own|Cloud)/g,
    )!;
    for (const part of kept) assert(written.includes(part), `${id} lost ${part}`);
    await disk.remove();
    assert.deepEqual([...disk.files], [[file, text]]);
  }
});

Deno.test("A value of the user's that was set after us stays; ours goes back to what was there", async () => {
  const path = "/h/.codex/config.toml";
  const disk = new Disk();
  disk.files.set(path, 'model = "gpt"\n');
  await disk.setUp(requireAgent("codex"));
  const changed = disk.files.get(path)!.replace('model_provider = "rapid-mlx"', 'model_provider = "mine"');
  disk.files.set(path, `${changed}\n[history]\npersistence = "none"\n`);
  await disk.remove();
  assert.deepEqual(JSON.parse(JSON.stringify(parseToml(disk.files.get(path)!))), {
    model: "gpt",
    model_provider: "mine",
    history: { persistence: "none" },
  });
  assert.equal(disk.files.size, 1);
});

Deno.test("A list of models keeps its other entries when ours is added, changed and taken away", async () => {
  const path = "/h/.continue/config.yaml";
  const disk = new Disk();
  disk.files.set(path, "name: a\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: Cloud\n    model: gpt\n");
  const agent = requireAgent("continue");
  await disk.setUp(agent);
  disk.files.set(path, `${disk.files.get(path)}context:\n  - provider: file\n`);
  await disk.setUp(agent, { ...toSampleTarget(agent), model: "other-model" });
  const { models } = parseYaml(disk.files.get(path)!) as { models: { name: string; model: string }[] };
  assert.deepEqual(models.map(({ name, model }) => [name, model]), [["Cloud", "gpt"], ["Rapid-MLX", "other-model"]]);
  await disk.remove();
  assert.deepEqual(parseYaml(disk.files.get(path)!), {
    name: "a",
    version: "1.0.0",
    schema: "v1",
    models: [{ name: "Cloud", model: "gpt" }],
    context: [{ provider: "file" }],
  });
});

Deno.test("A broken file is refused by name, and nothing is planned", async () => {
  const broken = {
    "claude-code": ["/h/.claude/settings.json", '{ "env": ', /settings\.json is no JSON \(.+ in line 1\)/],
    codex: ["/h/.codex/config.toml", "model = \n", /config\.toml is no TOML/],
    continue: ["/h/.continue/config.yaml", "a: [1\n", /config\.yaml is no YAML/],
    opencode: ["/h/.config/opencode/opencode.json", '{"provider": []}', /opencode\.json: provider is a list/],
  } as const;
  for (const [id, [path, text, message]] of Object.entries(broken)) {
    const disk = new Disk();
    disk.files.set(path, text);
    await assert.rejects(disk.setUp(requireAgent(id)), { name: "ConfigFileError", message }, id);
  }
});

Deno.test("A TOML value that no line edit can reach is set anyway, by writing the file anew", async () => {
  const path = "/h/.codex/config.toml";
  const disk = new Disk();
  disk.files.set(path, 'model_providers = { other = { name = "o" } }\nmodel = """\ngpt\n"""\n');
  await disk.setUp(requireAgent("codex"));
  const { model, model_providers: providers } = parseToml(disk.files.get(path)!) as {
    model: string;
    model_providers: Record<string, { name: string }>;
  };
  assert.equal(model, "qwen3-8b");
  assert.deepEqual(Object.entries(providers).map(([id, { name }]) => [id, name]), [["other", "o"], [
    "rapid-mlx",
    "Rapid-MLX",
  ]]);
});

Deno.test("Cursor refuses an address that its servers can't reach, and a public one without a key", () => {
  const { refuse } = requireAgent("cursor");
  const target = { baseUrl: "https://tunnel.example", model: "m", contextTokens: 1, reasons: false };
  for (const baseUrl of ["http://tunnel.example", "https://127.0.0.1", "https://10.0.0.2", "https://mac.local"]) {
    assert.match(refuse?.({ ...target, baseUrl, apiKey: "k" }) ?? "", /tunnel/, baseUrl);
  }
  assert.match(refuse?.(target) ?? "", /needs a key/);
  assert.equal(refuse?.({ ...target, apiKey: "k" }), undefined);
});

Deno.test("In a window of 8,192 tokens agents are made small where they can be, and refused where they can't", async () => {
  const small = { ...toSampleTarget(requireAgent("codex")), contextTokens: 8192 };
  const listing = async (id: string): Promise<string> => await toListing(requireAgent(id), small, SAMPLE_PLACES);
  assert.match(
    await listing("claude-code"),
    /"CLAUDE_CODE_SIMPLE": "1"[^]*^CLAUDE_CODE_SIMPLE=1$[^]*^# The window of 8192/m,
  );
  assert.match(await listing("codex"), /^\[features\]\nmulti_agent = false\ngoals = false$[^]*^# The window of 8192/m);
  assert.match(await listing("opencode"), /"compaction": \{\n {4}"auto": false[^]*^# The window of 8192/m);
  assert.match(requireAgent("hermes").refuse?.(small) ?? "", /at least 64000 tokens only; this server has 8192/);
  const large = await toListing(requireAgent("opencode"), { ...small, contextTokens: 32_768 }, SAMPLE_PLACES);
  assert.doesNotMatch(large, /compaction/);
});
