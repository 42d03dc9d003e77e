/**
 * Sixty schemas over all kinds that are claimed, bounded so that an answer of 1,024 tokens can hold what they take, and
 * five tools with bounded arguments.
 *
 * @module
 */

/** A JSON Schema. */
export type Schema = Record<string, unknown>;

const text = (maxLength = 24, more: object = {}): Schema => ({ type: "string", maxLength, ...more });
const list = (items: Schema, maxItems = 4, more: object = {}): Schema => ({ type: "array", items, maxItems, ...more });
/** All properties needed unless `optional` names them. */
function object(properties: Record<string, Schema>, optional: readonly string[] = [], more: object = {}): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required, additionalProperties: false, ...more };
}
const int = (minimum: number, maximum: number): Schema => ({ type: "integer", minimum, maximum });
const formats = ["date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"];
const patterns = [
  "^[A-Z]{3}-[0-9]{4}$",
  "^(red|green|blue)( (light|dark))?$",
  "^\\+?[0-9]{6,12}$",
  "^[a-z]{2,8}\\.(js|ts|py)$",
  "^#[0-9a-f]{6}$",
  "^v\\d{1,2}\\.\\d{1,2}(-rc\\d)?$",
];
const kind = (name: string, properties: Record<string, Schema>): Schema =>
  object({ kind: { const: name }, ...properties });
const tree = (leaf: Schema, maxItems: number): Schema => ({
  $defs: {
    node: object({ name: text(10), children: list({ $ref: "#/$defs/leaf" }, maxItems) }),
    leaf: object({ name: text(10), value: leaf }),
  },
  $ref: "#/$defs/node",
});

/** The schemas. */
export const SCHEMAS: readonly Schema[] = [
  ...formats.map((format) => object({ value: { type: "string", format }, note: text() })),
  ...patterns.map((pattern) => object({ code: { type: "string", pattern }, name: text() })),
  object({ name: text(), age: int(0, 120) }),
  object({ name: text(), age: int(0, 120), email: { type: "string", format: "email" } }, ["email"]),
  object({ title: text(40), tags: list(text(12), 5) }),
  object({ title: text(40), tags: list(text(12), 5, { minItems: 2 }) }),
  object({ x: { type: "number", minimum: -1, maximum: 1 }, y: { type: "number", minimum: 0, exclusiveMaximum: 10 } }),
  object({ price: { type: "number", exclusiveMinimum: 0, maximum: 999.99 }, currency: { enum: ["EUR", "USD"] } }),
  object({ temperature: { type: "number", minimum: -89.2, maximum: 56.7 }, unit: { const: "C" } }),
  object({ year: int(1900, 2100), month: int(1, 12), day: int(1, 31) }),
  object({ done: { type: "boolean" }, nothing: { type: "null" }, either: { type: ["boolean", "null"] } }),
  object({ level: { enum: ["low", "mid", "high", 0, 1, null] } }),
  object({ color: { enum: ["red", "green", "blue"] }, size: { enum: [1, 2, 3] } }),
  object({ point: { type: "array", prefixItems: [int(0, 9), int(0, 9)], items: false, minItems: 2 } }),
  object({ row: { type: "array", prefixItems: [text(8), int(0, 9)], items: int(0, 9), minItems: 2, maxItems: 5 } }),
  object({ matrix: list(list(int(0, 9), 3, { minItems: 3 }), 3, { minItems: 3 }) }),
  object({ any: { anyOf: [int(0, 9), text(8), { type: "null" }] } }),
  object({ shape: { oneOf: [kind("circle", { r: int(1, 9) }), kind("square", { a: int(1, 9) })] } }),
  object({ shapes: list({ anyOf: [kind("dot", {}), kind("line", { length: int(1, 99) })] }, 4) }),
  {
    allOf: [object({ a: int(0, 9), b: text(8) }, [], { additionalProperties: true })],
    additionalProperties: false,
    properties: { a: { minimum: 3 }, b: {} },
  },
  tree(int(0, 99), 3),
  tree(text(8), 2),
  { type: "object", additionalProperties: int(0, 99), maxProperties: 4, propertyNames: { pattern: "^[a-z]{1,8}$" } },
  {
    type: "object",
    additionalProperties: { type: "boolean" },
    minProperties: 1,
    maxProperties: 3,
    propertyNames: { maxLength: 8, minLength: 1 },
  },
  { type: "object", propertyNames: { enum: ["mon", "tue", "wed"] }, additionalProperties: text(12) },
  object({}, [], { patternProperties: { "^x-[a-z]{1,6}$": int(0, 9) }, maxProperties: 3 }),
  list(object({ id: int(1, 99), label: text(12) }), 4, { minItems: 1 }),
  list({ enum: ["a", "b", "c"] }, 8, { minItems: 3 }),
  { type: "string", maxLength: 60, minLength: 10 },
  { type: "integer", minimum: 1, maximum: 100 },
  { enum: ["yes", "no", "maybe"] },
  { const: { fixed: [1, "two", null] } },
  { anyOf: [object({ ok: { const: true } }), object({ error: text(30) })] },
  object({ user: object({ name: text(), address: object({ street: text(), city: text(), zip: text(8) }) }) }),
  object({ a: object({ b: object({ c: object({ d: object({ e: int(0, 9) }) }) }) }) }),
  object({ answer: text(80), sources: list({ type: "string", format: "uri" }, 2) }, ["sources"]),
  object({ steps: list(object({ explanation: text(60), output: text(30) }), 3), final: text(30) }),
  object({ first: text(), second: text(), third: text() }, ["first", "second", "third"]),
  object({ first: text(), second: text(), third: text() }, ["first", "second", "third"], { minProperties: 1 }),
  object({ quote: text(60), "odd name": int(0, 9), 'with "quotes"': { type: "boolean" }, "ünï": text(6) }),
  object({ lines: list(text(30, { minLength: 5 }), 3) }),
  object({ range: object({ from: { type: "string", format: "date" }, to: { type: "string", format: "date" } }) }),
  object({ score: { type: "number", minimum: 0, maximum: 1 }, verdict: { enum: ["good", "bad"] }, why: text(60) }),
  {
    $defs: { id: { type: "string", pattern: "^[a-f0-9]{8}$" } },
    ...object({ a: { $ref: "#/$defs/id" }, b: { $ref: "#/$defs/id" } }),
  },
  object({ nullable: { anyOf: [object({ v: int(0, 9) }), { type: "null" }] } }),
  object({ tool: { enum: ["search", "open"] }, arguments: object({ query: text(30), limit: int(1, 10) }, ["limit"]) }),
];

/** Tools with bounded arguments. */
export const TOOLS: readonly { name: string; parameters: Schema }[] = [
  { name: "get_weather", parameters: object({ city: text(20), unit: { enum: ["C", "F"] } }, ["unit"]) },
  { name: "add_note", parameters: object({ text: text(60), tags: list(text(8), 3) }, ["tags"]) },
  { name: "set_timer", parameters: object({ minutes: int(1, 180), label: text(16) }) },
  { name: "search_files", parameters: object({ pattern: text(30), limit: int(1, 50), hidden: { type: "boolean" } }) },
  {
    name: "book_room",
    parameters: object({
      room: { enum: ["A", "B", "C"] },
      date: { type: "string", format: "date" },
      people: int(1, 12),
    }),
  },
];
