/**
 * The parts of set-up that decide something: what to fetch, from where, when to stop, when to do nothing.
 *
 * @module
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { findDebianUri, parseSuite, toSource } from "./debian.ts";
import { SetupError } from "./errors.ts";
import { cacheFolder, hubCacheFolder } from "./folders.ts";
import { chooseMetalWheel } from "./libmlx.ts";
import { withLock } from "./lock.ts";
import type { Report } from "./report.ts";
import { requirePlatform, requireSpace } from "./requirements.ts";
import { runCommand } from "./run_command.ts";
import { hashFile, hashSources, hasStamp, writeStamp } from "./stamp.ts";
import { fetchWheel, type Pip, unpackWheel, type Wheel } from "./wheel.ts";

/** A report that remembers. */
function openMemory(): Report & { lines: string[] } {
  const lines: string[] = [];
  const add = (text: string): void => void lines.push(text);
  return { lines, step: add, note: add, progress: add };
}

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** An executable shell script. */
async function writeScript(path: string, body: string): Promise<string> {
  await Deno.writeTextFile(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return path;
}

Deno.test("Debian's mirror is found in both formats of source files, and never the security archive", () => {
  const classic = `# deb http://commented.example/debian bookworm main
deb http://security.example/debian-security bookworm-security main
deb-src http://src.example/debian bookworm main
deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm main
`;
  assert.equal(findDebianUri([classic]), "http://mirror.example/debian");
  const deb822 = `Types: deb
URIs: https://off.example/debian
Suites: bookworm
Enabled: no

Types: deb
# a comment
URIs: http://security.example/debian-security/
Suites: bookworm-security

Types: deb deb-src
URIs: https://mirror.example/debian/
Suites: bookworm bookworm-updates
Components: main
`;
  assert.equal(findDebianUri(["", deb822]), "https://mirror.example/debian/");
  assert.equal(findDebianUri(["deb http://other.example/ubuntu noble main\n"]), undefined);
  assert.match(toSource("http://mirror.example/debian"), /^URIs: http:\/\/mirror\.example\/debian$/m);
});

Deno.test("the release that offers Swift is read from apt's own table", () => {
  const table = ` swiftlang |    6.0.3-2 | http://mirror.example/debian trixie/main amd64 Packages
 swiftlang |      5.9-1 | http://mirror.example/debian sid/main amd64 Packages
`;
  assert.equal(parseSuite(table), "trixie");
  assert.equal(parseSuite(""), undefined);
});

Deno.test("the Metal library is the newest one that the system can run", () => {
  assert.equal(chooseMetalWheel("26.1\n").platform, "macosx_26_0_arm64");
  assert.equal(chooseMetalWheel("15.6.1").platform, "macosx_15_0_arm64");
  assert.equal(chooseMetalWheel("14.0").platform, "macosx_14_0_arm64");
  assert.equal(chooseMetalWheel("27.0").platform, "macosx_26_0_arm64");
  assert.throws(() => chooseMetalWheel("13.6"), /needs macOS 14 or later; this system is macOS 13\.6/);
  assert.throws(() => chooseMetalWheel(""), /of unknown version/);
});

Deno.test("a machine that no core can be built for is told so", () => {
  assert.equal(requirePlatform("linux", "aarch64"), "linux-aarch64");
  assert.throws(() => requirePlatform("darwin", "x86_64"), /This machine is darwin on x86_64\. The core runs on macOS/);
  assert.throws(() => requirePlatform("windows", "x86_64"), SetupError);
});

Deno.test("a full disk is told before anything is fetched, with both numbers", async () => {
  await inFolder(async (folder) => {
    await requireSpace(folder, 1, "A byte");
    await assert.rejects(
      requireSpace(folder, 1e18, "Everything"),
      /Everything needs 1000000000000 MB .*; \d+(\.\d)? MB are/,
    );
  });
});

Deno.test("folders follow XDG and Hugging Face's variables", () => {
  const read = (variables: Record<string, string>) => (name: string) => ({ HOME: "/h", ...variables })[name];
  assert.equal(hubCacheFolder(read({})), "/h/.cache/huggingface/hub");
  assert.equal(hubCacheFolder(read({ XDG_CACHE_HOME: "/x" })), "/x/huggingface/hub");
  assert.equal(hubCacheFolder(read({ HF_HOME: "/hf", XDG_CACHE_HOME: "/x" })), "/hf/hub");
  assert.equal(hubCacheFolder(read({ HF_HUB_CACHE: "/c", HF_HOME: "/hf" })), "/c");
  assert.equal(cacheFolder(read({ XDG_CACHE_HOME: "/x" })), "/x/rapid-mlx");
});

Deno.test("a command's failure shows how it ended, the end of its output, and where the rest is", async () => {
  await inFolder(async (folder) => {
    const report = openMemory();
    const logPath = join(folder, "logs/x.log");
    const script = "echo bad >&2; for i in $(seq 50); do echo line $i; done; exit 3";
    const command = ["sh", "-c", script];
    await assert.rejects(runCommand(command, { report, task: "trying", logPath }), (error: unknown) => {
      assert(error instanceof SetupError);
      assert.match(error.message, /^trying: sh ended with exit code 3\.\n/);
      assert.match(error.message, /line 50/);
      assert.match(error.message, /bad/);
      assert.doesNotMatch(error.message, /line 20\n/);
      assert(error.message.endsWith(`The whole output is in ${logPath}.`));
      return true;
    });
    assert.match(await Deno.readTextFile(logPath), /line 1\n/);
    const absent = ["/nowhere/program"];
    await assert.rejects(runCommand(absent, { report, task: "trying", logPath }), /cannot start \/nowhere\/program/);
  });
});

Deno.test("a stamp counts only when it is the same, and sources hash by name and content", async () => {
  await inFolder(async (folder) => {
    const stamp = join(folder, "deep/x.stamp");
    assert.equal(await hasStamp(stamp, "a"), false);
    await writeStamp(stamp, "a");
    assert.equal(await hasStamp(stamp, "a"), true);
    assert.equal(await hasStamp(stamp, "b"), false);
    await Deno.mkdir(join(folder, "src"));
    await Deno.writeTextFile(join(folder, "src/a.swift"), "let a = 1");
    const hash = (): Promise<string> => hashSources(folder, ["src"], (path) => path.endsWith(".md"));
    const first = await hash();
    await Deno.writeTextFile(join(folder, "src/README.md"), "not code");
    assert.equal(await hash(), first);
    await Deno.rename(join(folder, "src/a.swift"), join(folder, "src/b.swift"));
    assert.notEqual(await hash(), first);
  });
});

Deno.test("two set-ups at once: the second waits, says so, and runs after the first", async () => {
  await inFolder(async (folder) => {
    const report = openMemory();
    const order: string[] = [];
    const held = Promise.withResolvers<void>();
    const path = join(folder, "lock");
    const entered = Promise.withResolvers<void>();
    const first = withLock(path, report, async () => {
      order.push("first");
      entered.resolve();
      await held.promise;
    });
    await entered.promise;
    const second = withLock(path, { ...report, note: (text) => (report.lines.push(text), held.resolve()) }, () => {
      order.push("second");
      return Promise.resolve();
    });
    await Promise.all([first, second]);
    assert.deepEqual(order, ["first", "second"]);
    assert.match(report.lines[0] ?? "", /Another set-up holds .*; waiting/);
  });
});

/** A pip that copies a prepared file, or fails, and counts its runs. */
async function fakePip(folder: string, body: string): Promise<Pip> {
  return [await writeScript(join(folder, "pip"), `echo run >> ${folder}/runs\n${body}`)];
}

async function prepareWheel(folder: string): Promise<Wheel> {
  const content = "import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], 'w') as z: z.writestr('pkg/a.txt', 'hello')";
  const path = join(folder, "source.whl");
  await new Deno.Command("python3", { args: ["-c", content, path] }).output();
  return { name: "a-pkg", version: "1.0", platform: "any", sizeBytes: 100, sha256: await hashFile(path) };
}

/** Shell: writes the prepared wheel where pip was told to. */
const SERVE = 'while [ "$1" != "--dest" ]; do shift; done; cp "$(dirname "$0")/$FILE" "$2/a_pkg-1.0-py3-none-any.whl"';

Deno.test("a wheel is fetched once, checked, and unpacked whole", async () => {
  await inFolder(async (folder) => {
    const wheel = await prepareWheel(folder);
    const report = openMemory();
    const pip = await fakePip(folder, `FILE=source.whl; ${SERVE}`);
    const downloads = join(folder, "downloads");
    const path = await fetchWheel(wheel, downloads, pip, report);
    assert.equal(await fetchWheel(wheel, downloads, pip, report), path);
    assert.equal(await Deno.readTextFile(join(folder, "runs")), "run\n");
    await unpackWheel(path, join(folder, "out"), "python3", report);
    assert.equal(await Deno.readTextFile(join(folder, "out/pkg/a.txt")), "hello");
  });
});

Deno.test("a wheel with another hash is deleted and named, and a half-fetched one is fetched again", async () => {
  await inFolder(async (folder) => {
    const wheel = await prepareWheel(folder);
    await Deno.writeTextFile(join(folder, "other.whl"), "something else");
    const report = openMemory();
    const downloads = join(folder, "downloads");
    const liar = await fakePip(folder, `FILE=other.whl; ${SERVE}`);
    await assert.rejects(
      fetchWheel(wheel, downloads, liar, report),
      /has the sha256 [0-9a-f]{64}; expected is .* deleted/,
    );
    assert.equal([...Deno.readDirSync(downloads)].some(({ name }) => name.endsWith(".whl")), false);
    await Deno.writeTextFile(join(downloads, "a_pkg-1.0-py3-none-any.whl"), "half");
    const pip = await fakePip(folder, `FILE=source.whl; ${SERVE}`);
    assert.match(await fetchWheel(wheel, downloads, pip, report), /a_pkg-1\.0-py3-none-any\.whl$/);
  });
});

Deno.test("without a network the error is pip's own, with what to do", async () => {
  await inFolder(async (folder) => {
    const wheel = await prepareWheel(folder);
    const pip = await fakePip(folder, "echo 'ERROR: No matching distribution found' >&2; exit 1");
    await assert.rejects(fetchWheel(wheel, join(folder, "downloads"), pip, openMemory()), (error: unknown) => {
      assert(error instanceof SetupError);
      assert.match(error.message, /downloading a-pkg 1\.0 .*ended with exit code 1/);
      assert.match(error.message, /No matching distribution found/);
      assert.match(error.message, /your own settings \(index, proxy, certificates\)/);
      return true;
    });
  });
});

Deno.test("a report that is no terminal prints steps and notes, and few of many progress lines", async () => {
  const script = `import { openReport } from ${JSON.stringify(import.meta.resolve("./report.ts"))};
const report = openReport(false);
report.step("begin");
for (let i = 0; i < 1000; i++) report.progress(String(i));
report.note("end");`;
  const { stderr, stdout } = await new Deno.Command(Deno.execPath(), { args: ["eval", script] }).output();
  assert.equal(new TextDecoder().decode(stderr), "==> begin\n    end\n");
  assert.equal(stdout.length, 0);
});
