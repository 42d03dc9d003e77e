/** Refusing libraries; what an accepted one does is tested in tests/abi. */
import assert from "node:assert/strict";
import { CONSTANTS, STRUCTS } from "./abi.gen.ts";
import { checkLayouts, checkVersion, Library } from "./library.ts";

const { RMX_ABI_MAJOR: major, RMX_ABI_MINOR: minor } = CONSTANTS;

Deno.test("checkVersion() takes its own version and newer minors", () => {
  checkVersion("librmx.so", major << 16 | minor);
  checkVersion("librmx.so", major << 16 | minor + 1);
});

Deno.test("checkVersion() refuses another major with both versions and the path", () => {
  for (const [found, shown] of [[(major + 1) << 16, `${major + 1}.0`], [9, "0.9"]] as const) {
    assert.throws(() => checkVersion("/x/librmx.so", found), (error: Error) => {
      return [`${shown},`, `${major}.${minor} `, "/x/librmx.so"].every((part) => error.message.includes(part));
    });
  }
});

function manifest(): { structs: Record<string, { size: number; fields: Record<string, number> }> } {
  const structs = Object.entries(STRUCTS).map(([name, { size, fields }]) => {
    const offsets = Object.entries(fields).map(([field, { offset }]) => [field, offset] as const);
    return [name, { size, fields: Object.fromEntries(offsets) }] as const;
  });
  return { structs: Object.fromEntries(structs) };
}

Deno.test("checkLayouts() takes equal layouts, also with fields that this server does not know", () => {
  const newer = manifest();
  newer.structs["rmx_new"] = { size: 4, fields: { a: 0 } };
  checkLayouts("librmx.so", newer);
});

Deno.test("checkLayouts() refuses a moved field, another size and a missing struct by name", () => {
  const moved = manifest();
  moved.structs["rmx_event"]!.fields["value"] = 28;
  assert.throws(() => checkLayouts("/x/librmx.so", moved), /\/x\/librmx\.so.*rmx_event\.value is 28 .* and 24 /);
  const grown = manifest();
  grown.structs["rmx_params"]!.size = 88;
  assert.throws(() => checkLayouts("p", grown), /size of rmx_params is 88 .* and 80 /);
  const lacking = manifest();
  delete lacking.structs["rmx_usage"];
  assert.throws(() => checkLayouts("p", lacking), /size of rmx_usage is absent/);
});

Deno.test("Library.open() says which file it could not load", () => {
  assert.throws(() => Library.open("/no/librmx.so"), {
    code: "io",
    message: /^Cannot load the core library \/no\/librmx/,
  });
});

Deno.test("Library.open() refuses a library of something else", async () => {
  const libc = Deno.build.os === "darwin" ? "/usr/lib/libSystem.dylib" : "libm.so.6";
  await assert.rejects(() => Promise.resolve().then(() => Library.open(libc)), { code: "io", message: /rmx_abi/ });
});
