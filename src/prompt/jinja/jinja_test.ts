/**
 * What templates can't do. What they can is compared with Jinja itself in tests/golden/templates.
 *
 * @module
 */
import assert from "node:assert/strict";
import { JinjaError } from "./errors.ts";
import { parseJson, toValue } from "./json.ts";
import { JinjaTemplate } from "./template.ts";
import { toJson } from "./text.ts";
import type { Value } from "./values.ts";

const LIMITS = { steps: 10_000, characters: 10_000 };

/** Source and what the error says. */
const BOUNDED: [string, string, RegExp][] = [
  ["steps", "{% for a in range(200) %}{% for b in range(200) %}{% endfor %}{% endfor %}", /more than 10000 steps/],
  ["characters", "{% for a in range(50) %}{{ 'x' * 1000 }}{% endfor %}", /writes more than 10000 characters/],
  ["a text's repetition", "{{ 'x' * 10**9 }}", /a repetition may give/],
  ["a list's repetition", "{{ [1] * 10**9 }}", /a repetition may give/],
  ["powers", "{{ 10 ** 10000 }}", /the number is too large/],
  [
    "products",
    "{% set n = namespace(x=9) %}{% for i in range(99) %}{% set n.x = n.x * n.x %}{% endfor %}",
    /too large/,
  ],
  [
    "lists",
    "{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}",
    /a list may/,
  ],
  [
    "texts",
    "{% set n = namespace(x='a') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
    /A text has/,
  ],
  ["ranges", "{{ range(10**6) }}", /Range too big/],
  ["padding", "{{ 'x'.ljust(10**9) }}", /can't be padded/],
  ["macros in macros", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", /Macros nest more than/],
  ["parentheses", `{{ ${"(".repeat(500)}1${")".repeat(500)} }}`, /nests more than/],
  ["signs", `{{ ${"- ".repeat(500)}1 }}`, /nests more than/],
  ["blocks", "{% if 1 %}".repeat(500) + "{% endif %}".repeat(500), /nests more than/],
  ["a loop's own recursion", "{% for x in [1] recursive %}{{ loop([]) }}{% endfor %}", /not supported/],
];

for (const [what, source, message] of BOUNDED) {
  Deno.test(`A template is bounded in ${what}`, () => {
    assert.throws(() => render(source), (error) => {
      assert.ok(error instanceof JinjaError, String(error));
      assert.match(error.message, message);
      return true;
    });
  });
}

Deno.test("Nothing of the host can be reached from a template", () => {
  for (const name of ["constructor", "__proto__", "prototype", "toString", "valueOf", "hasOwnProperty", "entries"]) {
    const source = `{{ (s.${name} is defined, d.${name} is defined, l.${name} is defined, d['${name}'] is defined, ` +
      `${name} is defined, loop is defined) }}`;
    const variables = { s: "text", d: {}, l: [1] };
    assert.equal(render(source, variables), "(False, False, False, False, False, False)", name);
  }
  assert.throws(() => render("{{ 'x' | constructor }}"), /No filter named/);
  assert.throws(() => render("{{ 'x' is constructor }}"), /No test named/);
  assert.equal(render("{{ d }}", { d: JSON.parse('{"__proto__": 1}') }), "{'__proto__': 1}");
});

Deno.test("An error that the template raises is told from one that happens", () => {
  const raised = (source: string): boolean => {
    try {
      render(source);
    } catch (error) {
      return error instanceof JinjaError && error.raised;
    }
    throw new Error("nothing was thrown");
  };
  assert.ok(raised("{{ raise_exception('no') }}"));
  assert.ok(!raised("{{ missing.x }}"));
});

Deno.test("A template knows all text that stands in it", () => {
  const literals = new JinjaTemplate("<a>{{ '<b>' }}{% if x == '<c>' %}{{ ['<d>'] }}{% endif %}{# <e> #}").literals();
  for (const text of ["<a>", "<b>", "<c>", "<d>"]) assert.ok(literals.includes(text), text);
  assert.ok(!literals.includes("<e>"));
});

/** JSON that comes back as it is written by Python. */
const JSON_TEXTS = [
  '{"a": 1, "b": 1.0, "c": 1e-07, "d": 12345678901234567890, "e": -0.5, "f": [true, false, null], "g": {}}',
  '{"10": "integer-like keys keep their place", "2": "", "__proto__": 1}',
  '["\\"\\\\\\n\\t\\u0007", "é🙂", []]',
];

for (const text of JSON_TEXTS) {
  Deno.test(`JSON keeps numbers and order: ${text}`, () => assert.equal(toJson(parseJson(text)), text));
}

for (const text of ["", "{", "[1,]", '{"a"}', "01", "1.", "+1", "nul", '"\n"', '"\\x"', "[1] 2", "NaN", "'a'"]) {
  Deno.test(`No JSON: ${JSON.stringify(text)}`, () => assert.throws(() => parseJson(text), SyntaxError));
}

Deno.test("JSON that nests too deep is refused and does not end the worker", () => {
  assert.throws(() => parseJson("[".repeat(100_000)), /levels deep/);
});

function render(source: string, variables: Record<string, unknown> = {}): string {
  const values = new Map(Object.entries(variables).map(([name, value]): [string, Value] => [name, toValue(value)]));
  return new JinjaTemplate(source).render(values, () => new Date(0), LIMITS);
}
