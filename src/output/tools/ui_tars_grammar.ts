// deno-lint-ignore-file camelcase -- names of parsers and actions
/**
 * Actions of UI-TARS as a grammar: `Action: ` and one action a line, with the arguments that its prompts give each.
 *
 * Where the tool's schema lists its actions, those are the ones that may be written. Other tools than `computer` can't
 * be called in this format.
 *
 * Source: bytedance/UI-TARS `codes/ui_tars/prompt.py`.
 *
 * @module
 */
import { codePointsOf, complement, oneOf, unite } from "../../grammar/code_points.ts";
import { choice, type Expr, repeat, sequence } from "../../grammar/expr.ts";
import { DIGIT, NONZERO } from "../../grammar/json.ts";
import type { RuleBook } from "../../grammar/rule_book.ts";
import { type CallRequest, several } from "./call_request.ts";
import { UI_TARS_TOOL } from "./ui_tars.ts";

/** Digits of a coordinate. */
const COORDINATE_DIGITS_MAX = 4;

const NUMBER = choice("0", sequence(NONZERO, repeat(DIGIT, 0, COORDINATE_DIGITS_MAX - 1)));
const POINT = sequence("'<point>", NUMBER, " ", NUMBER, "</point>'");
/** Quotes and line ends stand in a text behind a backslash. */
const TEXT = sequence(
  "'",
  repeat(
    choice(
      oneOf(complement(unite(codePointsOf("'\\"), codePointsOf("\n\r")))),
      sequence("\\", oneOf(codePointsOf("n'\\"))),
    ),
    0,
    null,
  ),
  "'",
);
const KEYS = sequence("'", repeat(oneOf(codePointsOf("abcdefghijklmnopqrstuvwxyz0123456789 ")), 1, 32), "'");
const DIRECTION = sequence("'", choice("up", "down", "left", "right"), "'");

/** Action → its arguments. */
const ACTIONS: Readonly<Record<string, Readonly<Record<string, Expr>>>> = {
  click: { point: POINT },
  left_double: { point: POINT },
  right_single: { point: POINT },
  long_press: { point: POINT },
  drag: { start_point: POINT, end_point: POINT },
  hotkey: { key: KEYS },
  type: { content: TEXT },
  scroll: { point: POINT, direction: DIRECTION },
  open_app: { app_name: TEXT },
  press_home: {},
  press_back: {},
  wait: {},
  finished: { content: TEXT },
};

/** The actions of an answer. @param book Keeps the rule of one. */
export function uiTarsCalls(request: CallRequest, book: RuleBook): Expr {
  const tool = request.tools.find(({ name }) => name === UI_TARS_TOOL);
  const listed = listedActions(tool?.parameters);
  const names = Object.keys(ACTIONS).filter((name) => listed?.has(name) ?? true);
  // A schema that lists none of them names them otherwise: then it can't tell which are meant.
  const offered = names.length > 0 ? names : Object.keys(ACTIONS);
  const one = choice(...offered.map((name) => {
    const written = Object.entries(ACTIONS[name] ?? {}).map(([key, value], at) =>
      sequence(`${at === 0 ? "" : ", "}${key}=`, value)
    );
    return sequence(`${name}(`, ...written, ")");
  }));
  return sequence("Action: ", several(book.define("action", one), "\n", request));
}

function listedActions(parameters: unknown): Set<string> | undefined {
  const list: unknown = Object(Object(Object(parameters).properties).action).enum;
  return Array.isArray(list) ? new Set(list.map(String)) : undefined;
}
