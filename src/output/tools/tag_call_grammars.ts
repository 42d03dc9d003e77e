/**
 * Calls of deepseek_v4, hy_v3, minicpm and muse as grammars: each argument between tags of its own.
 *
 * @module
 */
import { choice, type Expr, repeat, sequence, text, token } from "../../grammar/expr.ts";
import type { RuleBook } from "../../grammar/rule_book.ts";
import { HY_LABEL } from "../reasoning/mod.ts";
import { type CallRequest, several } from "./call_request.ts";
import { declaredTypes, isTextParameter, schemaOf } from "./parameter_value.ts";

/** The token that all tags of DSML hold. */
const DSML = token("｜DSML｜");

/** DeepSeek V4: `<｜DSML｜invoke name="add_note">`. What kind a value is of is said where the schema has one kind. */
export function dsmlCalls(request: CallRequest, book: RuleBook): Expr {
  const one = choice(...request.tools.map((tool) => {
    const kindOf = (name: string): string => {
      if (isTextParameter(tool, name)) return ' string="true"';
      const types = declaredTypes(schemaOf(tool, name));
      return types === undefined || types.has("string") ? "" : ' string="false"';
    };
    // A text can't begin any closing tag, whatever its name is.
    const inner = request.parametersOf(
      tool,
      book,
      "</｜DSML｜",
      (name, value) =>
        sequence("<", DSML, `parameter name="${name}"${kindOf(name)}>`, value, "</", DSML, "parameter>\n"),
    );
    return sequence("<", DSML, `invoke name="${tool.name}">\n`, inner, "</", DSML, "invoke>\n");
  }));
  const calls = several(book.define("call", one), "", request);
  return sequence("<", DSML, "tool_calls>\n", calls, "</", DSML, "tool_calls>");
}

/** Hunyuan 3: pairs of key and value, in tags with the vocabulary's label. */
export function hunyuanCalls(request: CallRequest, book: RuleBook): Expr {
  const label = request.label ?? HY_LABEL;
  const open = (name: string): Expr => token(`<${name}${label}>`);
  const close = (name: string): Expr => token(`</${name}${label}>`);
  const one = choice(...request.tools.map((tool) => {
    const inner = request.parametersOf(tool, book, `</arg_value${label}>`, (name, value) =>
      sequence(
        ...[open("arg_key"), text(name), close("arg_key"), "\n"],
        ...[open("arg_value"), value, close("arg_value"), "\n"],
      ));
    return sequence(open("tool_call"), tool.name, open("tool_sep"), "\n", inner, close("tool_call"), "\n");
  }));
  return sequence(
    open("tool_calls"),
    "\n",
    several(book.define("call", one), "", request),
    close("tool_calls"),
  );
}

/** MiniCPM: values in CDATA sections, so that a text may hold any tag. */
export function minicpmCalls(request: CallRequest, book: RuleBook): Expr {
  const one = choice(...request.tools.map((tool) => {
    const inner = request.parametersOf(
      tool,
      book,
      "]]></param>",
      (name, value) => sequence(`<param name="${name}"><![CDATA[`, value, "]]></param>"),
    );
    return sequence(`<function name="${tool.name}">`, inner, "</function>");
  }));
  return several(book.define("call", one), "\n", request);
}

/** Muse Glimmer: a message to the first call's tool, with a block of calls. */
export function museCalls(request: CallRequest, book: RuleBook): Expr {
  const invokes = request.tools.map((tool, index) => {
    const inner = request.parametersOf(
      tool,
      book,
      "</atem:parameter>",
      (name, value) => sequence(`<atem:parameter name="${name}">`, value, "</atem:parameter>\n"),
    );
    const invoke = sequence(`<atem:invoke name="${tool.name}">\n`, inner, "</atem:invoke>\n");
    return { name: tool.name, call: book.define(`call.${index}`, invoke) };
  });
  const any = choice(...invokes.map(({ call }) => call));
  const rest = request.callsMax === 1
    ? []
    : [repeat(book.define("call", any), 0, request.callsMax === null ? null : request.callsMax - 1)];
  return choice(...invokes.map(({ name, call }) =>
    sequence(
      `to=${name}`,
      token("<|message|>"),
      "<atem:function_calls>\n",
      call,
      ...rest,
      "</atem:function_calls>",
    )
  ));
}
