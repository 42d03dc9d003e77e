/**
 * Keeps text that a client wrote from becoming control tokens.
 *
 * A template is rendered to one text and then read with its special tokens, so a client's `<|im_end|>` would end its
 * own turn and begin another one. Here such spellings are wrapped in marks before rendering and read as plain text
 * after it; text without any goes the short way, and its ids are those of transformers.
 *
 * Control tokens are the special tokens and those added tokens that stand in the template's own text, like `<think>`.
 * Source: transformers v5.24 `apply_chat_template(sanitize_control_tokens=True)`; differs in that keys are marked too,
 * and that the marks are noncharacters, so that no text of a client loses characters.
 *
 * @module
 */
import { TemplateError } from "./errors.ts";
import { Dict, type Key, type Value } from "./jinja/values.ts";
import type { AddedTokenJson } from "./text_files.ts";

/** Begin and end of a spelling that is to stay text. */
export interface Marks {
  /** One code unit that the conversation does not hold. */
  begin: string;
  /** Another one. */
  end: string;
}

/** Noncharacters, which Unicode reserves for use inside programs: U+FDD0 to U+FDEF. */
const CANDIDATES = Array.from({ length: 32 }, (_, i) => String.fromCharCode(0xfdd0 + i));

/** The tokens that a client's text must not become. */
export function controlTokens(added: readonly AddedTokenJson[], templateText: string): string[] {
  return added.filter(({ special, content }) => special || (templateText.includes(content) && content.trim() !== ""))
    .map(({ content }) => content);
}

/** Finds any of some tokens, longer ones first. */
export function toTokenPattern(tokens: readonly string[]): RegExp {
  const longestFirst = [...tokens].sort((left, right) => right.length - left.length);
  return new RegExp(longestFirst.map(RegExp.escape).join("|") || "(?!)", "g");
}

/** Whether a value holds a text, keys included, that a pattern finds. */
export function holds(value: unknown, pattern: RegExp): boolean {
  let found = false;
  mapTexts(value, (text) => {
    found ||= text.search(pattern) >= 0;
    return text;
  });
  return found;
}

/** Marks that no text of a value holds. @throws {TemplateError} If it holds nearly all noncharacters. */
export function chooseMarks(value: unknown): Marks {
  const free = CANDIDATES.filter((candidate) => !holds(value, new RegExp(candidate)));
  const [begin, end] = free;
  if (begin === undefined || end === undefined) {
    throw new TemplateError("The conversation spells control tokens and holds the noncharacters U+FDD0 to U+FDEF");
  }
  return { begin, end };
}

/** A value with all that a pattern finds between marks. */
export function mark(value: unknown, pattern: RegExp, marks: Marks): unknown {
  return mapTexts(value, (text) => text.replace(pattern, (token) => marks.begin + token + marks.end));
}

/** A piece of a prompt: to be read as it is, or as plain text. */
export interface PromptPiece {
  /** Without marks. */
  text: string;
  /** Whether it was marked. */
  plain: boolean;
}

/**
 * A rendered prompt in pieces. A mark whose partner the template cut off is dropped, but still parts the text, so that
 * what is left and right of it can't join into a token.
 */
export function toPieces(text: string, tokens: readonly string[], marks: Marks): PromptPiece[] {
  const token = toTokenPattern(tokens).source;
  const parts = text.split(new RegExp(`${marks.begin}(${token})${marks.end}|[${marks.begin}${marks.end}]`));
  return parts.map((part, i) => ({ text: part ?? "", plain: i % 2 === 1 })).filter((piece) => piece.text !== "");
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (value instanceof Dict) {
    return new Dict(
      new Map([...value.entries].map(([key, item]): [Key, Value] => [
        typeof key === "string" ? change(key) : key,
        // A value of values.ts stays one.
        mapTexts(item, change) as Value,
      ])),
    );
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [change(key), mapTexts(item, change)]));
}
