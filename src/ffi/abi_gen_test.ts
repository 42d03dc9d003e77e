/** The header's parser, and that the committed table is what it gives. */
import assert from "node:assert/strict";
import { HEADER_URL, parseAbi, renderAbi, TABLE_URL } from "./abi_gen.ts";

const header = Deno.readTextFileSync(HEADER_URL);

Deno.test("abi.gen.ts is what rmx.h gives", () => {
  assert.equal(Deno.readTextFileSync(TABLE_URL), renderAbi(parseAbi(header)), "run `deno task abi:gen`");
});

Deno.test("parseAbi() reads every function that the header declares", () => {
  const declared = [...header.matchAll(/\b(rmx_\w+)\(/g)].map((match) => match[1]);
  assert.ok(declared.length > 10);
  assert.deepEqual(Object.keys(parseAbi(header).functions), declared);
});

Deno.test("parseAbi() turns the header's blocking marks into nonblocking bindings", () => {
  const { functions } = parseAbi(header);
  const nonblocking = Object.keys(functions).filter((name) => functions[name]!.nonblocking);
  assert.deepEqual(nonblocking, ["rmx_selftest", "rmx_engine_wait", "rmx_engine_close", "rmx_model_estimate"]);
});

Deno.test("parseAbi() gives the sizes that the header's comments state", () => {
  const stated = [...header.matchAll(/typedef struct \{ \/\* (\d+) bytes[\s\S]*?\} (rmx_\w+);/g)]
    .map(([, size, name]) => [name, Number(size)]);
  const { structs } = parseAbi(header);
  assert.deepEqual(Object.entries(structs).map(([name, { size }]) => [name, size]), stated);
});

Deno.test("parseAbi() pads fields and the struct's end to their natural alignment", () => {
  const { structs } = parseAbi("typedef struct { uint8_t a; uint32_t b[2]; uint64_t c; uint16_t d; } rmx_x;");
  assert.deepEqual(structs, {
    "rmx_x": {
      size: 32,
      fields: {
        a: { offset: 0, type: "u8" },
        b: { offset: 4, type: "u32", count: 2 },
        c: { offset: 16, type: "u64" },
        d: { offset: 24, type: "u16" },
      },
    },
  });
});

const OUTSIDE: readonly (readonly [string, RegExp])[] = [
  ["RMX_API RMX_FAST double rmx_x(void);", /Cannot map the C type "double"/],
  ["RMX_API RMX_FAST uint32_t rmx_x(long y);", /Cannot map the C type "long"/],
  ["RMX_API RMX_FAST uint32_t rmx_x(uint8_t **y);", /Cannot read the parameter "uint8_t \*\*y"/],
  ["RMX_API uint32_t rmx_x(void);", /Cannot read "RMX_API uint32_t rmx_x\(void\)"/],
  ["typedef struct { uint8_t *p; } rmx_x;", /Cannot read the field "uint8_t \*p"/],
  ["enum rmx_x { RMX_A, RMX_B = 1 };", /Cannot read the enumerator "RMX_A"/],
  ["typedef struct { uint8_t p; } rmx_x", /ends inside a declaration/],
];

for (const [source, message] of OUTSIDE) {
  Deno.test(`parseAbi() refuses ${source}`, () => {
    assert.throws(() => parseAbi(source), { name: "SyntaxError", message });
  });
}
