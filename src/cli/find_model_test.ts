/**
 * Names of models on the command line, on a disk that the test makes.
 *
 * @module
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { loadProfiles, type Profiles } from "../profiles/store.ts";
import { DEFAULT_MODEL_ID } from "../setup/default_model.ts";
import { ensureModel, findModel } from "./find_model.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";

/** Runs with an empty home and cache of its own, and the network forbidden. */
async function onDisk(body: (folder: string, profiles: Profiles) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const variables = { XDG_CACHE_HOME: join(folder, "cache"), HF_HUB_CACHE: join(folder, "hub"), HF_HUB_OFFLINE: "1" };
  const before = Object.keys(variables).map((name) => [name, Deno.env.get(name)] as const);
  Object.entries(variables).forEach(([name, value]) => Deno.env.set(name, value));
  try {
    await body(folder, await loadProfiles());
  } finally {
    for (const [name, value] of before) value === undefined ? Deno.env.delete(name) : Deno.env.set(name, value);
    await Deno.remove(folder, { recursive: true });
  }
}

async function addCached(folder: string, name: string): Promise<string> {
  const snapshot = join(folder, "hub", name, "snapshots", COMMIT);
  await Deno.mkdir(snapshot, { recursive: true });
  await Deno.mkdir(join(folder, "hub", name, "refs"), { recursive: true });
  await Deno.writeTextFile(join(folder, "hub", name, "refs/main"), COMMIT);
  await Deno.writeTextFile(join(snapshot, "config.json"), "{}");
  await Deno.writeTextFile(join(snapshot, "model.safetensors"), "");
  return snapshot;
}

Deno.test("a folder with a config.json is a model, named after the folder", async () => {
  await onDisk(async (folder, profiles) => {
    const directory = join(folder, "My Model_4bit");
    await Deno.mkdir(directory);
    assert.equal(await findModel(directory, profiles), undefined);
    await assert.rejects(ensureModel(directory, profiles, {}), /holds no config\.json, so it is no model/);
    await Deno.writeTextFile(join(directory, "config.json"), "{}");
    assert.deepEqual(await ensureModel(directory, profiles, {}), { id: "my-model_4bit", directory });
  });
});

Deno.test("OWNER/NAME comes from the Hugging Face cache and keeps its name there", async () => {
  await onDisk(async (folder, profiles) => {
    const directory = await addCached(folder, "models--acme--Tiny-4bit");
    const place = { id: "tiny-4bit", hfId: "acme/Tiny-4bit", directory };
    assert.deepEqual(await findModel("acme/Tiny-4bit", profiles), place);
    assert.deepEqual(await ensureModel("acme/Tiny-4bit", profiles, {}), place);
    await assert.rejects(
      ensureModel("acme/Other", profiles, {}),
      /HF_HUB_OFFLINE is set and acme\/Other is not on this/,
    );
  });
});

Deno.test("an incomplete model of the cache is not taken for a whole one", async () => {
  await onDisk(async (folder, profiles) => {
    const directory = await addCached(folder, "models--acme--Tiny-4bit");
    await Deno.remove(join(directory, "model.safetensors"));
    assert.equal(await findModel("acme/Tiny-4bit", profiles), undefined);
    await assert.rejects(ensureModel("acme/Tiny-4bit", profiles, {}), /not whole on this disk \(model\.safetensors/);
  });
});

Deno.test("no name, `default` and its id mean the embedded model; anything else is refused with what is known", async () => {
  await onDisk(async (_folder, profiles) => {
    for (const name of [undefined, "default", DEFAULT_MODEL_ID]) {
      assert.equal(await findModel(name, profiles), undefined);
    }
    await assert.rejects(
      findModel("qwen99", profiles),
      /"qwen99" is no model: wanted is one of .*smollm2-135m-instruct/,
    );
    await assert.rejects(findModel("/no/such/folder", profiles), /is no model/);
  });
});
