import assert from "node:assert/strict";
import { join } from "node:path";
import { writeLauncher } from "./launcher.ts";

/** Runs a launcher whose project prints its arguments, with nothing but the given folder on PATH. */
async function runLauncher(path: string, args: string[], onPath: string): Promise<string> {
  const { stdout, stderr } = await new Deno.Command("/bin/sh", { args: [path, ...args], env: { PATH: onPath } })
    .output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

async function inProject(body: (project: string, bin: string) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir();
  try {
    const project = join(root, "it's a folder");
    await Deno.mkdir(project);
    await Deno.writeTextFile(join(project, "deno.json"), "{}");
    await Deno.writeTextFile(
      join(project, "main.ts"),
      "await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(Deno.args)));",
    );
    await body(project, join(root, "bin"));
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("the launcher passes its arguments on, from a folder with blanks and quotes in its name", async () => {
  await inProject(async (project, bin) => {
    const path = await writeLauncher(bin, { deno: Deno.execPath(), denoVersion: "0.0.0", projectFolder: project });
    const args = ["serve", "--api-key", "a b'c", "", "$HOME"];
    assert.equal(await runLauncher(path, args, "/nowhere"), JSON.stringify(args));
  });
});

Deno.test("the launcher finds another Deno when its own is gone, and npm's when there is none", async () => {
  await inProject(async (project, bin) => {
    const path = await writeLauncher(bin, { deno: "/gone/deno", denoVersion: "1.2.3", projectFolder: project });
    const other = join(bin, "other");
    await Deno.mkdir(other);
    await Deno.writeTextFile(join(other, "npx"), '#!/bin/sh\necho "npx $*"', { mode: 0o755 });
    assert.match(await runLauncher(path, ["version"], other), /^npx -y deno@1\.2\.3 run .*main\.ts version/);
    await Deno.symlink(Deno.execPath(), join(other, "deno"));
    assert.equal(await runLauncher(path, ["version"], other), '["version"]');
  });
});

Deno.test("linking again replaces the launcher but never another program", async () => {
  await inProject(async (project, bin) => {
    const target = { deno: Deno.execPath(), denoVersion: "1.2.3", projectFolder: project };
    const path = await writeLauncher(bin, target);
    assert.equal(await writeLauncher(bin, target), path);
    await Deno.writeTextFile(path, "#!/bin/sh\necho mine\n");
    await assert.rejects(writeLauncher(bin, target), /is another program's/);
    assert.equal(await Deno.readTextFile(path), "#!/bin/sh\necho mine\n");
  });
});
