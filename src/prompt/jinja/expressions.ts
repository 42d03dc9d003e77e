/**
 * Tokens → expressions, with Jinja's precedences.
 *
 * Source: Jinja 3.1.6 `parser.py`, method by method.
 *
 * @module
 */
import type { Arguments, CompareOperator, Expression, Filter, Target } from "./ast.ts";
import { JinjaError } from "./errors.ts";
import type { Token } from "./lexer.ts";

/** Nesting of expressions and blocks; a template deeper than that is no chat template. */
const DEPTH_MAX = 200;

const COMPARISONS: readonly string[] = ["==", "!=", "<", "<=", ">", ">="];

/** A place in a list of tokens. */
export class ExpressionParser {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  /** Reads from the first token. */
  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** The token here, if there is one. */
  get token(): Token | undefined {
    return this.#tokens[this.#at];
  }

  /** Goes on by one. */
  next(): Token {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new JinjaError("Unexpected end of template");
    return token;
  }

  /** Whether the token here is of a kind, and has a value if one is given. */
  is(type: Token["type"], value?: string, ahead = 0): boolean {
    const token = this.#tokens[this.#at + ahead];
    return token?.type === type && (value === undefined || token.value === value);
  }

  /** Goes on by one if the token here is that. */
  skip(type: Token["type"], value: string): boolean {
    if (!this.is(type, value)) return false;
    this.#at++;
    return true;
  }

  /** Goes on by one. @throws {JinjaError} If the token here is not that. */
  expect(type: Token["type"], value?: string): Token {
    if (!this.is(type, value)) {
      throw new JinjaError(`Expected ${value ?? type}, got ${String(this.token?.value ?? "the end of the template")}`);
    }
    return this.next();
  }

  /** A name that is here. */
  expectName(): string {
    return String(this.expect("name").value);
  }

  /** Runs a reader one level deeper. */
  nested<T>(read: () => T): T {
    if (++this.#depth > DEPTH_MAX) throw new JinjaError(`The template nests more than ${DEPTH_MAX} levels deep`);
    try {
      return read();
    } finally {
      this.#depth--;
    }
  }

  /** One expression. */
  parseExpression(withCondition = true): Expression {
    return this.nested(() => withCondition ? this.#parseCondition() : this.#parseOr());
  }

  /** One expression, or several with commas between. */
  parseTuple(withCondition = true): Expression {
    const items = [this.parseExpression(withCondition)];
    let isTuple = false;
    while (this.skip("operator", ",")) {
      isTuple = true;
      if (this.#endsTuple()) break;
      items.push(this.parseExpression(withCondition));
    }
    return isTuple ? { type: "tuple", items } : items[0]!;
  }

  /** What is assigned to. */
  parseTarget(withNamespace = false): Target {
    if (withNamespace && this.is("name") && this.is("operator", ".", 1)) {
      const name = this.expectName();
      this.next();
      return { type: "namespace", name, attribute: this.expectName() };
    }
    const items = [this.#parseOneTarget()];
    let isTuple = false;
    while (this.skip("operator", ",")) {
      isTuple = true;
      if (!this.is("name") || this.is("name", "in")) break;
      items.push(this.#parseOneTarget());
    }
    return isTuple ? { type: "tuple", items } : items[0]!;
  }

  /** Filters after a value, or after the word `filter`. */
  parseFilters(first: boolean): Filter[] {
    const filters: Filter[] = [];
    while (first || this.skip("operator", "|")) {
      first = false;
      let name = this.expectName();
      while (this.skip("operator", ".")) name += `.${this.expectName()}`;
      filters.push({ name, args: this.is("operator", "(") ? this.parseArguments() : { positional: [], named: [] } });
    }
    return filters;
  }

  /** `(…)` of a call. */
  parseArguments(): Arguments {
    this.expect("operator", "(");
    const args: Arguments = { positional: [], named: [] };
    while (!this.is("operator", ")")) {
      if (this.skip("operator", "*")) args.rest = this.parseExpression();
      else if (this.skip("operator", "**")) args.namedRest = this.parseExpression();
      else if (this.is("name") && this.is("operator", "=", 1)) {
        const name = this.expectName();
        this.next();
        args.named.push([name, this.parseExpression()]);
      } else if (args.named.length > 0 || args.namedRest !== undefined) {
        throw new JinjaError("Invalid syntax for function call expression");
      } else args.positional.push(this.parseExpression());
      if (!this.skip("operator", ",")) break;
    }
    this.expect("operator", ")");
    return args;
  }

  #parseOneTarget(): Target {
    if (this.skip("operator", "(")) {
      const target = this.parseTarget();
      this.expect("operator", ")");
      return target;
    }
    return { type: "name", name: this.expectName() };
  }

  #endsTuple(): boolean {
    return this.token === undefined || this.is("end") || this.is("operator", ")") || this.is("operator", "=");
  }

  #parseCondition(): Expression {
    let value = this.#parseOr();
    while (this.skip("name", "if")) {
      const test = this.#parseOr();
      const otherwise = this.skip("name", "else") ? { otherwise: this.parseExpression() } : {};
      value = { type: "condition", test, then: value, ...otherwise };
    }
    return value;
  }

  #parseOr(): Expression {
    let left = this.#parseAnd();
    while (this.skip("name", "or")) left = { type: "logical", operator: "or", left, right: this.#parseAnd() };
    return left;
  }

  #parseAnd(): Expression {
    let left = this.#parseNot();
    while (this.skip("name", "and")) left = { type: "logical", operator: "and", left, right: this.#parseNot() };
    return left;
  }

  #parseNot(): Expression {
    if (!this.skip("name", "not")) return this.#parseCompare();
    return { type: "unary", operator: "not", value: this.nested(() => this.#parseNot()) };
  }

  #parseCompare(): Expression {
    const first = this.#parseSum();
    const rest: { operator: CompareOperator; value: Expression }[] = [];
    for (;;) {
      const token = this.token;
      if (token?.type === "operator" && COMPARISONS.includes(token.value)) {
        this.next();
        rest.push({ operator: token.value as CompareOperator, value: this.#parseSum() });
      } else if (this.skip("name", "in")) rest.push({ operator: "in", value: this.#parseSum() });
      else if (this.is("name", "not") && this.is("name", "in", 1)) {
        this.next();
        this.next();
        rest.push({ operator: "not in", value: this.#parseSum() });
      } else return rest.length === 0 ? first : { type: "compare", first, rest };
    }
  }

  #parseSum(): Expression {
    let left = this.#parseConcat();
    while (this.is("operator", "+") || this.is("operator", "-")) {
      const operator = this.next().value === "+" ? "+" : "-";
      left = { type: "binary", operator, left, right: this.#parseConcat() };
    }
    return left;
  }

  #parseConcat(): Expression {
    const items = [this.#parseProduct()];
    while (this.skip("operator", "~")) items.push(this.#parseProduct());
    return items.length === 1 ? items[0]! : { type: "concat", items };
  }

  #parseProduct(): Expression {
    let left = this.#parsePower();
    for (;;) {
      const operator = (["*", "/", "//", "%"] as const).find((one) => this.is("operator", one));
      if (operator === undefined) return left;
      this.next();
      left = { type: "binary", operator, left, right: this.#parsePower() };
    }
  }

  #parsePower(): Expression {
    let left = this.#parseUnary(true);
    while (this.skip("operator", "**")) {
      left = { type: "binary", operator: "**", left, right: this.#parseUnary(true) };
    }
    return left;
  }

  #parseUnary(withFilters: boolean): Expression {
    let value: Expression;
    const sign = this.is("operator", "-") ? "-" : this.is("operator", "+") ? "+" : undefined;
    if (sign !== undefined) {
      this.next();
      value = { type: "unary", operator: sign, value: this.nested(() => this.#parseUnary(false)) };
    } else value = this.#parsePrimary();
    value = this.#parsePostfix(value);
    return withFilters ? this.#parseFilterExpression(value) : value;
  }

  #parsePostfix(value: Expression): Expression {
    for (;;) {
      if (this.skip("operator", ".")) value = this.#parseDot(value);
      else if (this.skip("operator", "[")) value = this.#parseBracket(value);
      else if (this.is("operator", "(")) value = { type: "call", callee: value, args: this.parseArguments() };
      else return value;
    }
  }

  #parseFilterExpression(value: Expression): Expression {
    for (;;) {
      if (this.is("operator", "|")) {
        for (const { name, args } of this.parseFilters(false)) value = { type: "filter", value, name, args };
      } else if (this.skip("name", "is")) value = this.#parseTest(value);
      else if (this.is("operator", "(")) value = { type: "call", callee: value, args: this.parseArguments() };
      else return value;
    }
  }

  #parseTest(value: Expression): Expression {
    const negated = this.skip("name", "not");
    let name = this.expectName();
    while (this.skip("operator", ".")) name += `.${this.expectName()}`;
    let args: Arguments = { positional: [], named: [] };
    if (this.is("operator", "(")) args = this.parseArguments();
    else if (this.#startsTestArgument()) {
      args = { positional: [this.#parsePostfix(this.#parsePrimary())], named: [] };
    }
    const test: Expression = { type: "test", value, name, args };
    return negated ? { type: "unary", operator: "not", value: test } : test;
  }

  #startsTestArgument(): boolean {
    const token = this.token;
    if (token?.type === "name") {
      if (token.value === "is") throw new JinjaError("You cannot chain multiple tests with is");
      // Jinja takes any other name as the argument, `if` of a condition too: it means a syntax error there.
      return !["else", "or", "and"].includes(token.value);
    }
    return token?.type === "string" || token?.type === "integer" || token?.type === "float" ||
      this.is("operator", "[") || this.is("operator", "{");
  }

  #parseDot(object: Expression): Expression {
    const token = this.next();
    if (token.type === "name") return { type: "attribute", object, name: token.value };
    if (token.type === "integer") return { type: "item", object, key: { type: "const", value: token.value } };
    throw new JinjaError("Expected name or number");
  }

  #parseBracket(object: Expression): Expression {
    const part = (): Expression | undefined =>
      this.is("operator", ":") || this.is("operator", "]") ? undefined : this.parseExpression();
    const start = part();
    if (!this.skip("operator", ":")) {
      if (start === undefined) throw new JinjaError("Expected subscript expression");
      this.expect("operator", "]");
      return { type: "item", object, key: start };
    }
    const stop = part();
    const step = this.skip("operator", ":") ? part() : undefined;
    this.expect("operator", "]");
    return { type: "slice", object, ...(start && { start }), ...(stop && { stop }), ...(step && { step }) };
  }

  #parsePrimary(): Expression {
    const token = this.next();
    switch (token.type) {
      case "name":
        return toNameOrConstant(token.value);
      case "string": {
        let value = token.value;
        while (this.is("string")) value += String(this.next().value);
        return { type: "const", value };
      }
      case "integer":
      case "float":
        return { type: "const", value: token.value };
      case "operator":
        if (token.value === "(") return this.#parseParenthesis();
        if (token.value === "[") return { type: "list", items: this.#parseList() };
        if (token.value === "{") return this.#parseDict();
    }
    throw new JinjaError(`Unexpected ${String(token.value)}`);
  }

  #parseParenthesis(): Expression {
    if (this.skip("operator", ")")) return { type: "tuple", items: [] };
    const value = this.parseTuple();
    this.expect("operator", ")");
    return value;
  }

  #parseList(): Expression[] {
    const items: Expression[] = [];
    while (!this.is("operator", "]")) {
      items.push(this.parseExpression());
      if (!this.skip("operator", ",")) break;
    }
    this.expect("operator", "]");
    return items;
  }

  #parseDict(): Expression {
    const items: [Expression, Expression][] = [];
    while (!this.is("operator", "}")) {
      const key = this.parseExpression();
      this.expect("operator", ":");
      items.push([key, this.parseExpression()]);
      if (!this.skip("operator", ",")) break;
    }
    this.expect("operator", "}");
    return { type: "dict", items };
  }
}

function toNameOrConstant(name: string): Expression {
  if (name === "true" || name === "True") return { type: "const", value: true };
  if (name === "false" || name === "False") return { type: "const", value: false };
  if (name === "none" || name === "None") return { type: "const", value: null };
  return { type: "name", name };
}
