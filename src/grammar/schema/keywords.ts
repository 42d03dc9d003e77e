/**
 * What becomes of each keyword of a JSON Schema (2020-12, and what older drafts spell otherwise).
 *
 * A keyword that says what is valid is honoured or refused by name, never dropped without a word; one that says
 * nothing about validity has no effect. Names that JSON Schema does not have are refused, since a misspelt keyword
 * would bind nothing; those that begin with `x-` are the author's own.
 *
 * @module
 */

/** `works`: honoured; `note`: says nothing about validity; `refused`: ends the sentence "`x` is not supported: …". */
export type KeywordRule = "works" | "note" | { readonly refused: string };

const COMPARES_ITEMS = { refused: "what is written can't be compared with what was written before" };
const DEPENDS = { refused: "a part can't depend on what another part turned out to be; use `anyOf` with both cases" };

/** By name. */
const KEYWORDS: Readonly<Record<string, KeywordRule>> = {
  type: "works",
  enum: "works",
  const: "works",
  $ref: "works",
  allOf: "works",
  anyOf: "works",
  oneOf: "works",
  properties: "works",
  required: "works",
  additionalProperties: "works",
  patternProperties: "works",
  propertyNames: "works",
  minProperties: "works",
  maxProperties: "works",
  items: "works",
  prefixItems: "works",
  additionalItems: "works", // draft 7: behind a list of items
  minItems: "works",
  maxItems: "works",
  minLength: "works",
  maxLength: "works",
  pattern: "works",
  format: "works",
  minimum: "works",
  maximum: "works",
  exclusiveMinimum: "works",
  exclusiveMaximum: "works",

  $schema: "note",
  $id: "note",
  $comment: "note",
  $defs: "note",
  definitions: "note",
  $vocabulary: "note",
  $anchor: "note",
  title: "note",
  description: "note",
  default: "note",
  examples: "note",
  example: "note", // OpenAPI
  deprecated: "note",
  readOnly: "note",
  writeOnly: "note",
  contentEncoding: "note",
  contentMediaType: "note",
  contentSchema: "note",
  discriminator: "note", // OpenAPI
  externalDocs: "note", // OpenAPI
  xml: "note", // OpenAPI

  multipleOf: { refused: "multiples can't be told by their digits" },
  uniqueItems: COMPARES_ITEMS,
  contains: COMPARES_ITEMS,
  minContains: COMPARES_ITEMS,
  maxContains: COMPARES_ITEMS,
  not: { refused: "what a value must not be can't be written as what it may be" },
  if: DEPENDS,
  then: DEPENDS,
  else: DEPENDS,
  dependentRequired: DEPENDS,
  dependentSchemas: DEPENDS,
  dependencies: DEPENDS,
  unevaluatedProperties: { refused: "use `additionalProperties`" },
  unevaluatedItems: { refused: "use `items`" },
  $dynamicRef: { refused: "use `$ref`" },
  $dynamicAnchor: { refused: "use `$ref`" },
  $recursiveRef: { refused: "use `$ref`" },
  $recursiveAnchor: { refused: "use `$ref`" },
  nullable: { refused: 'add "null" to `type`' }, // OpenAPI 3.0
};

/** Values with which a refused keyword says nothing. */
const SAYS_NOTHING: Readonly<Record<string, readonly unknown[]>> = {
  uniqueItems: [false],
  minContains: [0],
  nullable: [false],
  unevaluatedProperties: [true],
  unevaluatedItems: [true],
};

/** What becomes of a keyword with a value. */
export function ruleOf(keyword: string, value: unknown): KeywordRule {
  const rule = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
  if (rule !== undefined) return SAYS_NOTHING[keyword]?.includes(value) ? "note" : rule;
  return keyword.startsWith("x-") ? "note" : { refused: "JSON Schema has no such keyword" };
}

/** Every keyword that is refused; tests go through them. */
export const REFUSED_KEYWORDS: readonly string[] = Object.entries(KEYWORDS)
  .filter(([, rule]) => typeof rule === "object").map(([keyword]) => keyword);

/** Every keyword that works. */
export const WORKING_KEYWORDS: readonly string[] = Object.entries(KEYWORDS)
  .filter(([, rule]) => rule === "works").map(([keyword]) => keyword);
