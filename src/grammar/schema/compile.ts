/**
 * JSON Schema → grammar. What it claims is exact: every text that fits is valid JSON that the schema takes. Not every
 * valid value can be written: properties keep their order, numbers and white space are bounded (see json.ts).
 *
 * @module
 */
import { GrammarError } from "../errors.ts";
import { choice, EMPTY, type Expr, type Grammar, NEVER, rule, sequence } from "../expr.ts";
import { arrayOf, COMMA, JSON_RULES, jsonRules, repeatWithCommas, valueOf } from "../json.ts";
import { fitsText } from "../fits_text.ts";
import { EXPRESSIONS_MAX, SCHEMA_STEPS_MAX, SOURCE_CHARS_MAX } from "../limits.ts";
import { parseRegex } from "../regex_parser.ts";
import { prune } from "../prune.ts";
import { integersBetween, numbersBetween } from "../ranges.ts";
import { hasShape } from "./apart.ts";
import { expand } from "./expand.ts";
import { objectExpr, type SchemaRules } from "./objects.ts";
import { type Parameter, parametersOf } from "./parameters.ts";
import { escapePointer } from "./read.ts";
import { type Part, type Parts, type Schema, type Shape, type TypeName } from "./shape.ts";
import { stringExpr } from "./strings.ts";

/** How a schema is compiled. */
export interface SchemaOptions {
  /** Gets each keyword that can't be honoured and is left out; absent: such a keyword is an error. */
  onDropped?: (keyword: string, path: string) => void;
}

/** Rules with a root that fits what a schema takes. @throws {GrammarError} Naming keyword and path. */
export function compileSchema(schema: unknown, options: SchemaOptions = {}): Grammar {
  const isObject = typeof schema === "object" && schema !== null && !Array.isArray(schema);
  if (!isObject && typeof schema !== "boolean") {
    throw new GrammarError("The schema is malformed: expected an object, true or false.", { path: "#" });
  }
  const size = JSON.stringify(schema).length;
  if (size > SOURCE_CHARS_MAX) {
    throw new GrammarError(`The schema has ${size} characters; at most ${SOURCE_CHARS_MAX} are read.`, { path: "#" });
  }
  return new SchemaCompiler(schema as Schema, options).compile();
}

/** A tool's arguments, one by one. */
export interface CompiledParameters {
  /** Rules that their values speak of. */
  rules: ReadonlyMap<string, Expr>;
  /** In the order of the schema. */
  parameters: Parameter[];
}

/** The same for dialects that write each argument between tags. @param anyText What free text between them is. */
export function compileParameters(schema: Schema, anyText: Expr, options: SchemaOptions = {}): CompiledParameters {
  return new SchemaCompiler(schema, options).compileParameters(anyText);
}

class SchemaCompiler implements SchemaRules {
  readonly #document: Schema;
  readonly #options: SchemaOptions;
  readonly #rules = new Map<string, Expr>(jsonRules());
  readonly #open: { name: string; parts: Parts }[] = [];
  readonly #names = new Map<string, string>();
  readonly #dropped = new Set<string>();
  readonly #patterns = new Map<string, Expr>();
  #size = 0;
  #steps = 0;

  constructor(document: Schema, options: SchemaOptions) {
    this.#document = document;
    this.#options = options;
  }

  compile(): Grammar {
    const root = this.valueOf([{ schema: this.#document, path: "#" }]);
    this.#writeRules();
    this.#rules.set("root", root);
    const grammar = prune({ rules: this.#rules, root: "root" });
    if (grammar === undefined) throw new GrammarError("No JSON value fits the schema.", { path: "#" });
    return grammar;
  }

  compileParameters(anyText: Expr): CompiledParameters {
    const parameters = parametersOf([{ schema: this.#document, path: "#" }], this, anyText);
    this.#writeRules();
    return { rules: this.#rules, parameters };
  }

  /** Rules are written one after the other, so deep schemas and loops need no deep stack. */
  #writeRules(): void {
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) {
      const expr = choice(...expand(next.parts, this).map((shape) => this.shapeOf(shape)));
      this.#rules.set(next.name, expr);
      this.#count(expr, next.parts);
    }
  }

  valueOf(parts: Parts): Expr {
    const direct = [...new Map(parts.map((part) => this.#follow(part)).map((part) => [part.path, part])).values()]
      .filter(({ schema }) => schema !== true);
    if (direct.length === 0) return rule(JSON_RULES.value);
    if (direct.some(({ schema }) => schema === false)) return NEVER;
    const key = direct.map(({ path }) => path).sort().join(" & ");
    let name = this.#names.get(key);
    if (name === undefined) {
      name = `v${this.#names.size}`;
      this.#names.set(key, name);
      this.#open.push({ name, parts: direct });
    }
    return rule(name);
  }

  define(expr: Expr): Expr {
    if (expr.kind === "rule" || expr.kind === "text" || expr === EMPTY) return expr;
    const name = `d${this.#rules.size}`;
    this.#rules.set(name, expr);
    return rule(name);
  }

  resolve(reference: unknown, path: string): Part {
    if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) {
      throw new GrammarError(
        `\`$ref\` at ${path} is not supported: expected a place in the same schema, such as #/$defs/name.`,
        { path, keyword: "$ref" },
      );
    }
    let at: unknown = this.#document;
    const names = reference.split("/").slice(1).map((name) => decodeName(name));
    for (const name of names) {
      at = typeof at === "object" && at !== null && Object.hasOwn(at, name) ? Reflect.get(at, name) : undefined;
    }
    const isSchema = typeof at === "boolean" || (typeof at === "object" && at !== null && !Array.isArray(at));
    if (!isSchema) {
      throw new GrammarError(`\`$ref\` at ${path} leads nowhere: there is no schema at that place.`, {
        path,
        keyword: "$ref",
      });
    }
    return { schema: at as Schema, path: ["#", ...names.map(escapePointer)].join("/") };
  }

  fits(pattern: string, text: string): boolean {
    let expr = this.#patterns.get(pattern);
    if (expr === undefined) {
      expr = parseRegex(pattern, false);
      this.#patterns.set(pattern, expr);
    }
    return fitsText(expr, text, (steps) => this.spend(steps));
  }

  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps <= SCHEMA_STEPS_MAX) return;
    throw new GrammarError(
      `The schema takes too long to work out, over ${SCHEMA_STEPS_MAX} steps: it has too many values, patterns or ` +
        "branches to compare with one another.",
      { path: "#" },
    );
  }

  refuse(keyword: string, path: string, why: string): void {
    const { onDropped } = this.#options;
    if (onDropped === undefined) {
      throw new GrammarError(`\`${keyword}\` at ${path} is not supported: ${why}.`, { path, keyword });
    }
    const key = `${path} ${keyword}`;
    if (this.#dropped.has(key)) return;
    this.#dropped.add(key);
    onDropped(keyword, path);
  }

  /** A schema that only refers to another one is that one; so a loop comes back to the same rule. */
  #follow(part: Part): Part {
    let at = part;
    for (let steps = 0; steps < 100; steps++) {
      if (typeof at.schema === "boolean" || Object.keys(at.schema).join() !== "$ref") return at;
      at = this.resolve(at.schema.$ref, at.path);
    }
    throw new GrammarError(`\`$ref\` at ${part.path} refers to itself.`, { path: part.path, keyword: "$ref" });
  }

  shapeOf(shape: Shape): Expr {
    if (shape.values !== undefined) {
      const { values: listed, ...rest } = shape;
      const values = listed.filter((value) => hasShape(value, rest, this));
      return choice(...values.map((value) => valueOf(value)));
    }
    return choice(...[...shape.types].map((type) => this.#typeExpr(type, shape)));
  }

  #typeExpr(type: TypeName, shape: Shape): Expr {
    const isOpen = shape.numbers.min === undefined && shape.numbers.max === undefined;
    switch (type) {
      case "null":
        return { kind: "text", text: "null" };
      case "boolean":
        return choice("true", "false");
      case "integer":
        return isOpen ? rule(JSON_RULES.integer) : integersBetween(shape.numbers);
      case "number":
        return isOpen ? rule(JSON_RULES.number) : numbersBetween(shape.numbers);
      case "string":
        return stringExpr(shape, this);
      case "array":
        return this.#arrayExpr(shape);
      case "object":
        return objectExpr(shape, this);
    }
  }

  #arrayExpr({ arrays: { min, max, prefix, items } }: Shape): Expr {
    if (max !== null && min > max) return NEVER;
    if (min === 0 && max === null && prefix.length === 0 && items.length === 0) return rule(JSON_RULES.array);
    const fixed = prefix.slice(0, max ?? prefix.length).map((parts) => this.valueOf(parts));
    const rest = this.valueOf(items);
    const more = Math.max(0, min - fixed.length);
    const most = max === null ? null : max - fixed.length;
    if (fixed.length === 0) return arrayOf(repeatWithCommas(rest, more, most));
    const some = repeatWithCommas(rest, more, most);
    // An item that no value fits ends the list before it: the choice without it stays.
    let tail: Expr = choice(
      ...(more > 0 ? [] : [EMPTY]),
      ...(some === EMPTY ? [] : [sequence(COMMA, withoutEmpty(rest, more, most))]),
    );
    for (const [index, item] of [...fixed.entries()].toReversed()) {
      const here = this.define(sequence(...(index === 0 ? [] : [COMMA]), item, tail));
      tail = index < min ? here : choice(EMPTY, here);
    }
    return arrayOf(tail);
  }

  #count(expr: Expr, parts: Parts): void {
    this.#size += sizeOf(expr);
    if (this.#size > EXPRESSIONS_MAX) {
      throw new GrammarError(`The schema comes to more than ${EXPRESSIONS_MAX} expressions.`, {
        path: parts[0]?.path ?? "#",
      });
    }
  }
}

/** At least one. */
function withoutEmpty(item: Expr, min: number, max: number | null): Expr {
  return repeatWithCommas(item, Math.max(1, min), max);
}

function decodeName(name: string): string {
  let decoded = name;
  try {
    decoded = decodeURIComponent(name);
  } catch {
    // A percent sign that encodes nothing stands for itself.
  }
  return decoded.replaceAll("~1", "/").replaceAll("~0", "~");
}

function sizeOf(expr: Expr): number {
  switch (expr.kind) {
    case "sequence":
    case "choice":
      return expr.items.reduce((sum, item) => sum + sizeOf(item), 1);
    case "repeat":
      return 1 + sizeOf(expr.item);
    case "text":
      return 1 + expr.text.length;
    case "class":
      return 1 + expr.ranges.length;
    default:
      return 1;
  }
}

/** Any object, for `json_object`. */
export function anyObject(): Grammar {
  return { rules: new Map([...jsonRules(), ["root", rule(JSON_RULES.object)]]), root: "root" };
}
