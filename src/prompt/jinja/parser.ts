/**
 * A template's source → statements.
 *
 * Source: Jinja 3.1.6 `parser.py`; tags are those of Jinja without inheritance and imports, which have no meaning in a
 * chat template, with `break` and `continue` (its extension loopcontrols) and transformers' `generation`.
 *
 * @module
 */
import type { Filter, Parameter, Statement } from "./ast.ts";
import { JinjaError } from "./errors.ts";
import { ExpressionParser } from "./expressions.ts";
import { tokenize } from "./lexer.ts";

/** Statements of a template. @throws {JinjaError} If it is no Jinja, or has a tag that chat templates can't have. */
export function parseTemplate(source: string): Statement[] {
  const parser = new StatementParser(new ExpressionParser(tokenize(source)));
  return parser.parseAll();
}

class StatementParser {
  readonly #p: ExpressionParser;

  constructor(expressions: ExpressionParser) {
    this.#p = expressions;
  }

  parseAll(): Statement[] {
    const { body, end } = this.#parseBody([]);
    if (end !== undefined) throw new JinjaError(`Encountered unknown tag '${end}'`);
    return body;
  }

  /** Statements up to one of the ending tags, whose name is read and whose rest is not; or to the template's end. */
  #parseBody(ends: readonly string[]): { body: Statement[]; end: string | undefined } {
    const body: Statement[] = [];
    for (;;) {
      const token = this.#p.token;
      if (token === undefined) {
        if (ends.length > 0) throw new JinjaError(`Unexpected end of template; expected ${ends.join(" or ")}`);
        return { body, end: undefined };
      }
      this.#p.next();
      if (token.type === "text") body.push({ type: "text", text: token.value });
      else if (token.value === "variable") {
        body.push({ type: "print", value: this.#p.parseTuple() });
        this.#p.expect("end", "variable");
      } else {
        const name = this.#p.expectName();
        if (ends.includes(name)) return { body, end: name };
        body.push(this.#p.nested(() => this.#parseStatement(name)));
      }
    }
  }

  /** A body that only one tag ends, with that tag. */
  #parseUntil(end: string): Statement[] {
    this.#endTag();
    const { body } = this.#parseBody([end]);
    this.#endTag();
    return body;
  }

  #endTag(): void {
    this.#p.expect("end", "block");
  }

  #parseStatement(name: string): Statement {
    switch (name) {
      case "if":
        return this.#parseIf();
      case "for":
        return this.#parseFor();
      case "set":
        return this.#parseSet();
      case "macro":
        return {
          type: "macro",
          name: this.#p.expectName(),
          parameters: this.#parameters(),
          body: this.#parseUntil("endmacro"),
        };
      case "call":
        return this.#parseCall();
      case "filter":
        return { type: "filterBlock", filters: this.#p.parseFilters(true), body: this.#parseUntil("endfilter") };
      case "with":
        return this.#parseWith();
      case "generation":
        return { type: "generation", body: this.#parseUntil("endgeneration") };
      case "break":
      case "continue":
        this.#endTag();
        return { type: name };
      default:
        throw new JinjaError(`Encountered unknown tag '${name}'`);
    }
  }

  #parseIf(): Statement {
    const branches: { test: ReturnType<ExpressionParser["parseTuple"]>; body: Statement[] }[] = [];
    for (;;) {
      const test = this.#p.parseTuple(false);
      this.#endTag();
      const { body, end } = this.#parseBody(["elif", "else", "endif"]);
      branches.push({ test, body });
      if (end === "elif") continue;
      const otherwise = end === "else" ? this.#parseUntil("endif") : [];
      if (end === "endif") this.#endTag();
      return { type: "if", branches, otherwise };
    }
  }

  #parseFor(): Statement {
    const target = this.#p.parseTarget();
    this.#p.expect("name", "in");
    const iterable = this.#p.parseTuple(false);
    const test = this.#p.skip("name", "if") ? { test: this.#p.parseExpression() } : {};
    if (this.#p.is("name", "recursive")) throw new JinjaError("Recursive loops are not supported");
    this.#endTag();
    const { body, end } = this.#parseBody(["else", "endfor"]);
    const otherwise = end === "else" ? this.#parseUntil("endfor") : [];
    if (end === "endfor") this.#endTag();
    return { type: "for", target, iterable, ...test, body, otherwise };
  }

  #parseSet(): Statement {
    const target = this.#p.parseTarget(true);
    if (this.#p.skip("operator", "=")) {
      const value = this.#p.parseTuple();
      this.#endTag();
      return { type: "set", target, value };
    }
    const filters: Filter[] = this.#p.parseFilters(false);
    return { type: "setBlock", target, filters, body: this.#parseUntil("endset") };
  }

  #parseCall(): Statement {
    const parameters = this.#p.is("operator", "(") ? this.#parameters() : [];
    const call = this.#p.parseExpression();
    if (call.type !== "call") throw new JinjaError("Expected call");
    return { type: "callBlock", call, parameters, body: this.#parseUntil("endcall") };
  }

  #parseWith(): Statement {
    const values: (Statement & { type: "with" })["values"] = [];
    while (!this.#p.is("end")) {
      if (values.length > 0) this.#p.expect("operator", ",");
      const target = this.#p.parseTarget();
      this.#p.expect("operator", "=");
      values.push([target, this.#p.parseExpression()]);
    }
    return { type: "with", values, body: this.#parseUntil("endwith") };
  }

  #parameters(): Parameter[] {
    this.#p.expect("operator", "(");
    const parameters: Parameter[] = [];
    while (!this.#p.is("operator", ")")) {
      if (parameters.length > 0) this.#p.expect("operator", ",");
      const name = this.#p.expectName();
      if (this.#p.skip("operator", "=")) parameters.push({ name, fallback: this.#p.parseExpression() });
      else if (parameters.at(-1)?.fallback !== undefined) {
        throw new JinjaError("Non-default argument follows default argument");
      } else parameters.push({ name });
    }
    this.#p.expect("operator", ")");
    return parameters;
  }
}
