/**
 * Pulling from a fake hub: whole, interrupted, refused, cheated.
 *
 * @module
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { FAKE_COMMIT, FAKE_ID, type FakeFile, FakeHub, gitHash, sha256 } from "../../../tests/support/fake_hub.ts";
import type { Report } from "../report.ts";
import { findCached, listCached } from "./cache.ts";
import { type HubEndpoint, HubError, openEndpoint } from "./endpoint.ts";
import { pullModel, type PullOptions } from "./pull.ts";

const QUIET: Report = { step: () => {}, note: () => {}, progress: () => {} };

function bytesOf(sizeBytes: number, seed: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: sizeBytes }, (_, i) => (i * seed + (i >> 8)) & 0xff);
}

const WEIGHTS = bytesOf(300_000, 7);
const CONFIG = new TextEncoder().encode('{"model_type":"llama"}');

function tinyFiles(weights: Partial<FakeFile> = {}): Record<string, FakeFile> {
  return {
    "config.json": { bytes: CONFIG },
    "model.safetensors": { bytes: WEIGHTS, isLarge: true, ...weights },
    "README.md": { bytes: new TextEncoder().encode("# not needed") },
    "original/consolidated.pth": { bytes: bytesOf(10, 3), isLarge: true },
  };
}

interface Scene {
  hub: FakeHub;
  cache: string;
  /** Waits that were asked for instead of taken. */
  waitsMs: number[];
  pull: (options?: Partial<PullOptions>, files?: readonly string[]) => Promise<string>;
}

async function withHub(files: Record<string, FakeFile>, body: (scene: Scene) => Promise<void>): Promise<void> {
  const cache = await Deno.makeTempDir();
  const waitsMs: number[] = [];
  try {
    await using hub = new FakeHub(files);
    const endpoint: HubEndpoint = { url: hub.url, token: undefined, isOffline: false };
    const sleep = (timeMs: number): Promise<void> => Promise.resolve(void waitsMs.push(timeMs));
    const pull: Scene["pull"] = (options, wanted = []) =>
      pullModel({ id: FAKE_ID, files: wanted }, { endpoint, cache, report: QUIET, sleep, ...options });
    await body({ hub, cache, waitsMs, pull });
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
}

async function assertWhole(directory: string): Promise<void> {
  assert.deepEqual(await Deno.readFile(join(directory, "model.safetensors")), WEIGHTS);
  assert.deepEqual(await Deno.readFile(join(directory, "config.json")), CONFIG);
}

const rangesOf = (hub: FakeHub): (string | null)[] =>
  hub.seen.filter(({ origin }) => origin === "files").map(({ range }) => range);

Deno.test("pull makes the layout of Hugging Face's cache and fetches nothing twice", async () => {
  await withHub(tinyFiles(), async ({ hub, cache, pull }) => {
    const directory = await pull();
    const folder = join(cache, "models--acme--Tiny-4bit");
    assert.equal(directory, join(folder, "snapshots", FAKE_COMMIT));
    await assertWhole(directory);
    assert.equal(await Deno.readTextFile(join(folder, "refs/main")), FAKE_COMMIT);
    assert.equal(await Deno.readLink(join(directory, "model.safetensors")), `../../blobs/${sha256(WEIGHTS)}`);
    assert.equal(await Deno.readLink(join(directory, "config.json")), `../../blobs/${gitHash(CONFIG)}`);
    assert.deepEqual([...Deno.readDirSync(directory)].map(({ name }) => name).sort(), [
      "config.json",
      "model.safetensors",
    ]);
    hub.seen.length = 0;
    assert.equal(await pull(), directory);
    assert.deepEqual(hub.seen.filter(({ path }) => !path.startsWith("/api/")), []);
  });
});

Deno.test("pull goes on where a connection broke", async () => {
  const faults = [{ kind: "drop", afterBytes: 100_000 }, { kind: "drop", afterBytes: 50_000 }] as const;
  await withHub(tinyFiles({ faults: [...faults] }), async ({ hub, waitsMs, pull }) => {
    await assertWhole(await pull());
    assert.deepEqual(rangesOf(hub), [null, "bytes=100000-", "bytes=150000-"]);
    assert.deepEqual(waitsMs, [500, 500]);
  });
});

Deno.test("pull goes on with what an earlier process left", async () => {
  await withHub(tinyFiles(), async ({ hub, cache, pull }) => {
    const blobs = join(cache, "models--acme--Tiny-4bit", "blobs");
    await Deno.mkdir(blobs, { recursive: true });
    await Deno.writeFile(join(blobs, `${sha256(WEIGHTS)}.incomplete`), WEIGHTS.subarray(0, 250_000));
    await assertWhole(await pull());
    assert.deepEqual(rangesOf(hub), ["bytes=250000-"]);
  });
});

Deno.test("pull only checks what is complete already", async () => {
  await withHub(tinyFiles(), async ({ hub, cache, pull }) => {
    const blobs = join(cache, "models--acme--Tiny-4bit", "blobs");
    await Deno.mkdir(blobs, { recursive: true });
    await Deno.writeFile(join(blobs, `${sha256(WEIGHTS)}.incomplete`), WEIGHTS);
    await assertWhole(await pull());
    assert.deepEqual(rangesOf(hub), []);
  });
});

Deno.test("pull starts over once when the bytes on the disk were wrong", async () => {
  await withHub(tinyFiles(), async ({ hub, cache, pull }) => {
    const blobs = join(cache, "models--acme--Tiny-4bit", "blobs");
    await Deno.mkdir(blobs, { recursive: true });
    await Deno.writeFile(join(blobs, `${sha256(WEIGHTS)}.incomplete`), new Uint8Array(1000));
    await assertWhole(await pull());
    assert.deepEqual(rangesOf(hub), ["bytes=1000-", null]);
  });
});

Deno.test("pull starts over when a server ignores the range", async () => {
  const faults: FakeFile["faults"] = [{ kind: "drop", afterBytes: 1000 }, { kind: "ignoreRange" }];
  await withHub(tinyFiles({ faults }), async ({ pull }) => await assertWhole(await pull()));
});

Deno.test("pull refuses a server that sends another range", async () => {
  const faults: FakeFile["faults"] = [{ kind: "drop", afterBytes: 1000 }, { kind: "wrongRange" }];
  await withHub(tinyFiles({ faults }), async ({ pull }) => {
    await assert.rejects(pull(), /sends another part of the file/);
  });
});

Deno.test("pull refuses bytes with another hash and leaves no blob and no snapshot", async () => {
  await withHub(tinyFiles({ faults: [{ kind: "garbage" }, { kind: "garbage" }] }), async ({ cache, pull }) => {
    await assert.rejects(pull(), /model\.safetensors from .* has the hash [0-9a-f]{64}; expected is/);
    const folder = join(cache, "models--acme--Tiny-4bit");
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["blobs"]);
    const blobs = [...Deno.readDirSync(join(folder, "blobs"))].map(({ name }) => name);
    assert(!blobs.some((name) => name.startsWith(sha256(WEIGHTS))), blobs.join());
  });
});

Deno.test("pull refuses more bytes than the hub lists", async () => {
  await withHub(tinyFiles({ faults: [{ kind: "tooMuch" }] }), async ({ pull }) => {
    await assert.rejects(pull(), /sends more than the 300000 bytes/);
  });
});

Deno.test("pull waits as long as a busy server says, and doubles its own waits", async () => {
  const busy = { kind: "status", status: 503 } as const;
  const faults: FakeFile["faults"] = [busy, { kind: "status", status: 429, retryAfter: "7" }, busy];
  await withHub(tinyFiles({ faults }), async ({ waitsMs, pull }) => {
    await assertWhole(await pull());
    assert.deepEqual(waitsMs, [500, 7000, 2000]);
  });
});

Deno.test("pull gives up after a bounded number of failures and keeps what it has", async () => {
  const faults: FakeFile["faults"] = Array.from({ length: 20 }, () => ({ kind: "status", status: 500 }));
  faults.unshift({ kind: "drop", afterBytes: 5000 });
  await withHub(tinyFiles({ faults }), async ({ cache, waitsMs, pull }) => {
    await assert.rejects(pull(), /gave up after 6 retries \(status 500\)/);
    assert.equal(waitsMs.length, 6);
    const blobs = join(cache, "models--acme--Tiny-4bit", "blobs");
    assert.equal((await Deno.stat(join(blobs, `${sha256(WEIGHTS)}.incomplete`))).size, 5000);
  });
});

Deno.test("pull takes silence for a broken connection", async () => {
  await withHub(tinyFiles({ faults: [{ kind: "silence", afterBytes: 4000 }] }), async ({ hub, pull }) => {
    await assertWhole(await pull({ stallMs: 100 }));
    assert.deepEqual(rangesOf(hub), [null, "bytes=4000-"]);
  });
});

Deno.test({
  name: "pull says that the disk is full, and does not try again",
  ignore: Deno.build.os !== "linux", // /dev/full
  fn: async () => {
    await withHub(tinyFiles(), async ({ cache, waitsMs, pull }) => {
      const blobs = join(cache, "models--acme--Tiny-4bit", "blobs");
      await Deno.mkdir(blobs, { recursive: true });
      await Deno.symlink("/dev/full", join(blobs, `${sha256(WEIGHTS)}.incomplete`));
      await assert.rejects(pull(), /the disk is full after 0 of 300000 bytes/);
      assert.deepEqual(waitsMs, []);
    });
  },
});

Deno.test("pull says what is missing where the hub refuses", async () => {
  await withHub(tinyFiles({ faults: [{ kind: "status", status: 404 }] }), async ({ hub, cache, pull }) => {
    await assert.rejects(pull(), /no such repository, revision or file \(404\)/);
    hub.token = "secret";
    await assert.rejects(pull(), /refuses \(401\): .*gated.*; set HF_TOKEN\./);
    const wrong = { url: hub.url, token: "other", isOffline: false };
    await assert.rejects(pull({ endpoint: wrong }), /the token in use does not open it/);
    const endpoint = { ...wrong, token: "secret" };
    const options = { endpoint, cache, report: QUIET };
    await assert.rejects(pullModel({ id: "acme/Absent" }, options), /Cannot list acme\/Absent at main: .*\(404\)/);
    await assert.rejects(pullModel({ id: "../../etc" }, options), /is no repository/);
    await assert.rejects(pullModel({ id: FAKE_ID, revision: "../../x" }, options), /is no branch, tag or commit/);
    await assert.rejects(pull({ endpoint }, ["absent.gguf"]), /has no file absent\.gguf/);
  });
});

Deno.test("pull shows the token to the hub alone, not to whoever serves its files", async () => {
  await withHub(tinyFiles(), async ({ hub, pull }) => {
    hub.token = "secret";
    await pull({ endpoint: { url: hub.url, token: "secret", isOffline: false } });
    for (const { origin, authorization, path } of hub.seen) {
      assert.equal(authorization, origin === "hub" ? "Bearer secret" : null, path);
    }
  });
});

Deno.test("pull refuses a listing that leads out of its folder", async () => {
  for (const path of ["../evil.json", "/etc/evil.json", "a/../../evil.json", "a\\evil.json"]) {
    await withHub({ ...tinyFiles(), [path]: { bytes: CONFIG } }, async ({ pull }) => {
      await assert.rejects(pull(), /leaves the folder/);
    });
  }
});

Deno.test("pull fetches single files by name and points at them where there are no safetensors", async () => {
  const files = { "tiny.Q4_0.gguf": { bytes: WEIGHTS, isLarge: true }, "config.json": { bytes: CONFIG } };
  await withHub(files, async ({ pull }) => {
    await assert.rejects(pull(), /no \.safetensors files, but GGUF files\. Name one .*tiny\.Q4_0\.gguf/);
    assert.deepEqual(await Deno.readFile(join(await pull({}, ["tiny.Q4_0.gguf"]), "tiny.Q4_0.gguf")), WEIGHTS);
  });
});

Deno.test("offline, pull gives what is on the disk and asks nobody", async () => {
  await withHub(tinyFiles(), async ({ hub, pull }) => {
    const endpoint = { url: hub.url, token: undefined, isOffline: true };
    await assert.rejects(pull({ endpoint }), /HF_HUB_OFFLINE is set and acme\/Tiny-4bit is not on this disk/);
    const directory = await pull();
    hub.seen.length = 0;
    assert.equal(await pull({ endpoint }), directory);
    assert.deepEqual(hub.seen, []);
  });
});

Deno.test("the cache lists whole models and says what others miss", async () => {
  await withHub(tinyFiles(), async ({ cache, pull }) => {
    assert.deepEqual(await listCached(join(cache, "absent")), []);
    const directory = await pull();
    assert.deepEqual(await listCached(cache), [{
      id: FAKE_ID,
      commit: FAKE_COMMIT,
      directory,
      sizeBytes: WEIGHTS.length + CONFIG.length,
      missing: undefined,
    }]);
    await Deno.writeTextFile(
      join(directory, "model.safetensors.index.json"),
      '{"weight_map":{"a":"model-2.safetensors"}}',
    );
    assert.equal((await findCached(cache, FAKE_ID))?.missing, "model-2.safetensors");
    await Deno.remove(join(cache, "models--acme--Tiny-4bit/blobs", sha256(WEIGHTS)));
    assert.equal((await findCached(cache, FAKE_ID))?.missing, "model.safetensors");
  });
});

Deno.test("the endpoint follows Hugging Face's variables and token file", async () => {
  const home = await Deno.makeTempDir();
  try {
    const open = (variables: Record<string, string>): Promise<HubEndpoint> =>
      openEndpoint((name) => ({ HOME: home, ...variables })[name]);
    assert.deepEqual(await open({}), { url: "https://huggingface.co", token: undefined, isOffline: false });
    await Deno.mkdir(join(home, ".cache/huggingface"), { recursive: true });
    await Deno.writeTextFile(join(home, ".cache/huggingface/token"), "from-file\n");
    assert.equal((await open({})).token, "from-file");
    const set = { HF_TOKEN: "from-variable", HF_ENDPOINT: "https://mirror.example/", HF_HUB_OFFLINE: "1" };
    assert.deepEqual(await open(set), { url: "https://mirror.example", token: "from-variable", isOffline: true });
    await assert.rejects(open({ HF_ENDPOINT: "mirror.example" }), HubError);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});
