// deno-lint-ignore-file camelcase -- names of parsers
/**
 * How each dialect writes calls, as grammars: what its parser reads without a repair. For calls that must be made, and
 * for strict tools.
 *
 * What a model writes that no tool parser is named for can't be bound.
 *
 * @module
 */
import { choice, EMPTY, type Expr, optional, repeat, sequence, text, token } from "../../grammar/expr.ts";
import { DIGIT } from "../../grammar/json.ts";
import type { RuleBook } from "../../grammar/rule_book.ts";
import { type CallGrammar, type CallRequest, named, several } from "./call_request.ts";
import { functionaryCalls } from "./functionary_grammar.ts";
import type { ToolParserName } from "./mod.ts";
import { uiTarsCalls } from "./ui_tars_grammar.ts";
import { dsmlCalls, hunyuanCalls, minicpmCalls, museCalls } from "./tag_call_grammars.ts";

/** By parser. */
export const callGrammars: Partial<Record<ToolParserName, CallGrammar>> = {
  hermes: jsonCalls({ open: [token("<tool_call>"), "\n"], close: ["\n", token("</tool_call>")], between: "\n" }),
  llama: jsonCalls({ argumentsKey: "parameters", between: "; " }),
  granite: listOfCalls(token("<|tool_call|>")),
  xlam: listOfCalls(EMPTY),
  mistral: (request, book) => choice(listOfCalls(token("[TOOL_CALLS]"))(request, book), mistralCalls(request, book)),
  deepseek: deepseekCalls,
  deepseek_v3: deepseekCalls,
  deepseek_v31: deepseekV31Calls,
  kimi: kimiCalls,
  qwen3_coder_xml: functionCalls("<tool_call>", "</tool_call>", "\n"),
  seed_oss: functionCalls("<seed:tool_call>", "</seed:tool_call>", ""),
  glm47: glmCalls,
  minimax: minimaxCalls,
  lfm: lfmCalls,
  k2_horizon: k2Calls,
  deepseek_v4_0731: dsmlCalls,
  functionary: functionaryCalls,
  gemma4: gemmaCalls,
  hy_v3: hunyuanCalls,
  minicpm: minicpmCalls,
  muse: museCalls,
  ui_tars: uiTarsCalls,
};

/** `{"name": …, "arguments": {…}}` as templates write it. */
function jsonCall(request: CallRequest, book: RuleBook, key = "arguments"): Expr {
  return choice(...request.tools.map((tool) => {
    const { name, value } = request.argumentsOf(tool, book);
    return sequence(`{"name": ${JSON.stringify(name)}, "${key}": `, value, "}");
  }));
}

function jsonCalls(
  { open = [], close = [], between, argumentsKey }: {
    open?: readonly (Expr | string)[];
    close?: readonly (Expr | string)[];
    between: string;
    argumentsKey?: string;
  },
): CallGrammar {
  return (request, book) =>
    several(sequence(...open, book.define("call", jsonCall(request, book, argumentsKey)), ...close), between, request);
}

/** `[{…}, {…}]` */
function listOfCalls(open: Expr): CallGrammar {
  return (request, book) =>
    sequence(open, "[", several(book.define("call", jsonCall(request, book)), ", ", request), "]");
}

/** `[TOOL_CALLS]add_note[ARGS]{…}` */
function mistralCalls(request: CallRequest, book: RuleBook): Expr {
  const one = named(
    request,
    book,
    (name, value) => sequence(token("[TOOL_CALLS]"), name, optional(token("[ARGS]")), value),
  );
  return several(one, "", request);
}

function deepseekCalls(request: CallRequest, book: RuleBook): Expr {
  const one = named(request, book, (name, value) =>
    sequence(
      token("<｜tool▁call▁begin｜>"),
      "function",
      token("<｜tool▁sep｜>"),
      `${name}\n\`\`\`json\n`,
      value,
      "\n```",
      token("<｜tool▁call▁end｜>"),
    ));
  return sequence(token("<｜tool▁calls▁begin｜>"), several(one, "\n", request), token("<｜tool▁calls▁end｜>"));
}

function deepseekV31Calls(request: CallRequest, book: RuleBook): Expr {
  const one = named(
    request,
    book,
    (name, value) =>
      sequence(token("<｜tool▁call▁begin｜>"), name, token("<｜tool▁sep｜>"), value, token("<｜tool▁call▁end｜>")),
  );
  return sequence(token("<｜tool▁calls▁begin｜>"), several(one, "", request), token("<｜tool▁calls▁end｜>"));
}

function kimiCalls(request: CallRequest, book: RuleBook): Expr {
  const one = named(request, book, (name, value) =>
    sequence(
      token("<|tool_call_begin|>"),
      `functions.${name}:`,
      repeat(DIGIT, 1, 3),
      token("<|tool_call_argument_begin|>"),
      value,
      token("<|tool_call_end|>"),
    ));
  return sequence(
    token("<|tool_calls_section_begin|>"),
    several(one, "", request),
    token("<|tool_calls_section_end|>"),
  );
}

/** `<function=add_note>` with a tag for each argument. @param around What stands around a value. */
function functionCalls(open: string, close: string, around: string): CallGrammar {
  return (request, book) => {
    const one = choice(...request.tools.map((tool) => {
      const write = (name: string, value: Expr): Expr =>
        sequence(`<parameter=${name}>${around}`, value, `${around}</parameter>\n`);
      const inner = request.parametersOf(tool, book, "</parameter>", write);
      return sequence(token(open), `\n<function=${tool.name}>\n`, inner, "</function>\n", token(close));
    }));
    return several(book.define("call", one), "\n", request);
  };
}

/** `<arg_key>text</arg_key>` and its value. */
function glmCalls(request: CallRequest, book: RuleBook): Expr {
  const one = choice(...request.tools.map((tool) => {
    const write = (name: string, value: Expr): Expr =>
      sequence(
        token("<arg_key>"),
        text(name),
        token("</arg_key>"),
        "\n",
        token("<arg_value>"),
        value,
        token("</arg_value>"),
        "\n",
      );
    const inner = request.parametersOf(tool, book, "</arg_value>", write);
    return sequence(token("<tool_call>"), `${tool.name}\n`, inner, token("</tool_call>"));
  }));
  return several(book.define("call", one), "\n", request);
}

/** `<invoke name="add_note">` with a tag for each argument. */
function minimaxCalls(request: CallRequest, book: RuleBook): Expr {
  const one = choice(...request.tools.map((tool) => {
    const write = (name: string, value: Expr): Expr => sequence(`<parameter name="${name}">`, value, "</parameter>\n");
    return sequence(
      `<invoke name="${tool.name}">\n`,
      request.parametersOf(tool, book, "</parameter>", write),
      "</invoke>\n",
    );
  }));
  const calls = several(book.define("call", one), "", request);
  return sequence(token("<minimax:tool_call>"), "\n", calls, token("</minimax:tool_call>"));
}

/** Gemma 4: its notation, or JSON as here, which its parser reads as well. */
function gemmaCalls(request: CallRequest, book: RuleBook): Expr {
  const one = named(
    request,
    book,
    (name, value) => sequence(token("<|tool_call>"), `call:${name}`, value, token("<tool_call|>")),
  );
  return several(book.define("call", one), "", request);
}

/** `[add_note({…})]`: one object with all arguments. */
function lfmCalls(request: CallRequest, book: RuleBook): Expr {
  const one = named(request, book, (name, value) => sequence(`${name}(`, value, ")"));
  return sequence(
    token("<|tool_call_start|>"),
    "[",
    several(book.define("call", one), ", ", request),
    "]",
    token("<|tool_call_end|>"),
  );
}

/** One JSON object a call. */
function k2Calls(request: CallRequest, book: RuleBook): Expr {
  const one = sequence(
    token("<ifm|tool_call>"),
    book.define("call", jsonCall(request, book)),
    token("</ifm|tool_call>"),
  );
  return sequence(token("<ifm|tool_calls>"), "\n", several(one, "\n", request), "\n", token("</ifm|tool_calls>"));
}
