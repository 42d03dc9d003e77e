/**
 * UI-TARS, whose calls are lines of actions on a screen:
 *
 * ```
 * Thought: press it
 * Action: click(point='<point>120 48</point>')
 * ```
 *
 * Each is a call of the tool `computer`, if that is declared: `{"action": "click", "point": [120, 48]}`. Points come as
 * `<point>x y</point>`, `(x,y)`, bare, or between box tokens; of a box its centre is taken. Several actions stand on
 * lines of their own. Thoughts are reasoning (reasoning/segment_shapes.ts).
 *
 * Source: bytedance/UI-TARS `codes/ui_tars/prompt.py` and README_v1.5; the tool's shape is that of Rapid-MLX.
 *
 * @module
 */
import { CallReader } from "./call_reader.ts";
import type { ToolContext, ToolParser } from "./parser.ts";
import { ToolScanner } from "./tool_scanner.ts";

/** The tool that all actions are calls of. */
export const UI_TARS_TOOL = "computer";
const OPEN = "Action:";
const BOX = ["<|box_start|>", "<|box_end|>"];

/** What can be done. */
const VERBS =
  "click|left_double|double_click|left_single|right_single|right_click|middle_click|drag|select|hover|hotkey|press|" +
  "keydown|keyup|release|type|scroll|wait|finished|call_user|long_press|open_app|press_home|press_back";

const ACTION = new RegExp(`^\\s*(${VERBS})\\(`);
const PARTIAL_ACTION = /^\s*[a-z_]{0,16}$/;

/** Longest action, in UTF-16 units: it is read from its start whenever more of it comes. */
const ACTION_CHARS_MAX = 16 * 1024;

/** Names of arguments that are places. */
const PLACES = new Set(["point", "start_point", "end_point", "start_box", "end_box"]);

/** Makes the parser of an answer. */
export function createUiTars(context: ToolContext): ToolParser {
  const openers = context.tools.has(UI_TARS_TOOL)
    ? [{ text: OPEN, place: "line", read: () => new ActionReader() } as const]
    : [];
  return new ToolScanner(openers, BOX, context);
}

/** Actions, from behind the word on. */
class ActionReader extends CallReader {
  #actions = 0;

  protected step(): boolean {
    const header = ACTION.exec(this.text);
    if (header === null) {
      if (this.end === undefined && PARTIAL_ACTION.test(this.text)) return false;
      // Words behind it, or behind the last action, are words.
      return this.#actions > 0 ? this.#stop() : this.break("");
    }
    const verb = header[1] ?? "";
    const text = this.text.slice(header[0].length, ACTION_CHARS_MAX);
    const found = readArguments(text, verb, this.end !== undefined && this.text.length <= ACTION_CHARS_MAX);
    if (found === "open" && this.text.length > ACTION_CHARS_MAX) {
      return this.#broken(`an action has more than ${ACTION_CHARS_MAX} characters`);
    }
    if (found === "open") return this.end === undefined ? false : this.#broken("an action has no end");
    if (typeof found === "string") return this.#broken(found);
    const rest = this.text.slice(header[0].length + found.length);
    if (rest.trim() === "" && !rest.includes("\n") && this.end !== "natural") return false;
    this.take(header[0].length + found.length);
    for (const box of found.boxes) this.repair("box_centre_taken", box);
    this.emit(
      { type: "callStart", name: UI_TARS_TOOL },
      { type: "callArguments", json: JSON.stringify({ action: verb, ...found.values }) },
      { type: "callEnd" },
    );
    this.#actions++;
    return this.text.trim() === "" && this.end !== undefined ? this.#stop() : true;
  }

  /** Actions before it stand. */
  #broken(reason: string): false {
    if (this.#actions === 0) return this.break(reason);
    this.repair("tool_call_shown_as_text", reason);
    return this.#stop();
  }

  #stop(): false {
    return this.finish();
  }
}

/** Arguments that were read. */
interface Arguments {
  values: Record<string, unknown>;
  /** Characters, closing bracket included. */
  length: number;
  /** Boxes whose centre was taken. */
  boxes: string[];
}

/** Reads up to the closing bracket. `open`: it is not there yet; another text: why they are none. */
function readArguments(text: string, verb: string, ended: boolean): Arguments | string {
  const found: Arguments = { values: {}, length: 0, boxes: [] };
  let at = 0;
  for (;;) {
    const rest = text.slice(at);
    const close = /^\s*,?\s*\)/.exec(rest);
    if (close !== null) return { ...found, length: at + close[0].length };
    const key = /^\s*(?:,\s*)?([a-z_]{1,64})\s*=\s*(?:(['"])|(?=[^'"\s]))/.exec(rest);
    if (key === null) {
      return /^\s*(?:,\s*)?(?:[a-z_]{1,64}\s*(?:=\s*)?)?$/.test(rest) ? "open" : "its arguments are damaged";
    }
    at += key[0].length;
    const [, name = "", quote] = key;
    const end = quote === undefined ? endOfBare(text, at) : endOfQuoted(text, at, quote, ended);
    if (end === undefined) return "open";
    const value = text.slice(at, end);
    at = end + (quote === undefined ? 0 : 1);
    if (Object.hasOwn(found.values, keyOf(name, verb))) return `the argument ${JSON.stringify(name)} is there twice`;
    found.values[keyOf(name, verb)] = PLACES.has(name) ? toPoint(value, found) : unescape(value);
  }
}

/** Other than drags have one place, whatever it is called. */
function keyOf(name: string, verb: string): string {
  if (!PLACES.has(name)) return name;
  const isPair = verb === "drag" || verb === "select";
  if (!isPair) return name.startsWith("end") ? "end_point" : "point";
  return name.startsWith("end") ? "end_point" : "start_point";
}

/** The first quotation mark behind which arguments can go on. */
function endOfQuoted(text: string, from: number, quote: string, ended: boolean): number | undefined {
  for (let at = text.indexOf(quote, from); at >= 0; at = text.indexOf(quote, at + 1)) {
    let backslashes = 0;
    while (at - backslashes > from && text.charAt(at - backslashes - 1) === "\\") backslashes++;
    if (backslashes % 2 === 1) continue;
    const rest = text.slice(at + 1);
    if (/^\s*\)[ \t]*(?:\n|$)/.test(rest) && (ended || /^\s*\)[ \t]*\n/.test(rest))) return at;
    if (/^\s*,\s*[a-z_]{1,64}\s*=/.test(rest)) return at;
    const mayCome = /^\s*(?:\)[ \t]*|,\s*[a-z_]{0,64}\s*)?$/.test(rest);
    if (mayCome && !ended) return undefined;
  }
  return undefined;
}

function endOfBare(text: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === "(" || sign === "[") depth++;
    else if ((sign === ")" || sign === "]") && depth > 0) depth--;
    else if (depth === 0 && (sign === ")" || sign === ",")) return at;
  }
  return undefined;
}

/** `<point>120 48</point>`, `(120,48)`, `[1, 2, 3, 4]` → numbers; what is none of that stays text. */
function toPoint(raw: string, found: Arguments): number[] | string {
  const bare = raw.replace(/<\|box_(?:start|end)\|>|<\/?(?:point|bbox)>|[()[\]]/g, " ").trim();
  const parts = bare.split(/[\s,]+/);
  // As JSON writes them: a number with digits that say nothing stays what was written.
  if (!parts.every((part) => /^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/.test(part))) return raw;
  const numbers = parts.map(Number);
  if (numbers.length === 2) return numbers;
  if (numbers.length !== 4) return raw;
  const [left = 0, top = 0, right = 0, bottom = 0] = numbers;
  if (left !== right || top !== bottom) found.boxes.push(numbers.join(" "));
  return [(left + right) / 2, (top + bottom) / 2];
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

function unescape(value: string): string {
  return value.replace(/\\([ntr'"\\])/g, (_, sign: string) => ESCAPES[sign] ?? sign);
}
