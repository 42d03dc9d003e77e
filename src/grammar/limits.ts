/**
 * Every bound of constraints, with unit and reason.
 *
 * @module
 */

/** UTF-16 units of a schema as JSON, or of a grammar's source. Sixty tools of real agents have 62 Ki. */
export const SOURCE_CHARS_MAX = 1024 * 1024;

/** Nesting of a schema, counted in subschemas. Real ones stay under 20. */
export const SCHEMA_DEPTH_MAX = 64;

/** Nesting of groups in a pattern or in a grammar's source. Written ones stay under 10. */
export const GROUPS_DEPTH_MAX = 64;

/** Steps a character of telling whether a pattern fits a text of the schema (a value of `enum`, a name). */
export const FIT_STEPS_A_CHAR_MAX = 1000;

/**
 * Steps of telling, for all of one schema, which texts fit its patterns and which of its branches lie apart: about
 * 20 ns each. A union of 200 objects takes half of them.
 */
export const SCHEMA_STEPS_MAX = 30_000_000;

/** Steps that the comparison of two branches counts as. */
export const COMPARISON_STEPS = 250;

/** Expressions of one grammar: what 1 MiB of schema comes to, with room; more is a product of unions. */
export const EXPRESSIONS_MAX = 400_000;

/** Ways in which the unions beside one another of one subschema may be combined. */
export const COMBINATIONS_MAX = 256;

/** Largest repetition count of a pattern, a grammar or `maxLength`, `maxItems` … */
export const REPEAT_MAX = 1_000_000;

/** Digits of an integer: JavaScript and most readers of JSON keep 15 exactly. */
export const INTEGER_DIGITS_MAX = 15;

/** Digits behind the point. */
export const FRACTION_DIGITS_MAX = 15;

/** White space in a row inside JSON: a line break and an indent. */
export const INDENT_MAX = 24;

/** Values of `enum`, or entries of a choice. */
export const ENUM_MAX = 10_000;
