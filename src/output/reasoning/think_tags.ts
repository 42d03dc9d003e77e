/**
 * Reasoning between tags: `<think>Two and two…</think>4`. Qwen3, DeepSeek-R1 and all that learned from them.
 *
 * - An opening tag counts where an answer or a line begins, not inside a fenced block of code; several blocks are
 * parted.
 * - Where the prompt opened the block already, the answer begins inside it.
 * - A closing tag in quotes, `"</think>"`, is text of the reasoning that speaks of it.
 * - Line ends and spaces next to a tag belong to it.
 * - Some models lose the opening tag: in their formats a closing tag among the first characters of an answer, which
 * are held back for it, makes what stands before it reasoning. Nothing else tells: words that sound like reasoning are
 * content, for an answer that is hidden is lost.
 *
 * Source: chat templates of Qwen3 and DeepSeek-R1; `<thought>` is the spelling of some of their kin.
 *
 * @module
 */
import { heldTailStart } from "../held_tail.ts";
import { Run } from "../run.ts";
import type { ReasoningContext, ReasoningParser, ReasoningPiece } from "./parser.ts";

/** One format's tags. */
export interface ThinkTags {
  /** Before the reasoning. */
  open: string;
  /** Behind it. */
  close: string;
}

/** A format: its tags, and how it differs. */
export interface ThinkFormat {
  /** The first is the usual one; a block ends with the partner of the tag that opened it. */
  pairs: readonly [ThinkTags, ...ThinkTags[]];
  /** A closing tag that begins within this many UTF-16 units of an answer needs no opening one; absent: it does. */
  impliedWithin?: number;
  /** What follows a call is content. */
  callEndsReasoning?: boolean;
}

const QUOTES = "\"'`";

/** Makes the parser of an answer. @param opened Which pair the prompt opened, if it did. */
export function createThinkTags(format: ThinkFormat, context: ReasoningContext, opened = 0): ReasoningParser {
  return new ThinkTagParser(format, context, opened);
}

class ThinkTagParser implements ReasoningParser {
  readonly markers: readonly string[];
  readonly endMarker: string;
  readonly #format: ThinkFormat;
  readonly #opens: readonly string[];
  #tags: ThinkTags;
  readonly #wholeTokens: boolean;
  #inside: boolean;
  #held = Run.EMPTY;
  #line: LineState = { lineStart: true, backquotes: 0, fenced: false };
  /** White space behind a tag is dropped until something else comes. */
  #behindTag: boolean;
  /** The last character given out, for quotes. */
  #last = "";
  /** Where the prompt opened the block a model may open it once more. */
  #mayReopen: boolean;
  /** A call ended the block before its closing tag came: that is no text. */
  #mayStillClose = false;
  /** Nothing was given out, so that a closing tag may tell that it was reasoning. */
  #mayBeImplied: boolean;

  constructor(format: ThinkFormat, context: ReasoningContext, opened: number) {
    this.#format = format;
    this.#opens = format.pairs.map(({ open }) => open);
    this.#tags = format.pairs[opened] ?? format.pairs[0];
    this.markers = format.pairs.flatMap(({ open, close }) => [open, close]);
    this.endMarker = this.#tags.close;
    this.#mayBeImplied = format.impliedWithin !== undefined && !context.open && context.closed !== true;
    this.#wholeTokens = context.wholeTokens;
    this.#inside = context.open;
    this.#behindTag = context.open;
    this.#mayReopen = context.open;
  }

  get closing(): string {
    return `${this.#tags.close}\n\n`;
  }

  get inside(): boolean {
    return this.#inside;
  }

  push(run: Run): ReasoningPiece[] {
    const pieces: ReasoningPiece[] = [];
    if (run.control && !this.markers.includes(run.text)) {
      this.#mayBeImplied = false;
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
    if (this.#format.callEndsReasoning !== true || !this.#inside) return;
    this.#inside = false;
    this.#mayStillClose = true;
  }

  /** Gives out what is clear. True: there may be more. */
  #step(pieces: ReasoningPiece[], ending: boolean): boolean {
    if (this.#behindTag) this.#dropSpace(pieces);
    const text = this.#held.text;
    if (text === "") {
      if (ending) this.#mayBeImplied = false;
      return false;
    }
    if (this.#mayReopen) {
      if (!ending && this.#tags.open.length > text.length && this.#tags.open.startsWith(text)) return false;
      this.#mayReopen = false;
      if (text.startsWith(this.#tags.open)) {
        this.#mark(this.#tags.open.length, pieces);
        this.#behindTag = true;
        return true;
      }
    }
    if (this.#mayBeImplied && !this.#decideImplied(text, ending)) return false;
    const stray = this.#mayStillClose ? this.#findClose(ending) : undefined;
    const found = this.#inside ? this.#findClose(ending) : this.#findOpen();
    if (stray !== undefined && stray.at >= 0 && stray.at < (found?.at ?? text.length)) {
      this.#give(stray.at, pieces);
      this.#mark(this.#tags.close.length, pieces);
      this.#mayStillClose = false;
      this.#behindTag = true;
      return true;
    }
    if (found !== undefined && found.at >= 0) {
      const before = this.#inside ? text.slice(0, found.at).trimEnd().length : found.at;
      this.#give(before, pieces);
      this.#mark(found.at - before + (this.#inside ? this.#tags.close : this.#tags.open).length, pieces);
      this.#inside = !this.#inside;
      this.#mayStillClose = false;
      this.#behindTag = true;
      return true;
    }
    const awaited = this.#inside || this.#mayStillClose ? [this.#tags.close] : [];
    const tail = found?.hold ?? stray?.hold ??
      heldTailStart(text, this.#inside ? awaited : [...this.#opens, ...awaited]);
    // Space before a closing tag belongs to the tag.
    const border = ending ? text.length : this.#inside ? text.slice(0, tail).trimEnd().length : tail;
    this.#give(this.#wholeTokens && !ending ? this.#held.tokenBorder(border) : border, pieces);
    return false;
  }

  /** Whether the answer began inside a block whose opening tag is missing. False: more text must tell. */
  #decideImplied(text: string, ending: boolean): boolean {
    const within = this.#format.impliedWithin ?? 0;
    const { at = -1, hold } = this.#findClose(ending) ?? {};
    const close = hold ?? at;
    if (close < 0) {
      const open = this.#findOpen()?.at;
      const isClear = ending || open !== undefined || text.length >= within + this.#tags.close.length;
      if (!isClear) return false;
    } else if (close <= within) {
      if (hold !== undefined) return false;
      const open = this.#findOpen()?.at;
      this.#inside = open === undefined || open > close;
    }
    this.#mayBeImplied = false;
    return true;
  }

  #findClose(ending: boolean): { at: number; hold?: number } | undefined {
    const text = this.#held.text;
    const { close } = this.#tags;
    for (let at = text.indexOf(close); at >= 0; at = text.indexOf(close, at + 1)) {
      const before = at > 0 ? text.charAt(at - 1) : this.#last;
      if (!QUOTES.includes(before) || before === "") return { at };
      const after = text.charAt(at + close.length);
      if (after === "" && !ending) return { at: -1, hold: at };
      if (after !== before) return { at };
    }
    return undefined;
  }

  /** The first opening tag at the beginning of a line outside of fences. */
  #findOpen(): { at: number; hold?: number } | undefined {
    const text = this.#held.text;
    const line = { ...this.#line };
    for (let at = 0; at < text.length; at++) {
      if (!line.fenced && line.lineStart && text.charAt(at).trim() !== "") {
        const pair = this.#format.pairs.find(({ open }) => text.startsWith(open, at));
        if (pair !== undefined) {
          this.#tags = pair;
          return { at };
        }
      }
      walk(line, text.charAt(at));
    }
    return undefined;
  }

  #dropSpace(pieces: ReasoningPiece[]): void {
    const space = this.#held.length - this.#held.text.trimStart().length;
    this.#mark(space, pieces);
    if (this.#held.text !== "") this.#behindTag = false;
  }

  #mark(length: number, pieces: ReasoningPiece[]): void {
    const [marker, rest] = this.#held.split(length);
    this.#held = rest;
    if (marker.length > 0) pieces.push({ channel: "marker", run: marker });
    this.#line = { ...this.#line, lineStart: true, backquotes: 0 };
    this.#last = "";
  }

  #give(length: number, pieces: ReasoningPiece[]): void {
    const [given, rest] = this.#held.split(length);
    this.#held = rest;
    if (given.length === 0) return;
    // Fences of the reasoning are its own.
    if (!this.#inside) { for (let at = 0; at < given.length; at++) walk(this.#line, given.text.charAt(at)); }
    this.#last = given.text.at(-1) ?? "";
    pieces.push({ channel: this.#inside ? "reasoning" : "content", run: given });
  }
}

/** What is known of the line that is being given out. */
interface LineState {
  /** Nothing but white space stands in it. */
  lineStart: boolean;
  /** Backquotes that it began with, while nothing else came. */
  backquotes: number;
  /** An odd number of fences began lines so far. */
  fenced: boolean;
}

/** Goes over one unit of text: a fence opens or closes where three backquotes begin a line. */
function walk(line: LineState, unit: string): void {
  if (unit === "`" && (line.lineStart || line.backquotes > 0)) {
    line.lineStart = false;
    if (++line.backquotes === 3) line.fenced = !line.fenced;
    return;
  }
  line.backquotes = 0;
  if (unit === "\n") line.lineStart = true;
  else if (unit.trim() !== "") line.lineStart = false;
}
