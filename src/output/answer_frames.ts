// deno-lint-ignore-file camelcase -- names of parsers
/**
 * What stands before a bound answer and around its content: thinking, as each format of reasoning writes it, and the
 * headers of formats whose answers are segments.
 *
 * Thinking is free, but it must end before the answer may, so that an answer never is thinking alone.
 *
 * @module
 */
import { choice, EMPTY, type Expr, optional, repeat, sequence, token } from "../grammar/expr.ts";
import type { RuleBook } from "../grammar/rule_book.ts";
import { ANY_TEXT, textUntil } from "../grammar/until.ts";
import { opensReasoning, type ReasoningParserName, type SegmentName, thinkTagsOf } from "./reasoning/mod.ts";

/** The frame of an answer. */
export interface AnswerFrame {
  /** What may come first. */
  thinking: Expr;
  /** Content with what stands around it. */
  content: (content: Expr) => Expr;
  /** The same of calls; absent: nothing does. */
  calls?: (calls: Expr) => Expr;
}

/** What has to be known. */
interface FrameRequest {
  prompt: string;
  /** The template opened the thinking. */
  isOpen: boolean;
  /** Any text up to a mark, and the mark. @param behind Once, behind it. */
  until: (mark: string, behind?: Expr) => Expr;
  /** The rest of a line, and its end. */
  line: () => Expr;
}

/** Behind a closing tag: a line end, so that no sign of the answer makes it look quoted. */
const BEHIND_TAG = repeat({ kind: "text", text: "\n" }, 1, 2);

const SPACE = optional({ kind: "text", text: " " });

const PLAIN = (content: Expr): Expr => content;

/** The frame of an answer. */
export function frameOf(reasoning: ReasoningParserName, prompt: string, book: RuleBook): AnswerFrame {
  const until = (mark: string, behind: Expr = EMPTY): Expr => {
    const spelled = sequence(textUntil(mark, "thinking", (name, expr) => book.define(name, expr)), behind);
    // Where the mark is a control token, text can't spell it.
    return choice(spelled, sequence(ANY_TEXT, token(mark), behind));
  };
  const isOpen = opensReasoning(reasoning, prompt);
  const tags = thinkTagsOf(reasoning, prompt);
  if (tags !== undefined) {
    const inside = until(tags.close, BEHIND_TAG);
    const isClosed = prompt.trimEnd().endsWith(tags.close);
    const thinking = isOpen ? inside : isClosed ? EMPTY : optional(sequence(token(tags.open), inside));
    return { thinking, content: PLAIN };
  }
  const line = (): Expr => textUntil("\n", "line", (name, expr) => book.define(name, expr));
  return SEGMENT_FRAMES[reasoning as SegmentName | "none"]({ prompt, isOpen, until, line });
}

const SEGMENT_FRAMES: Record<SegmentName | "none", (request: FrameRequest) => AnswerFrame> = {
  none: () => ({ thinking: EMPTY, content: PLAIN }),

  /** Version 3.2's prompt ends with the mark before a message's receiver. */
  functionary: ({ prompt }) => ({
    thinking: EMPTY,
    content: (content) => prompt.endsWith(">>>") ? sequence("all\n", content) : content,
  }),

  gemma4: ({ isOpen, until }) => ({
    thinking: isOpen ? until("<channel|>") : optional(sequence(token("<|channel>"), "thought\n", until("<channel|>"))),
    content: PLAIN,
  }),

  /** Messages with a receiver each; the prompt ends behind the author of the first. */
  muse: ({ isOpen, until }) => {
    const inside = until("<|eom|>", sequence(token("<|start|>"), "assistant "));
    const message = sequence("to=self", token("<|message|>"), inside);
    return {
      thinking: isOpen ? inside : sequence(SPACE, optional(message)),
      content: (content) => sequence("to=user", token("<|message|>"), content),
    };
  },

  north: ({ isOpen, until }) => ({
    thinking: isOpen
      ? until("<|END_THINKING|>")
      : optional(sequence(token("<|START_THINKING|>"), until("<|END_THINKING|>"))),
    content: (content) =>
      choice(
        ...["TEXT", "RESPONSE"].map((name) =>
          sequence(token(`<|START_${name}|>`), content, optional(token(`<|END_${name}|>`)))
        ),
      ),
  }),

  /** A thought is a line before the action; behind one all is thought until an action comes. */
  ui_tars: ({ isOpen, line }) => ({
    thinking: EMPTY,
    content: PLAIN,
    calls: (calls) => sequence(isOpen ? line() : optional(sequence("Thought: ", line())), calls),
  }),
};
