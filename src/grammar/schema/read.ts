/**
 * One schema object → its shape, the schemas that must hold beside it, and its unions. Checks each keyword's value.
 *
 * @module
 */
import { GrammarError } from "../errors.ts";
import { ENUM_MAX, REPEAT_MAX } from "../limits.ts";
import type { Bound } from "../ranges.ts";
import { FORMATS, REFUSED_FORMATS } from "./formats.ts";
import { ruleOf } from "./keywords.ts";
import {
  anyShape,
  commonTypes,
  type Part,
  type Parts,
  type PatternPart,
  type Schema,
  type Shape,
  type TypeName,
  TYPES,
} from "./shape.ts";

/** Schemas of which one must hold. */
export interface Union {
  /** Those. */
  readonly branches: Parts;
  /** Exactly one (`oneOf`), else one or more (`anyOf`). */
  readonly exclusive: boolean;
  /** JSON pointer of the keyword. */
  readonly path: string;
}

/** What a schema object says. */
export interface ReadSchema {
  /** Its own keywords. */
  shape: Shape;
  /** `$ref` and `allOf`. */
  also: Part[];
  /** `anyOf` and `oneOf`. */
  unions: Union[];
}

/** What a reader needs of the whole document. */
export interface SchemaContext {
  /** The schema at a reference. @throws {GrammarError} If there is none. */
  resolve(reference: unknown, path: string): Part;
  /** Told of a keyword that can't be honoured. @throws {GrammarError} Unless it may be left out. */
  refuse(keyword: string, path: string, why: string): void;
  /** Whether a pattern finds something in a text. @throws {GrammarError} If that, or all of it, takes too long. */
  fits(pattern: string, text: string): boolean;
  /** Work was done. @throws {GrammarError} If it was too much for one schema. */
  spend(steps: number): void;
}

type Keywords = Readonly<Record<string, unknown>>;

/** Reads one. @throws {GrammarError} For a keyword that is malformed, or refused. */
export function readSchema(schema: Keywords, path: string, context: SchemaContext): ReadSchema {
  const usable: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const rule = ruleOf(keyword, value);
    if (rule === "works") usable[keyword] = value;
    else if (rule !== "note") context.refuse(keyword, path, rule.refused);
  }
  const reader = new KeywordReader(usable, path, context);
  return { shape: reader.shape(), also: reader.also(), unions: reader.unions() };
}

class KeywordReader {
  readonly #keywords: Keywords;
  readonly #path: string;
  readonly #context: SchemaContext;

  constructor(keywords: Keywords, path: string, context: SchemaContext) {
    this.#keywords = keywords;
    this.#path = path;
    this.#context = context;
  }

  shape(): Shape {
    const shape = anyShape(this.#path);
    const values = this.#values();
    return {
      ...shape,
      types: this.#types() ?? shape.types,
      ...(values !== undefined && { values }),
      numbers: this.#numbers(),
      strings: { ...this.#counts("minLength", "maxLength"), patterns: this.#patterns() },
      arrays: { ...this.#counts("minItems", "maxItems"), ...this.#items() },
      objects: {
        ...this.#counts("minProperties", "maxProperties"),
        properties: this.#properties("properties"),
        required: new Set(this.#required()),
        additional: this.#part("additionalProperties"),
        patterns: [...this.#properties("patternProperties")]
          .map(([pattern, parts]) => ({ pattern, path: this.#path, parts })),
        names: this.#part("propertyNames"),
      },
    };
  }

  also(): Part[] {
    const reference = this.#keywords.$ref;
    return [
      ...(reference === undefined ? [] : [this.#context.resolve(reference, this.#path)]),
      ...this.#list("allOf"),
    ];
  }

  unions(): Union[] {
    return (["anyOf", "oneOf"] as const).flatMap((keyword) => {
      if (this.#keywords[keyword] === undefined) return [];
      return [{ branches: this.#list(keyword), exclusive: keyword === "oneOf", path: this.#path }];
    });
  }

  #bad(keyword: string, wanted: string): never {
    throw new GrammarError(`The schema is malformed: \`${keyword}\` at ${this.#path}: expected ${wanted}.`, {
      path: this.#path,
      keyword,
    });
  }

  #types(): Set<TypeName> | undefined {
    const { type } = this.#keywords;
    if (type === undefined) return undefined;
    const names = Array.isArray(type) ? type : [type];
    const known = names.flatMap((name) => TYPES.find((one) => one === name) ?? []);
    if (known.length < names.length || names.length === 0) this.#bad("type", `${TYPES.join(", ")}, or a list of them`);
    return commonTypes(new Set(known), new Set(known));
  }

  #values(): readonly unknown[] | undefined {
    const { enum: list } = this.#keywords;
    if (list !== undefined && (!Array.isArray(list) || list.length > ENUM_MAX)) {
      this.#bad("enum", `a list of at most ${ENUM_MAX} values`);
    }
    const values = list as unknown[] | undefined;
    if (!Object.hasOwn(this.#keywords, "const")) return values;
    const only = this.#keywords.const;
    return values === undefined || values.some((value) => JSON.stringify(value) === JSON.stringify(only)) ? [only] : [];
  }

  #numbers(): Shape["numbers"] {
    const min = this.#bound("minimum", "exclusiveMinimum", (left, right) => left > right);
    const max = this.#bound("maximum", "exclusiveMaximum", (left, right) => left < right);
    return { ...(min && { min }), ...(max && { max }) };
  }

  /** The tighter of two bounds. */
  #bound(inclusive: string, exclusive: string, tighter: (a: number, b: number) => boolean): Bound | undefined {
    const [inside, outside] = [inclusive, exclusive].map((keyword) => {
      const value = this.#keywords[keyword];
      if (value !== undefined && typeof value !== "number") this.#bad(keyword, "a number");
      return value;
    });
    if (outside !== undefined && (inside === undefined || !tighter(inside, outside))) {
      return { value: toDecimal(outside), exclusive: true };
    }
    return inside === undefined ? undefined : { value: toDecimal(inside), exclusive: false };
  }

  #counts(least: string, most: string): { min: number; max: number | null } {
    const [min, max] = [least, most].map((keyword) => {
      const value = this.#keywords[keyword];
      if (value === undefined) return undefined;
      if (!Number.isInteger(value) || Number(value) < 0) this.#bad(keyword, "an integer of 0 or more");
      return Number(value);
    });
    if ((min ?? 0) > REPEAT_MAX) this.#bad(least, `at most ${REPEAT_MAX}`);
    // A text that long is never written: such an upper end binds nothing.
    return { min: min ?? 0, max: max === undefined || max > REPEAT_MAX ? null : max };
  }

  #patterns(): PatternPart[] {
    const { pattern, format } = this.#keywords;
    const parts: PatternPart[] = [];
    if (pattern !== undefined) {
      if (typeof pattern !== "string") this.#bad("pattern", "a regular expression");
      parts.push({ keyword: "pattern", pattern, path: this.#path });
    }
    if (format === undefined) return parts;
    if (typeof format !== "string") return this.#bad("format", "a name");
    const known = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
    if (known !== undefined) parts.push({ keyword: "format", pattern: known, path: this.#path });
    if (REFUSED_FORMATS.includes(format)) {
      this.#context.refuse("format", this.#path, `of the formats, ${Object.keys(FORMATS).join(", ")} can be followed`);
    }
    return parts;
  }

  #items(): { prefix: Parts[]; items: Parts } {
    const { items, prefixItems } = this.#keywords;
    // Draft 7 wrote a list where 2020-12 has `prefixItems`.
    if (Array.isArray(items)) {
      if (prefixItems !== undefined) this.#bad("items", "a schema beside `prefixItems`");
      return { prefix: this.#list("items").map((part) => [part]), items: this.#part("additionalItems") };
    }
    const prefix = prefixItems === undefined ? [] : this.#list("prefixItems").map((part) => [part]);
    return { prefix, items: this.#part("items") };
  }

  #required(): string[] {
    const { required } = this.#keywords;
    if (required === undefined) return [];
    const isList = Array.isArray(required) && required.every((name) => typeof name === "string");
    return isList ? required : this.#bad("required", "a list of names");
  }

  #properties(keyword: string): Map<string, Parts> {
    const value = this.#keywords[keyword];
    if (value === undefined) return new Map();
    if (typeof value !== "object" || value === null || Array.isArray(value)) this.#bad(keyword, "an object of schemas");
    return new Map(
      Object.entries(value).map(([name, schema]) => [name, [this.#toPart(schema, [keyword, name])]]),
    );
  }

  #part(keyword: string): Parts {
    const value = this.#keywords[keyword];
    return value === undefined || value === true ? [] : [this.#toPart(value, [keyword])];
  }

  #list(keyword: string): Part[] {
    const value = this.#keywords[keyword];
    if (value === undefined) return [];
    if (!Array.isArray(value) || value.length === 0) this.#bad(keyword, "a list of schemas that is not empty");
    return value.map((schema, index) => this.#toPart(schema, [keyword, String(index)]));
  }

  #toPart(schema: unknown, names: readonly string[]): Part {
    const isObject = typeof schema === "object" && schema !== null && !Array.isArray(schema);
    if (!isObject && typeof schema !== "boolean") this.#bad(names.join("/"), "a schema (an object, true or false)");
    return { schema: schema as Schema, path: [this.#path, ...names.map(escapePointer)].join("/") };
  }
}

/** A name in a JSON Pointer (RFC 6901). */
export function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** A number without exponent. */
function toDecimal(value: number): string {
  if (Number.isInteger(value)) return BigInt(value).toString();
  const [mantissa = "", exponent] = String(value).split("e");
  if (exponent === undefined) return mantissa;
  // Only small numbers with a fraction come here: integers were taken above.
  const sign = mantissa.startsWith("-") ? "-" : "";
  const digits = mantissa.replace("-", "").replace(".", "");
  return `${sign}0.${"0".repeat(-Number(exponent) - 1)}${digits}`;
}
