/**
 * What a template is made of. Names follow Jinja 3.1.6 `nodes.py`.
 *
 * @module
 */

/** Something with a value. */
export type Expression =
  | { type: "const"; value: null | boolean | bigint | number | string }
  | { type: "name"; name: string }
  | { type: "list" | "tuple"; items: Expression[] }
  | { type: "dict"; items: [Expression, Expression][] }
  | { type: "attribute"; object: Expression; name: string }
  | { type: "item"; object: Expression; key: Expression }
  | { type: "slice"; object: Expression; start?: Expression; stop?: Expression; step?: Expression }
  | { type: "call"; callee: Expression; args: Arguments }
  | { type: "filter"; value: Expression; name: string; args: Arguments }
  | { type: "test"; value: Expression; name: string; args: Arguments }
  | { type: "unary"; operator: "-" | "+" | "not"; value: Expression }
  | { type: "binary"; operator: BinaryOperator; left: Expression; right: Expression }
  | { type: "logical"; operator: "and" | "or"; left: Expression; right: Expression }
  | { type: "concat"; items: Expression[] }
  | { type: "compare"; first: Expression; rest: { operator: CompareOperator; value: Expression }[] }
  | { type: "condition"; test: Expression; then: Expression; otherwise?: Expression };

/** Arithmetic. */
export type BinaryOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**";

/** Comparison and membership. */
export type CompareOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in";

/** Of a call, a filter or a test. */
export interface Arguments {
  /** In order. */
  positional: Expression[];
  /** By name. */
  named: [string, Expression][];
  /** After `*`. */
  rest?: Expression;
  /** After `**`. */
  namedRest?: Expression;
}

/** What `set` and `for` assign to. */
export type Target =
  | { type: "name"; name: string }
  | { type: "namespace"; name: string; attribute: string }
  | { type: "tuple"; items: Target[] };

/** A parameter of a macro or a call block. */
export interface Parameter {
  /** Its name. */
  name: string;
  /** Evaluated at each call that leaves it out. */
  fallback?: Expression;
}

/** Something that writes or does. */
export type Statement =
  | { type: "text"; text: string }
  | { type: "print"; value: Expression }
  | { type: "if"; branches: { test: Expression; body: Statement[] }[]; otherwise: Statement[] }
  | { type: "for"; target: Target; iterable: Expression; test?: Expression; body: Statement[]; otherwise: Statement[] }
  | { type: "set"; target: Target; value: Expression }
  | { type: "setBlock"; target: Target; filters: Filter[]; body: Statement[] }
  | { type: "macro"; name: string; parameters: Parameter[]; body: Statement[] }
  | { type: "callBlock"; call: Expression & { type: "call" }; parameters: Parameter[]; body: Statement[] }
  | { type: "filterBlock"; filters: Filter[]; body: Statement[] }
  | { type: "with"; values: [Target, Expression][]; body: Statement[] }
  | { type: "generation"; body: Statement[] }
  | { type: "break" | "continue" };

/** A filter without what it is applied to. */
export interface Filter {
  /** Its name. */
  name: string;
  /** Beside the value. */
  args: Arguments;
}
