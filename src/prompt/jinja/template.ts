/**
 * A Jinja template as chat templates need it: read once, rendered often.
 *
 * @module
 */
import type { Statement } from "./ast.ts";
import { globalFunctions } from "./globals.ts";
import { Interpreter, type RunLimits } from "./interpreter.ts";
import { parseTemplate } from "./parser.ts";
import { Scope } from "./scope.ts";
import type { Named } from "./values.ts";

/** A template. */
export class JinjaTemplate {
  readonly #body: readonly Statement[];

  /** Reads the source. @throws {JinjaError} If it is no template that can be run. */
  constructor(source: string) {
    this.#body = parseTemplate(source);
  }

  /** All text that stands in the template itself, outside and inside tags, NUL between. */
  literals(): string {
    const texts: string[] = [];
    const visit = (node: unknown): void => {
      if (typeof node !== "object" || node === null) return;
      if ("type" in node && node.type === "text" && "text" in node) texts.push(String(node.text));
      if ("type" in node && node.type === "const" && "value" in node && typeof node.value === "string") {
        texts.push(node.value);
      }
      Object.values(node).forEach(visit);
    };
    visit(this.#body);
    return texts.join("\0");
  }

  /**
   * The text for some variables.
   *
   * @param variables Values by name; json.ts makes them of plain data.
   * @param now What `strftime_now` tells.
   * @throws {JinjaError} If the template fails, raises, or costs more than `limits`.
   */
  render(variables: Named, now: () => Date, limits: RunLimits): string {
    const globals = new Scope();
    for (const [name, value] of globalFunctions(now)) globals.set(name, value);
    const scope = new Scope(globals);
    for (const [name, value] of variables) scope.set(name, value);
    return new Interpreter(limits).run(this.#body, scope);
  }
}
