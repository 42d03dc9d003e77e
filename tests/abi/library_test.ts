/** rmx.h, the table made from it, the C compiler and the built library agree. */
import assert from "node:assert/strict";
import { CONSTANTS, SYMBOLS } from "../../src/ffi/abi.gen.ts";
import { HEADER_URL } from "../../src/ffi/abi_gen.ts";
import { Library } from "../../src/ffi/library.ts";
import { findBuiltLibrary, findCommand, TINY_CHECKPOINT } from "./built.ts";

const library = findBuiltLibrary();
const nm = await findCommand(["nm", "llvm-nm"]);
const clang = await findCommand(["clang", "/usr/libexec/swift/bin/clang", "cc"]);

/** Defines a test, or says why it can't run. */
function check(sentence: string, missing: string | undefined, fn: () => Promise<void> | void): void {
  const ignore = missing !== undefined;
  Deno.test({ name: ignore ? `${sentence} (skipped: needs ${missing})` : sentence, ignore, fn });
}

const needsLibrary = library === undefined ? "the built core" : undefined;

check(
  "the library exports what the header declares, and nothing else",
  needsLibrary ?? (nm ? undefined : "nm"),
  async () => {
    const flags = Deno.build.os === "darwin" ? ["-gU"] : ["-D", "-g", "--defined-only"];
    const { stdout } = await new Deno.Command(nm!, { args: [...flags, library!] }).output();
    const names = new TextDecoder().decode(stdout).split("\n").map((line) => line.trim().split(/\s+/).at(-1) ?? "");
    const exported = names.filter((name) => name !== "").map((name) => name.replace(/^_(?=rmx_)/, ""));
    assert.deepEqual(exported.toSorted(), Object.keys(SYMBOLS).toSorted());
  },
);

check("the header and its layout assertions compile as strict C11", clang ? undefined : "a C compiler", async () => {
  const source = new URL("../layout.c", HEADER_URL).pathname;
  const flags = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"];
  const include = new URL(".", HEADER_URL).pathname;
  const { code, stderr } = await new Deno.Command(clang!, { args: [...flags, "-I", include, source] }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
});

check("the library's version, device and layouts are read at open", needsLibrary, () => {
  const open = Library.open(library!);
  try {
    assert.equal(open.version.abi, `${CONSTANTS.RMX_ABI_MAJOR}.${CONSTANTS.RMX_ABI_MINOR}`);
    const device = open.deviceInfo();
    assert.ok(device.memoryBytes > 0 && device.threads > 0 && device.name !== "");
    assert.ok(device.workingSetBytes <= device.memoryBytes);
  } finally {
    open.close();
  }
});

check(
  "an estimate prices a checkpoint from its headers, and names the folder that has none",
  needsLibrary,
  async () => {
    const open = Library.open(library!);
    try {
      const { weightBytes, kvBytesPerToken } = await open.estimate(TINY_CHECKPOINT, {});
      const { size } = await Deno.stat(`${TINY_CHECKPOINT}/model.safetensors`);
      assert.ok(weightBytes > size / 2 && weightBytes <= size, `${weightBytes} of a file of ${size}`);
      // Two layers, keys and values, two heads of 16, float32.
      assert.equal(kvBytesPerToken, 2 * 2 * 2 * 16 * 4);
      await assert.rejects(open.estimate("/no/such/folder", {}), { code: "io", message: /\/no\/such\/folder/ });
    } finally {
      open.close();
    }
  },
);

check("every kernel of the library agrees with its reference here", needsLibrary, async () => {
  const open = Library.open(library!);
  try {
    const { ok, kernels } = await open.selftest();
    assert.deepEqual(kernels.filter((kernel) => !kernel.ok), []);
    assert.ok(ok && kernels.length >= 9);
    assert.ok(kernels.every(({ cases, maxError }) => cases > 0 && maxError !== undefined));
    const { kernels: some } = await open.selftest({ filter: "rope" });
    assert.deepEqual(some.map(({ name }) => name), ["RoPE"]);
  } finally {
    open.close();
  }
});

check("a self-test whose filter names no kernel is refused", needsLibrary, async () => {
  const open = Library.open(library!);
  try {
    await assert.rejects(open.selftest({ filter: "no such kernel" }), { code: "argument", message: /no such kernel/ });
  } finally {
    open.close();
  }
});
