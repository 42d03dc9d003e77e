/** Schemas as grammars: whatever a walk through one writes is valid in the eyes of ajv, and valid texts fit. */
import assert from "node:assert/strict";
import { judgeOf } from "../../../tests/structure/judge.ts";
import { randomFrom } from "../../../tests/golden/tokens/texts.ts";
import { accepts, statesOf, walkAtRandom } from "../../../tests/support/random_walk.ts";
import { GrammarError } from "../errors.ts";
import { compileSchema } from "./compile.ts";
import { REFUSED_FORMATS } from "./formats.ts";
import { REFUSED_KEYWORDS, WORKING_KEYWORDS } from "./keywords.ts";

const WALKS = 40;
const LIST = {
  $defs: {
    node: {
      type: "object",
      properties: { v: { type: "integer" }, next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } },
      required: ["v", "next"],
      additionalProperties: false,
    },
  },
  $ref: "#/$defs/node",
};
const KIND = (kind: string, more: object): object => ({
  type: "object",
  properties: { kind: { const: kind }, ...more },
  required: ["kind", ...Object.keys(more)],
});
const AB = { a: { type: "integer" }, ab: { type: "integer" }, "": { type: "integer" }, 'q"': { type: "integer" } };

/** Each with texts that must fit. */
const CASES: readonly (readonly [schema: unknown, ...texts: string[]])[] = [
  [true, '{"a": [1, 2.5e3, -0.1], "b": {"c": null}}', '[\n  {\n    "x": "\\u00e9\\n"\n  }\n]'],
  [{ type: "object" }, "{}", '{"a":{"b":[]}}'],
  [{ type: ["string", "null"] }, '"x"', "null"],
  [{ type: "string", minLength: 2, maxLength: 5 }, '"ab"', '"a\\n\\u00e9"', '"😀😀😀😀😀"'],
  [{ type: "string", maxLength: 100_000 }, `"${"x".repeat(5000)}"`],
  [{ type: "string", pattern: "^[A-Z][a-z]+(-[0-9]{2,4})?$" }, '"Ab-123"'],
  [{ type: "string", pattern: "b" }, '"abc"', '"b"'],
  [{ type: "string", pattern: '^[^"\\\\x]*$', maxLength: 4 }, '"abcd"'],
  [{ type: "string", pattern: "^[A-Z][a-z]*$", minLength: 3, maxLength: 4 }, '"Abc"'],
  [{ type: "string", pattern: "^\\/[a-z\\n]+$" }, '"/a\\nb"'],
  [{ type: "string", pattern: "^(?:a|b){2,}\\s\\d\\W$" }, '"ab 1-"'],
  [{ type: "string", format: "date" }, '"2026-12-01"'],
  [{ type: "string", format: "time" }, '"12:00:59.5Z"', '"12:00:00+01:00"'],
  [{ type: "string", format: "date-time" }, '"2026-12-01T12:00:00Z"'],
  [{ type: "string", format: "duration" }, '"P1DT2H"', '"P2W"'],
  [{ type: "string", format: "email" }, '"a.b+c@mail.example.org"'],
  [{ type: "string", format: "hostname" }, '"a-b.example"'],
  [{ type: "string", format: "ipv4" }, '"192.168.0.1"'],
  [{ type: "string", format: "ipv6" }, '"fe80::1"', '"::1"'],
  [{ type: "string", format: "uri" }, '"https://example.org/a/b?c=d#e"'],
  [{ type: "string", format: "uuid" }, '"123e4567-e89b-12d3-a456-426614174000"'],
  [{ type: "string", format: "int32-or-so" }, '"anything"'],
  [{ type: "integer", minimum: -17, maximum: 1234 }, "-17", "0", "999", "1234"],
  [{ type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 99.5 }, "1", "99"],
  [{ type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 }, "123456789012345"],
  [{ type: "integer", maximum: -5 }, "-5", "-10"],
  [{ type: "number", minimum: 0, maximum: 1 }, "0", "1", "0.5", "1.0"],
  [{ type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }, "0.25", "0.001"],
  [{ type: "number", minimum: -1.5, maximum: 2.25 }, "-1.5", "-1.49", "2.25", "2.249", "0"],
  [{ type: "number", minimum: 3.14159 }, "3.14159", "3.2", "4", "123456789"],
  [{ type: "number", exclusiveMaximum: -0.001 }, "-0.0011", "-1", "-12.5"],
  [{ type: "number", minimum: 1e-7, maximum: 1e-6 }, "0.0000005"],
  [{ type: "number", exclusiveMinimum: 99.5, maximum: 100 }, "99.51", "100"],
  [{ enum: ["a", "b", 1, null, { x: [1, 2] }] }, '"a"', "1", "null", '{"x": [1, 2]}'],
  [{ const: { a: 'é"\n' } }, '{"a":"é\\"\\n"}'],
  [{ type: "string", enum: ["x", "yy", 3], minLength: 2 }, '"yy"'],
  [
    { type: "object", properties: { a: {}, b: { type: "string" } }, required: ["b"], additionalProperties: false },
    '{"b": ""}',
    '{"a": [], "b": ""}',
  ],
  [{ type: "object", properties: AB, additionalProperties: { type: "string" } }, '{"a": 1, "abc": "x"}', '{"b": ""}'],
  [
    { type: "object", properties: { a: {} }, required: ["z", "a"], additionalProperties: { type: "null" } },
    '{"a": 1, "z": null}',
  ],
  [
    { type: "object", additionalProperties: { type: "integer" }, minProperties: 1, maxProperties: 3 },
    '{"a": 1}',
    '{"a": 1, "b": 2, "c": 3}',
  ],
  [{ type: "object", properties: { a: {}, b: {} }, minProperties: 1, additionalProperties: false }, '{"b": 1}'],
  [{ type: "object", patternProperties: { "^x-": { type: "integer" } }, additionalProperties: false }, '{"x-a": 1}'],
  [{ type: "object", propertyNames: { pattern: "^[a-z]{1,3}$" } }, '{"abc": 1}'],
  [{ type: "object", propertyNames: { enum: ["k1", "k2"] }, required: ["k1"] }, '{"k1": 1, "k2": 2}'],
  [{ type: "array", items: { type: "integer" }, minItems: 2, maxItems: 4 }, "[1, 2]", "[1,2,3,4]"],
  [{ type: "array", prefixItems: [{ type: "integer" }, { type: "string" }], items: false }, "[]", '[1, "a"]'],
  [
    {
      type: "array",
      prefixItems: [{ type: "integer" }, { type: "string" }],
      items: { type: "null" },
      minItems: 3,
      maxItems: 5,
    },
    '[1, "", null]',
  ],
  [{ type: "array", prefixItems: [{ type: "integer" }, {}], minItems: 1, maxItems: 1 }, "[1]"],
  [{ type: "array", items: false }, "[]"],
  [{ anyOf: [{ type: "integer" }, { type: "string", maxLength: 3 }] }, "1", '"abc"'],
  [{ type: "object", properties: { a: {}, b: {} }, anyOf: [{ required: ["a"] }, { required: ["b"] }] }, '{"b": 1}'],
  [
    { oneOf: [KIND("a", { x: { type: "integer" } }), KIND("b", { y: { type: "string" } })] },
    '{"kind": "b", "y": ""}',
  ],
  [
    { allOf: [KIND("a", { x: { minimum: 3 } }), { properties: { x: { type: "integer" } } }] },
    '{"kind": "a", "x": 3}',
  ],
  [LIST, '{"v": 1, "next": {"v": 2, "next": null}}'],
  [
    {
      $defs: { j: { anyOf: [{ type: "string" }, { type: "array", items: { $ref: "#/$defs/j" } }] } },
      $ref: "#/$defs/j",
    },
    '[[], ["a"]]',
  ],
  [{ type: "object", properties: { child: { $ref: "#" } }, additionalProperties: false }, '{"child": {"child": {}}}'],
  [{ $ref: "#/$defs/a~1b", minimum: 3, $defs: { "a/b": { type: "integer" } } }, "3"],
];

Deno.test("whatever a walk through a schema's grammar writes is valid, and valid texts fit", () => {
  const random = randomFrom(20261201);
  for (const [schema, ...texts] of CASES) {
    const states = statesOf(compileSchema(schema));
    const judge = judgeOf(schema);
    let ended = 0;
    for (let walk = 0; walk < WALKS; walk++) {
      const text = walkAtRandom(states, random);
      if (text === undefined) continue;
      ended++;
      assert.equal(judge(text), undefined, `${JSON.stringify(schema)} wrote ${text}`);
    }
    assert.ok(ended > WALKS / 2, `${JSON.stringify(schema)}: ${ended} walks ended`);
    for (const text of texts) {
      assert.equal(judge(text), undefined, `the case ${text} of ${JSON.stringify(schema)}`);
      assert.ok(accepts(states, text), `${JSON.stringify(schema)} does not take ${text}`);
    }
  }
});

Deno.test("every keyword that works stands in a case", () => {
  const source = JSON.stringify(CASES.map(([schema]) => schema));
  const missing = WORKING_KEYWORDS.filter((keyword) => !source.includes(`"${keyword}":`));
  // Draft 7's spelling has a test of its own.
  assert.deepEqual(missing, ["additionalItems"]);
});

Deno.test("draft 7's list of items is taken as prefixItems", () => {
  const states = statesOf(compileSchema({ type: "array", items: [{ const: 1 }], additionalItems: { const: 2 } }));
  assert.ok(accepts(states, "[1, 2, 2]"));
  assert.ok(!accepts(states, "[2]"));
  assert.ok(!accepts(states, "[1, 1]"));
});

/** What a schema is refused with. */
function refusal(schema: unknown): GrammarError {
  try {
    compileSchema(schema);
  } catch (error) {
    assert.ok(error instanceof GrammarError, String(error));
    return error;
  }
  assert.fail(`${JSON.stringify(schema)} was not refused`);
}

Deno.test("every keyword that can't be honoured is refused by name and place", () => {
  for (const keyword of [...REFUSED_KEYWORDS, "minLenght"]) {
    const error = refusal({ type: "object", properties: { "a/b": { [keyword]: {} } } });
    assert.equal(error.keyword, keyword);
    assert.equal(error.path, "#/properties/a~1b");
    assert.ok(error.message.startsWith(`\`${keyword}\` at #/properties/a~1b is not supported: `), error.message);
  }
  for (const format of REFUSED_FORMATS) assert.equal(refusal({ items: { type: "string", format } }).keyword, "format");
});

Deno.test("what two keywords say together is honoured or refused", () => {
  const cases: [schema: unknown, keyword: string][] = [
    [{ oneOf: [{ type: "integer" }, { type: "number" }] }, "oneOf"],
    [{ oneOf: [{ type: "object" }, KIND("a", {})] }, "oneOf"],
    [{ type: "string", pattern: "a+b+", maxLength: 3 }, "maxLength"],
    [{ type: "string", pattern: "^a", format: "date" }, "format"],
    [{ type: "string", pattern: "(?=a)b" }, "pattern"],
    [{ type: "string", pattern: "a\\b" }, "pattern"],
    [{ type: "object", patternProperties: { a: {} } }, "patternProperties"],
    [{ type: "object", patternProperties: { a: {}, b: {} }, additionalProperties: false }, "patternProperties"],
    [{ type: "object", properties: { a: {} }, maxProperties: 3 }, "maxProperties"],
    [{ type: "object", minProperties: 2 }, "minProperties"],
    [{ $ref: "http://example.org/x" }, "$ref"],
    [{ $ref: "#/$defs/none" }, "$ref"],
    [{ $ref: "#" }, "$ref"],
    [{ allOf: [{ $ref: "#" }] }, "$ref"],
    [{ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }, "$ref"],
    [{ type: "strin" }, "type"],
    [{ minimum: "1" }, "minimum"],
    [{ required: "a" }, "required"],
    [{ properties: [] }, "properties"],
  ];
  for (const [schema, keyword] of cases) assert.equal(refusal(schema).keyword, keyword, JSON.stringify(schema));
});

Deno.test("a schema that no value fits is refused as such", () => {
  const never = [
    false,
    { type: "integer", minimum: 3, maximum: 2 },
    { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] },
    { type: "object", required: ["a"], additionalProperties: false },
    { enum: [1], type: "string" },
    { allOf: [{ type: "string" }, { type: "null" }] },
    { type: "array", items: false, minItems: 1 },
  ];
  for (const schema of never) assert.match(refusal(schema).message, /No JSON value fits/, JSON.stringify(schema));
});

Deno.test("deep, wide and endless schemas end with a clear word", () => {
  let deep: object = { type: "string" };
  for (let level = 0; level < 70; level++) deep = { type: "object", properties: { a: deep } };
  assert.match(refusal(deep).message, /nested deeper than 64/);
  const union = { anyOf: Array.from({ length: 30 }, (_, index) => ({ minimum: index })) };
  assert.match(refusal({ allOf: [union, union, union].map((one) => ({ ...one })) }).message, /more than 256 ways/);
  assert.match(
    refusal({ $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" }).message,
    /refers|itself/,
  );
  assert.match(refusal({ description: "x".repeat(2 ** 20) }).message, /at most 1048576/);
});

Deno.test("left-out keywords are told, and all others still hold", () => {
  const dropped: string[] = [];
  const schema = { type: "array", uniqueItems: true, items: { type: "integer", multipleOf: 3 }, maxItems: 2 };
  const states = statesOf(compileSchema(schema, { onDropped: (keyword, path) => dropped.push(`${path} ${keyword}`) }));
  assert.deepEqual(dropped, ["# uniqueItems", "#/items multipleOf"]);
  assert.ok(accepts(states, "[1, 1]"));
  assert.ok(!accepts(states, "[1, 1, 1]"));
});

Deno.test("the work of one schema is bounded, however it is spread", () => {
  const branches = (count: number): object => ({
    oneOf: Array.from({ length: count }, (_, at) => ({
      type: "object",
      properties: { kind: { const: `k${at}` } },
      required: ["kind"],
      additionalProperties: false,
    })),
  });
  compileSchema(branches(100));
  const many = Array.from({ length: 10_000 }, (_, at) => `value ${at}`);
  compileSchema({ enum: many });
  const twice = { allOf: [{ enum: many }, { enum: many.toReversed() }] };
  const values = Array.from({ length: 900 }, (_, at) => `${"x".repeat(900)}${at}`);
  for (const schema of [branches(2000), { enum: values, pattern: "^((((v|x)+)+)+[0-9]*)+$" }, twice]) {
    assert.throws(() => compileSchema(schema), {
      name: "GrammarError",
      message: /too long to work out, over \d+ steps/,
    });
  }
});
