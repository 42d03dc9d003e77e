/**
 * Finds calls by their openers: the walk that all dialects with openers share.
 *
 * In text it looks for openers, holding back what may begin one; in a call it hands text to the opener's reader. A call
 * that turns out to be none becomes text from its opener on, and the search goes on right behind that opener, so that a
 * valid call inside or after a damaged one is found.
 *
 * White space before an opener belongs to the call; behind a call it is shown only if text was shown before and more
 * text follows.
 *
 * @module
 */
import { heldTailStart } from "../held_tail.ts";
import { Run } from "../run.ts";
import type { CallProgress, CallReader } from "./call_reader.ts";
import type { AnswerEnd, ToolContext, ToolParser, ToolPiece } from "./parser.ts";

/** What begins a call. */
export interface Opener {
  /** Exact spelling. */
  text: string;
  /**
   * `line`: only white space may stand before it in its line. `answerStart`: only white space may stand before it, in
   * all of the answer or since the end of its reasoning.
   */
  place: "anywhere" | "line" | "answerStart";
  /** Makes the reader of what follows; it also gets the opener if `isPart`. */
  read: () => CallReader;
  /** The opener is the beginning of what the reader reads, such as a bracket. */
  isPart?: boolean;
}

/** Characters that may be looked at again after broken calls: a model that writes only openers must not cost more. */
const RESCAN_CHARS_MAX = 16 * 1024 * 1024;

interface OpenCall {
  reader: CallReader;
  /** White space and opener, and then all that was read. */
  raw: Run[];
  started: boolean;
  repairs: (ToolPiece & { type: "repair" })[];
}

/** One answer's search. */
export class ToolScanner implements ToolParser {
  readonly markers: readonly string[];
  readonly #openers: readonly Opener[];
  readonly #spellings: readonly string[];
  readonly #closers: readonly string[];
  readonly #wholeTokens: boolean;
  readonly #reasoningEnd: string;
  readonly #reasoningMarkers: readonly string[];
  #held = Run.EMPTY;
  #call: OpenCall | undefined;
  /** Whether text was shown, and whether the last thing was a call. */
  #shown = false;
  #behindCall = false;
  /** Whether a line begins behind what was shown. */
  #behindLine = true;
  /** Whether only white space was shown, of the answer or since its reasoning ended. */
  #blank = true;
  /** The last characters shown: the end of the reasoning may be cut anywhere. */
  #tail = "";
  #rescanLeft = RESCAN_CHARS_MAX;

  /**
   * Takes openers, and the special tokens that the dialect is written in.
   *
   * @param closers Closing tags that belong to a call right before them also where its reader did not ask for them: a
   * model that leaves an opening tag out may still close it.
   */
  constructor(
    openers: readonly Opener[],
    markers: readonly string[],
    context: ToolContext,
    closers: readonly string[] = [],
  ) {
    this.#closers = closers;
    this.#openers = openers;
    this.#spellings = openers.map((opener) => opener.text);
    this.markers = markers;
    this.#wholeTokens = context.wholeTokens;
    this.#reasoningEnd = context.reasoningEnd;
    this.#reasoningMarkers = context.reasoningMarkers ?? [];
  }

  /** What a run makes clear. */
  push(run: Run): ToolPiece[] {
    const pieces: ToolPiece[] = [];
    const isRead = this.markers.includes(run.text) ||
      (this.#call !== undefined && this.#reasoningMarkers.includes(run.text));
    if (run.control && !isRead) {
      // A special token that nobody reads parts the text, but not a call.
      if (this.#call === undefined) this.#release(pieces);
      if (run.text === this.#reasoningEnd) this.#blank = true;
      pieces.push({ type: "text", run });
      return pieces;
    }
    this.#feed(run.control ? new Run(run.text, run.tokens) : run, pieces);
    return pieces;
  }

  /** What is left. */
  finish(end: AnswerEnd): ToolPiece[] {
    const pieces: ToolPiece[] = [];
    for (;;) {
      while (this.#call === undefined && this.#search(pieces, true));
      if (this.#call === undefined) break;
      this.#progress(this.#call, this.#call.reader.read("", end), pieces);
      // What is left of a call that was cut is text, whatever stands in it.
      if (end === "cut") break;
    }
    this.#release(pieces);
    return pieces;
  }

  #feed(run: Run, pieces: ToolPiece[]): void {
    if (this.#call === undefined) this.#held = this.#held.concat(run);
    else this.#read(this.#call, run, pieces);
    while (this.#call === undefined && this.#search(pieces));
  }

  /** Looks for an opener in what is held, and shows what can't be part of one. True: a call was read and ended. */
  #search(pieces: ToolPiece[], ending = false): boolean {
    const closes = this.#behindCall ? this.#readCloser(pieces, ending) : undefined;
    if (closes !== undefined) return closes;
    const found = this.#find(this.#held.text);
    if (found === undefined || (!ending && this.#mayGrow(found))) {
      const text = this.#held.text;
      const start = found?.start ?? heldTailStart(text, this.#spellings);
      const border = text.slice(0, start).trimEnd().length;
      this.#showUpTo(this.#wholeTokens ? this.#held.tokenBorder(border) : border, pieces);
      return false;
    }
    const { opener, start } = found;
    const border = this.#held.text.slice(0, start).trimEnd().length;
    this.#showUpTo(border, pieces);
    const [before, rest] = this.#held.split(start - border + opener.text.length);
    this.#held = Run.EMPTY;
    const call: OpenCall = { reader: opener.read(), raw: [before], started: false, repairs: [] };
    this.#call = call;
    if (opener.isPart === true) this.#progress(call, call.reader.read(opener.text), pieces);
    if (this.#call === call) this.#read(call, rest, pieces);
    else this.#held = this.#held.concat(rest);
    return this.#call === undefined;
  }

  /** A closing tag right behind a call. False: it may yet come; undefined: there is none. */
  #readCloser(pieces: ToolPiece[], ending: boolean): boolean | undefined {
    const text = this.#held.text.trimStart();
    const closer = this.#closers.find((one) => text.startsWith(one));
    if (closer === undefined) {
      return !ending && text !== "" && this.#closers.some((one) => one.startsWith(text)) ? false : undefined;
    }
    this.#held = this.#giveWire(this.#held, this.#held.text.length - text.length + closer.length, pieces);
    pieces.push({ type: "repair", name: "stray_closing_tag_dropped", detail: closer });
    return true;
  }

  #find(text: string): { opener: Opener; start: number } | undefined {
    let best: { opener: Opener; start: number } | undefined;
    for (const opener of this.#openers) {
      const start = this.#placeOf(opener, text);
      if (start === undefined) continue;
      const isBetter = best === undefined || start < best.start ||
        (start === best.start && opener.text.length > best.opener.text.length);
      if (isBetter) best = { opener, start };
    }
    return best;
  }

  /** Whether a longer opener may yet stand where one was found: `[TOOL_CALLS]` begins with a bracket. */
  #mayGrow({ opener, start }: { opener: Opener; start: number }): boolean {
    const text = this.#held.text.slice(start);
    return this.#spellings.some((spelling) => spelling.length > opener.text.length && spelling.startsWith(text));
  }

  #placeOf(opener: Opener, text: string): number | undefined {
    if (opener.place === "anywhere") {
      const start = text.indexOf(opener.text);
      return start < 0 ? undefined : start;
    }
    if (opener.place === "line") {
      for (let at = text.indexOf(opener.text); at >= 0; at = text.indexOf(opener.text, at + 1)) {
        const line = text.slice(text.lastIndexOf("\n", at) + 1, at);
        if (line.trim() === "" && (line.length < at || this.#behindLine)) return at;
      }
      return undefined;
    }
    return this.#answerStarts(text).map((at) => at + text.slice(at).search(/\S|$/)).find((at) =>
      text.startsWith(opener.text, at)
    );
  }

  /** Where in held text the answer may begin: at its front if nothing was shown yet, and behind its reasoning. */
  #answerStarts(text: string): number[] {
    const starts = this.#blank ? [0] : [];
    if (this.#reasoningEnd === "") return starts;
    const seen = this.#tail + text;
    for (let at = seen.indexOf(this.#reasoningEnd); at >= 0; at = seen.indexOf(this.#reasoningEnd, at + 1)) {
      starts.push(at + this.#reasoningEnd.length - this.#tail.length);
    }
    return starts;
  }

  #read(call: OpenCall, run: Run, pieces: ToolPiece[]): void {
    if (run.text === "" && run.tokens.length === 0) return;
    call.raw.push(run);
    this.#progress(call, call.reader.read(run.text), pieces);
  }

  #progress(call: OpenCall, progress: CallProgress, pieces: ToolPiece[]): void {
    for (const piece of progress.pieces) {
      // Repairs count when the call does, each kind once.
      if (piece.type === "repair") {
        const known = call.repairs.some((one) => one.name === piece.name && one.detail === piece.detail);
        if (!known) call.repairs.push(piece);
      } else pieces.push(piece);
      if (piece.type === "callStart") call.started = true;
      if (piece.type === "callEnd") {
        call.started = false;
        pieces.push(...call.repairs.splice(0));
      }
    }
    if (progress.state === "open") return;
    this.#call = undefined;
    const whole = joinRuns(call.raw);
    if (progress.state === "done") {
      pieces.push(...call.repairs);
      this.#behindCall = true;
      this.#behindLine = true;
      this.#held = this.#giveWire(whole, whole.length - progress.unread, pieces);
      return;
    }
    if (call.started) pieces.push({ type: "callBroken" });
    // Without a reason it never looked like one.
    if (progress.reason !== "") {
      pieces.push({ type: "repair", name: "tool_call_shown_as_text", detail: progress.reason });
    }
    if (progress.settled) {
      // Calls before the broken one stand: only what follows them is text.
      this.#behindCall = true;
      this.#held = this.#giveWire(whole, whole.length - progress.unsettledLength, pieces);
    } else {
      const [opener, rest] = whole.split(call.raw[0]?.length ?? 0);
      this.#held = opener;
      this.#release(pieces);
      this.#held = rest;
    }
    this.#rescanLeft -= this.#held.length;
    if (this.#rescanLeft < 0) this.#release(pieces);
  }

  /** Shows the held text up to an offset. */
  #showUpTo(border: number, pieces: ToolPiece[]): void {
    const [open, rest] = this.#held.split(border);
    this.#held = rest;
    this.#show(open, pieces);
  }

  /** Shows all that is held, unless it is white space behind a call. */
  #release(pieces: ToolPiece[]): void {
    const held = this.#held;
    this.#held = Run.EMPTY;
    if (!this.#behindCall || held.text.trim() !== "") this.#show(held, pieces);
    else this.#giveWire(held, held.length, pieces);
  }

  /** The front of a run is what calls were read from; gives the rest. */
  #giveWire(run: Run, length: number, pieces: ToolPiece[]): Run {
    const [wire, rest] = run.split(length);
    if (wire.length > 0) pieces.push({ type: "wire", run: wire });
    return rest;
  }

  #show(run: Run, pieces: ToolPiece[]): void {
    if (run.text === "") return;
    let visible = run;
    if (this.#behindCall && !this.#shown) {
      visible = this.#giveWire(run, run.length - run.text.trimStart().length, pieces);
    }
    // Space that comes in a piece of its own is dropped like space before words.
    if (visible.text !== "") {
      this.#behindCall = false;
      this.#shown = true;
    }
    this.#behindLine = run.text.endsWith("\n");
    const start = this.#answerStarts(run.text).at(-1);
    this.#blank = start !== undefined && run.text.slice(start).trim() === "";
    this.#tail = this.#reasoningEnd === "" ? "" : (this.#tail + run.text).slice(1 - this.#reasoningEnd.length);
    pieces.push({ type: "text", run: visible });
  }
}

function joinRuns(runs: readonly Run[]): Run {
  const tokens: Run["tokens"][number][] = [];
  let length = 0;
  for (const run of runs) {
    for (const token of run.tokens) tokens.push({ ...token, start: token.start + length, end: token.end + length });
    length += run.length;
  }
  return new Run(runs.map((run) => run.text).join(""), tokens);
}
