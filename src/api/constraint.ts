// deno-lint-ignore-file camelcase -- the wires' own names
/**
 * What binds an answer's text: `response_format`, and the fields by which other servers' clients say the same.
 *
 * - OpenAI: `response_format` of type json_schema or json_object.
 * - vLLM: `structured_outputs`, and before it `guided_json`, `guided_regex`, `guided_choice`, `guided_grammar`.
 * - llama.cpp: `json_schema`, `grammar`, and a `schema` inside a json_object format.
 *
 * `strict` or not makes no difference: what is asked for is kept, or refused by name.
 *
 * @module
 */
import { z } from "zod";
import { toGrammar } from "../grammar/ebnf.ts";
import { GrammarError } from "../grammar/errors.ts";
import { choice, type Grammar, text } from "../grammar/expr.ts";
import { ENUM_MAX, SOURCE_CHARS_MAX } from "../grammar/limits.ts";
import { parseRegex } from "../grammar/regex_parser.ts";
import { anyObject, compileSchema } from "../grammar/schema/compile.ts";
import { type ErrorCode, RequestError } from "./errors.ts";
import { type FieldTable, type IgnoredFields, LISTED, sortFields, WORKS } from "./fields.ts";
import { parseWith } from "./schema.ts";

/** Kinds, as a watcher is told them. */
export type ConstraintKind = "json_schema" | "json_object" | "regex" | "grammar" | "choice";

/** What an answer's text is bound to. */
export interface Constraint {
  /** Which. */
  kind: ConstraintKind;
  /** What may be written. */
  grammar: Grammar;
  /** Field that asked for it. */
  param: string;
}

/** The fields, in a body. */
export const CONSTRAINT_SHAPE = {
  response_format: z.unknown().optional(),
  guided_json: z.unknown().optional(),
  guided_regex: z.unknown().optional(),
  guided_choice: z.unknown().optional(),
  guided_grammar: z.unknown().optional(),
  structured_outputs: z.unknown().optional(),
  json_schema: z.unknown().optional(),
  grammar: z.unknown().optional(),
} as const;

/** What becomes of them. */
export const CONSTRAINT_FIELDS: FieldTable = {
  ...Object.fromEntries(Object.keys(CONSTRAINT_SHAPE).map((name) => [name, WORKS])),
  guided_decoding_backend: LISTED,
  guided_whitespace_pattern: {
    rule: "refused",
    why: "white space is at most a blank or a line break with its indent here",
  },
};

const FORMAT_FIELDS: FieldTable = { type: WORKS, json_schema: WORKS, schema: WORKS, strict: WORKS, name: LISTED };
const SCHEMA_FIELDS: FieldTable = { schema: WORKS, strict: WORKS, name: WORKS, description: WORKS };
const STRUCTURED_FIELDS: FieldTable = {
  json: WORKS,
  regex: WORKS,
  choice: WORKS,
  grammar: WORKS,
  json_object: WORKS,
  disable_fallback: LISTED,
  structural_tag: { rule: "refused", why: "of the kinds, json, regex, choice, grammar and json_object are known" },
  whitespace_pattern: { rule: "refused", why: "white space is at most a blank or a line break with its indent here" },
};

/** The constraint of a body, if it has one. @throws {RequestError} If it can't be honoured, or there are two. */
export function toConstraint(
  fields: Readonly<Record<string, unknown>>,
  ignored: IgnoredFields,
): Constraint | undefined {
  const found = Object.keys(CONSTRAINT_SHAPE).flatMap((name) => {
    const value = fields[name];
    return value === undefined ? [] : readField(name, value, ignored) ?? [];
  });
  const [first, second] = found;
  if (second === undefined || first === undefined) return first;
  throw new RequestError(
    "unsupported_combination",
    `\`${first.param}\` and \`${second.param}\` both bind the answer: send one of the two.`,
    { param: second.param },
  );
}

function readField(name: string, value: unknown, ignored: IgnoredFields): Constraint | undefined {
  switch (name) {
    case "response_format":
      return readFormat(value, ignored);
    case "structured_outputs":
      return readStructured(value, ignored);
    case "guided_json":
      return bySchema(parseIfText(value, name), name);
    case "json_schema":
      return Object.keys(Object(value)).length === 0 ? undefined : bySchema(value, name);
    case "guided_regex":
      return byRegex(value, name);
    case "guided_choice":
      return byChoice(value, name);
    default:
      return value === "" ? undefined : byGrammar(value, name);
  }
}

function readFormat(value: unknown, ignored: IgnoredFields): Constraint | undefined {
  const param = "response_format";
  const Format = z.looseObject({
    type: z.enum(["text", "json_object", "json_schema"], "expected text, json_object or json_schema"),
    json_schema: z.looseObject({}, "expected an object with the schema").optional(),
  });
  const object = parseWith(z.looseObject({}, "expected an object with a type"), value, param);
  const format = parseWith(Format, sortFields(FORMAT_FIELDS, object, ignored, param), param);
  if (format.type === "text") return undefined;
  if (format.type === "json_object") {
    if (format.schema !== undefined) return bySchema(format.schema, `${param}.schema`);
    return { kind: "json_object", grammar: anyObject(), param };
  }
  const nested = format.json_schema;
  const inner = nested && sortFields(SCHEMA_FIELDS, nested, ignored, `${param}.json_schema`);
  const schema = inner?.schema ?? format.schema;
  if (schema !== undefined) {
    return bySchema(schema, inner?.schema === undefined ? `${param}.schema` : `${param}.json_schema.schema`);
  }
  const isStrict = format.strict === true || inner?.strict === true;
  const code = isStrict ? "strict_schema_required" : "invalid_response_format_schema";
  const message = `\`${param}.json_schema.schema\` is missing: expected a JSON Schema.`;
  throw new RequestError(code, message, { param: `${param}.json_schema.schema` });
}

function readStructured(value: unknown, ignored: IgnoredFields): Constraint | undefined {
  const param = "structured_outputs";
  const object = parseWith(z.looseObject({}, "expected an object"), value, param);
  const fields = sortFields(STRUCTURED_FIELDS, object, ignored, param);
  if (fields.json_object === false) delete fields.json_object;
  const names = Object.keys(fields);
  const [name] = names;
  if (names.length > 1) {
    const message = `\`${param}\` binds the answer by ${names.join(" and ")}: send one of them.`;
    throw new RequestError("unsupported_combination", message, { param });
  }
  switch (name) {
    case undefined:
      return undefined;
    case "json":
      return bySchema(parseIfText(fields.json, `${param}.json`), `${param}.json`);
    case "regex":
      return byRegex(fields.regex, `${param}.regex`);
    case "choice":
      return byChoice(fields.choice, `${param}.choice`);
    case "grammar":
      return byGrammar(fields.grammar, `${param}.grammar`);
    default:
      parseWith(z.literal(true, "expected true or false"), fields.json_object, `${param}.json_object`);
      return { kind: "json_object", grammar: anyObject(), param };
  }
}

/** vLLM's clients may send a schema as JSON in a string. */
function parseIfText(value: unknown, param: string): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    const message = `\`${param}\` is malformed: expected a JSON Schema, or one as JSON in a string.`;
    throw new RequestError("invalid_response_format_schema", message, { param });
  }
}

/** An answer that is JSON of a schema. @param param Where the schema is. @throws {RequestError} If it can't be kept. */
export function bySchema(schema: unknown, param: string): Constraint {
  return byGrammarOf("json_schema", "invalid_response_format_schema", param, () => compileSchema(schema));
}

function byRegex(value: unknown, param: string): Constraint {
  const Pattern = z.string("expected a regular expression").max(SOURCE_CHARS_MAX);
  const pattern = parseWith(Pattern, value, param);
  return byGrammarOf("regex", "invalid_grammar", param, () => ({
    rules: new Map([["root", parseRegex(pattern, true)]]),
    root: "root",
  }));
}

function byChoice(value: unknown, param: string): Constraint {
  const Choices = z.array(z.string(), "expected a list of strings").min(1, "expected at least one string")
    .max(ENUM_MAX, `expected at most ${ENUM_MAX} strings`);
  const choices = parseWith(Choices, value, param);
  return { kind: "choice", grammar: { rules: new Map([["root", choice(...choices.map(text))]]), root: "root" }, param };
}

function byGrammar(value: unknown, param: string): Constraint {
  const source = parseWith(z.string("expected a grammar").max(SOURCE_CHARS_MAX), value, param);
  return byGrammarOf("grammar", "invalid_grammar", param, () => toGrammar(source));
}

function byGrammarOf(kind: ConstraintKind, code: ErrorCode, param: string, make: () => Grammar): Constraint {
  try {
    return { kind, grammar: make(), param };
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error;
    throw toConstraintError(error, code, param);
  }
}

/** What a client is told of a constraint that can't be honoured. */
export function toConstraintError(error: GrammarError, code: ErrorCode, param: string): RequestError {
  return new RequestError(code, `\`${param}\` can't be honoured: ${error.message}`, { param });
}
