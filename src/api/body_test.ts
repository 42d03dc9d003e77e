import assert from "node:assert/strict";
import { BODY_DEPTH_MAX, parseBody, toJsonText, toSafeName } from "./body.ts";
import { RequestError } from "./errors.ts";

function parse(text: string): unknown {
  return parseBody(new TextEncoder().encode(text));
}

function refuses(body: string | Uint8Array, code: string): void {
  assert.throws(
    () => typeof body === "string" ? parse(body) : parseBody(body),
    (error: unknown) => error instanceof RequestError && error.code === code,
    code,
  );
}

Deno.test("a body is a JSON object of well-formed text", () => {
  assert.deepEqual(parse('{"a":"\\ud83d\\ude00","b":[{"c":"\u{1f600}"}]}'), { a: "😀", b: [{ c: "😀" }] });
  assert.deepEqual(parse('\ufeff{"a":1}'), { a: 1 });
  for (const text of ["", "  ", "{", '{"a":}', "{a:1}", '{"a":1}{', "NaN"]) refuses(text, "invalid_json");
  for (const bytes of [[0xff], [0x7b, 0x22, 0xc3, 0x22, 0x7d]]) refuses(Uint8Array.from(bytes), "invalid_json");
  for (const text of ["[]", "1", "null", '"x"']) refuses(text, "invalid_request");
});

Deno.test("nesting is counted outside of strings and bounded before the parser runs", () => {
  const nested = (depth: number): string => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
  parse(nested(BODY_DEPTH_MAX));
  refuses(nested(BODY_DEPTH_MAX + 1), "request_body_too_deep");
  refuses("[".repeat(1_000_000), "request_body_too_deep");
  parse(JSON.stringify({ a: '\\"[{'.repeat(1000), b: "\\" }));
  for (const ended of ["", "\\", '"', '\\"', '"\\', '\\\\"\\']) {
    refuses(JSON.stringify({ a: ended }).slice(0, -1) + `,"b":${"[".repeat(BODY_DEPTH_MAX)}`, "request_body_too_deep");
    refuses(JSON.stringify({ a: ended }).slice(0, -2) + "[".repeat(BODY_DEPTH_MAX), "invalid_json");
  }
});

Deno.test("a lone surrogate is refused with its path, in values and in keys", () => {
  for (
    const [text, param] of [
      ['{"a":"\\ud800"}', "a"],
      ['{"a":[{"b":"x\\uDFFF"}]}', "a[0].b"],
      ['{"a":{"\\ud800":1}}', "a.<field>"],
    ] as const
  ) {
    assert.throws(() => parse(text), (error: unknown) => {
      assert.ok(error instanceof RequestError);
      assert.deepEqual([error.code, error.options.param], ["invalid_request", param]);
      return true;
    });
  }
});

Deno.test("a name is repeated only if it is plain", () => {
  assert.equal(toSafeName("top_p"), "top_p");
  for (const name of ["", "a b", "é", "a\n", "x".repeat(65)]) assert.equal(toSafeName(name), "<field>");
});

Deno.test("a part of a body is written again with numbers as they came, those beyond all numbers of JavaScript too", () => {
  for (const part of ['{"n":1e400}', '{"n":[-2.5E-400]}', '{"n":9007199254740993}']) {
    assert.equal(toJsonText(Reflect.get(Object(parse(`{"part":${part}}`)), "part")), part);
  }
});
