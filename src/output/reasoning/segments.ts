/**
 * Reasoning and content in segments, each with a mark before it: gemma4, muse, north, functionary and ui_tars.
 *
 * - A mark leads to reasoning or to content and is not shown. Text that no mark precedes is content, or what the mark
 * that ended the prompt says.
 * - A mark in quotes, `"<channel|>"`, is text that speaks of it.
 * - White space behind a mark, and before one that ends reasoning, belongs to the mark.
 *
 * @module
 */
import { heldTailStart } from "../held_tail.ts";
import { Run } from "../run.ts";
import type { ReasoningContext, ReasoningParser, ReasoningPiece } from "./parser.ts";

/** Where a mark leads to. */
export type Channel = "content" | "reasoning";

/** A mark. */
export interface SegmentMark {
  /** What it begins with; "": it is found only at the answer's start. */
  start: string;
  /** All of it, from its start on; absent: its start. `$` stands for the end of the answer. */
  whole?: RegExp;
  /** What may yet become it. */
  partial?: RegExp;
  /** Where it leads to. */
  to: Channel;
  /** `line`: only where a line begins; `answer`: only where the answer does. */
  place?: "line" | "answer";
  /** It is shown as part of what it leads to. */
  shown?: boolean;
  /** White space before it belongs to what it leads to, unless that has just begun. */
  spaceGoesOn?: boolean;
}

/** A format. */
export interface SegmentShape {
  /** The first one that fits counts. */
  marks: readonly SegmentMark[];
  /** Special tokens that marks are made of. */
  markers: readonly string[];
  /** What ends the reasoning, for parsers that look where the answer begins; "": it is not told. */
  endMarker: string;
  /** What ends the reasoning in the model's stead and begins its answer; absent: nothing can. */
  closing?: string;
  /** The same where nothing but a call may follow; absent: as `closing`. */
  closingBeforeCall?: string;
  /** What follows a call is content. */
  callEndsReasoning?: boolean;
}

/** Longest mark, in UTF-16 units. */
const MARK_LENGTH_MAX = 300;

const QUOTES = "\"'`";

/** Makes the parser of an answer. */
export function createSegments(shape: SegmentShape, context: ReasoningContext): ReasoningParser {
  return new SegmentParser(shape, context);
}

/** Where the mark that a prompt ends with leads to; undefined: it ends with none. */
export function channelOfPrompt(shape: SegmentShape, prompt: string): Channel | undefined {
  const text = prompt.trimEnd();
  let best: { end: number; to: Channel } | undefined;
  for (const mark of shape.marks) {
    if (mark.start === "") continue;
    const at = text.lastIndexOf(mark.start);
    if (at < 0) continue;
    const length = mark.whole === undefined
      ? mark.start.length
      : mark.whole.exec(`${text.slice(at)}\n`)?.[0].length ?? 0;
    if (length > 0 && at + length === text.length && (best === undefined || at + length > best.end)) {
      best = { end: at + length, to: mark.to };
    }
  }
  return best?.to;
}

interface Found {
  at: number;
  /** Length of the mark; undefined: more text must tell. */
  length: number | undefined;
  mark: SegmentMark;
}

class SegmentParser implements ReasoningParser {
  readonly markers: readonly string[];
  readonly endMarker: string;
  readonly #shape: SegmentShape;
  readonly #wholeTokens: boolean;
  readonly #starts: readonly string[];
  #channel: Channel;
  #held = Run.EMPTY;
  /** White space behind a mark is dropped until something else comes. */
  #behindMark: boolean;
  /** Whether something was given to this channel. */
  readonly #gave = { content: false, reasoning: false };
  readonly #holdsSpace: boolean;
  /** Nothing but white space was seen of the answer. */
  #isStart = true;
  /** The last character given out; a line end before the first. */
  #last = "\n";

  constructor(shape: SegmentShape, context: ReasoningContext) {
    this.#shape = shape;
    this.markers = shape.markers;
    this.endMarker = shape.endMarker;
    this.#wholeTokens = context.wholeTokens;
    this.#holdsSpace = shape.marks.some((mark) => mark.spaceGoesOn === true);
    this.#starts = shape.marks.map(({ start }) => start).filter((start) => start !== "");
    this.#channel = context.open ? "reasoning" : "content";
    this.#behindMark = context.open;
  }

  get closing(): string {
    return this.#shape.closing ?? "";
  }

  get inside(): boolean {
    return this.#channel === "reasoning";
  }

  push(run: Run): ReasoningPiece[] {
    const pieces: ReasoningPiece[] = [];
    if (run.control && !this.markers.includes(run.text)) {
      this.#give(this.#held.length, pieces);
      pieces.push({ channel: "marker", run });
      return pieces;
    }
    this.#held = this.#held.concat(run.control ? new Run(run.text, run.tokens) : run);
    while (this.#step(pieces, false));
    return pieces;
  }

  finish(): ReasoningPiece[] {
    const pieces: ReasoningPiece[] = [];
    while (this.#step(pieces, true));
    return pieces;
  }

  /** A call ended. */
  afterCall(): void {
    this.#isStart = false;
    this.#last = "\n";
    if (this.#shape.callEndsReasoning === true) this.#channel = "content";
  }

  /** Gives out what is clear. True: there may be more. */
  #step(pieces: ReasoningPiece[], ending: boolean): boolean {
    if (this.#behindMark) {
      this.#mark(this.#held.length - this.#held.text.trimStart().length, pieces);
      if (this.#held.text !== "") this.#behindMark = false;
    }
    const text = this.#held.text;
    if (text === "") return false;
    const found = this.#find(text, ending);
    if (found?.length !== undefined) {
      const { at, length, mark } = found;
      const trims = this.#channel === "reasoning" || mark.spaceGoesOn === true;
      const before = trims ? text.slice(0, at).trimEnd().length : at;
      this.#give(before, pieces);
      if (mark.shown === true) {
        this.#mark(at - before, pieces);
        this.#channel = mark.to;
        this.#give(length, pieces);
      } else {
        this.#channel = mark.to;
        if (mark.spaceGoesOn === true && this.#gave[mark.to]) {
          this.#give(at - before, pieces);
          this.#mark(length, pieces);
        } else this.#mark(at - before + length, pieces);
        this.#behindMark = true;
        this.#last = "\n";
      }
      this.#isStart = false;
      return true;
    }
    const tail = ending ? text.length : Math.min(found?.at ?? text.length, heldTailStart(text, this.#starts));
    const trims = this.#channel === "reasoning" || this.#holdsSpace;
    const border = trims && !ending ? text.slice(0, tail).trimEnd().length : tail;
    this.#give(this.#wholeTokens && !ending ? this.#held.tokenBorder(border) : border, pieces);
    return false;
  }

  /** The first mark, or the first place where more text must tell. */
  #find(text: string, ending: boolean): Found | undefined {
    let best: Found | undefined;
    for (const mark of this.#shape.marks) {
      const found = this.#findMark(mark, text, ending);
      if (found !== undefined && (best === undefined || found.at < best.at)) best = found;
    }
    return best;
  }

  #findMark(mark: SegmentMark, text: string, ending: boolean): Found | undefined {
    if (mark.place === "answer") {
      if (!this.#isStart) return undefined;
      const at = text.search(/\S|$/);
      const found = text.startsWith(mark.start, at) ? this.#measure(mark, text, at, ending) : undefined;
      // White space before it is part of it.
      return found && { ...found, at: 0, length: found.length === undefined ? undefined : at + found.length };
    }
    for (let at = text.indexOf(mark.start); at >= 0; at = text.indexOf(mark.start, at + 1)) {
      if (mark.place === "line" && !this.#beginsLine(text, at)) continue;
      const found = this.#measure(mark, text, at, ending);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #beginsLine(text: string, at: number): boolean {
    const before = this.#last + text.slice(0, at);
    return before.slice(before.lastIndexOf("\n") + 1).trim() === "" && before.includes("\n");
  }

  /** How long the mark at a place is, if there is one. */
  #measure(mark: SegmentMark, text: string, at: number, ending: boolean): Found | undefined {
    const rest = text.slice(at);
    let length: number | undefined = mark.start.length;
    if (mark.whole !== undefined) {
      const whole = mark.whole.exec(ending ? `${rest}\n` : rest);
      const mayGrow = !ending && rest.length <= MARK_LENGTH_MAX && mark.partial?.test(rest) === true;
      if (whole === null) return mayGrow ? { at, length: undefined, mark } : undefined;
      length = Math.min(whole[0].length, rest.length);
    }
    const before = at > 0 ? text.charAt(at - 1) : this.#last;
    if (!QUOTES.includes(before)) return { at, length, mark };
    const after = rest.charAt(length);
    if (after === "" && !ending) return { at, length: undefined, mark };
    return after === before ? undefined : { at, length, mark };
  }

  #mark(length: number, pieces: ReasoningPiece[]): void {
    const [marker, rest] = this.#held.split(length);
    this.#held = rest;
    if (marker.length > 0) pieces.push({ channel: "marker", run: marker });
  }

  #give(length: number, pieces: ReasoningPiece[]): void {
    const [given, rest] = this.#held.split(length);
    this.#held = rest;
    if (given.length === 0) return;
    this.#gave[this.#channel] = true;
    if (given.text.trim() !== "") this.#isStart = false;
    const line = this.#last + given.text;
    // Enough of it to know whether the line is still blank.
    this.#last = line.slice(Math.max(0, line.lastIndexOf("\n"))).trim() === "" ? "\n" : given.text.slice(-1);
    pieces.push({ channel: this.#channel, run: given });
  }
}
