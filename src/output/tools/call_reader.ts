/**
 * Reads one call, or one block of calls, from the text after its opener. Base of the readers of all dialects.
 *
 * @module
 */
import type { Tool } from "../../flow.ts";
import { findTool } from "./find_tool.ts";
import type { AnswerEnd, CallPiece } from "./parser.ts";

/** How far a reader is. */
export interface CallProgress {
  /** What became clear. */
  pieces: CallPiece[];
  /** `broken`: it is no call, and its text is text. */
  state: "open" | "done" | "broken";
  /** When done: how many of the last characters belong to what follows. */
  unread: number;
  /** When broken: why, for people. */
  reason: string;
  /** A call of this block is complete. */
  settled: boolean;
  /** How many of the last characters came after the last complete one. */
  unsettledLength: number;
}

/** Something inside a call that is read from the call's own text: an object, arguments. */
export interface PartReader {
  /** `open` until it ends. */
  readonly state: "open" | "done" | "broken";
  /** When broken: why. */
  readonly reason: string;
  /** Reads on; gives pieces and the offset of the first character that is not part of it. */
  push(text: string): { pieces: CallPiece[]; next: number };
  /** The answer is over. */
  finish(end: AnswerEnd): CallPiece[];
}

/** Longest call, in UTF-16 units: what a context of 262,144 tokens holds. */
export const CALL_CHARS_MAX = 2 * 1024 * 1024;

/** A reader that goes on step by step as far as its text reaches. */
export abstract class CallReader {
  /** What is not read yet. */
  protected text = "";
  /** Set when no more text will come. */
  protected end: AnswerEnd | undefined;
  #pieces: CallPiece[] = [];
  #state: CallProgress["state"] = "open";
  #reason = "";
  #length = 0;
  /** Characters read up to the end of the last complete call. */
  #settledLength = 0;
  /** White space dropped since something was taken: it is not the call's if the call ends before it. */
  #space = "";

  /** Reads on. @param end How the answer ended, if it did. */
  read(more: string, end?: AnswerEnd): CallProgress {
    this.text += more;
    this.#length += more.length;
    this.end = end;
    if (this.#length > CALL_CHARS_MAX) this.break(`it has more than ${CALL_CHARS_MAX} characters`);
    while (this.#state === "open" && this.step());
    if (end !== undefined && this.#state === "open") {
      this.break(end === "cut" ? "the answer was cut inside it" : "the answer ends inside it");
    }
    const pieces = this.#pieces;
    this.#pieces = [];
    return {
      pieces,
      state: this.#state,
      unread: this.text.length,
      reason: this.#reason,
      settled: this.#settledLength > 0,
      unsettledLength: this.#length - this.#settledLength,
    };
  }

  /** Does one thing with `text`. False: it needs more text for that. */
  protected abstract step(): boolean;

  /** Gives pieces. */
  protected emit(...pieces: CallPiece[]): void {
    this.#pieces.push(...pieces);
    if (pieces.at(-1)?.type === "callEnd") {
      this.#settledLength = this.#length - this.text.length - this.#space.length;
    }
  }

  /** Names something that was not as it should be. */
  protected repair(name: string, detail = ""): void {
    this.#pieces.push({ type: "repair", name, detail });
  }

  /** The call is whole. */
  protected finish(): false {
    this.text = this.#space + this.text;
    this.#state = "done";
    return false;
  }

  /** It is no call. @param reason Why, for people; "": it was never meant to be one, which is no repair. */
  protected break(reason: string): false {
    this.#state = "broken";
    this.#reason = reason;
    return false;
  }

  /** The declared tool that a name means; a prefix that models add is a repair. Undefined: the call is broken by it. */
  protected requireTool(tools: ReadonlyMap<string, Tool>, name: string): Tool | undefined {
    const found = findTool(tools, name);
    if (found === undefined) this.break(`${JSON.stringify(name)} is no declared tool`);
    else if (found.prefixed) this.repair("name_prefix_dropped", name);
    return found?.tool;
  }

  /** Reads a part. True: it is whole. */
  protected readPart(part: PartReader): boolean {
    const { pieces, next } = part.push(this.text);
    this.take(next);
    this.emit(...pieces);
    if (part.state === "open" && this.end !== undefined) this.emit(...part.finish(this.end));
    if (part.state === "broken") return this.break(part.reason);
    return part.state === "done";
  }

  /** Lets another reader read the rest of this call. */
  protected delegate(inner: CallReader): false {
    return this.pass(inner) ? this.finish() : false;
  }

  /** Lets another reader read a part of this call. True: that part is whole. */
  protected pass(inner: CallReader): boolean {
    const { pieces, state, reason, settled, unsettledLength } = inner.read(this.take(this.text.length), this.end);
    if (state !== "open") this.text = inner.text;
    this.#pieces.push(...pieces);
    if (settled) this.#settledLength = this.#length - unsettledLength;
    return state === "broken" ? this.break(reason) : state === "done";
  }

  /** An opening tag that stands twice counts once. Once only: a model may write nothing else. */
  protected dropDoubled(opener: string): true {
    this.take(opener.length);
    this.repair("doubled_opener_dropped", opener);
    return true;
  }

  /** Takes characters off the front. */
  protected take(count: number): string {
    const taken = this.text.slice(0, count);
    this.text = this.text.slice(count);
    this.#space = "";
    return taken;
  }

  /** Drops white space. False: nothing else is there yet. */
  protected skipSpace(): boolean {
    const rest = this.text.trimStart();
    this.#space += this.text.slice(0, this.text.length - rest.length);
    this.text = rest;
    return this.text !== "" || this.end !== undefined;
  }

  /** Which of some words the text begins with; "wait" if it may yet become one. */
  protected peek<W extends string>(...words: readonly W[]): W | "wait" | undefined {
    for (const word of words) if (this.text.startsWith(word)) return word;
    if (this.end !== undefined) return undefined;
    return words.some((word) => word.startsWith(this.text)) ? "wait" : undefined;
  }

  /** Where a word begins, at most at `last`; "wait" if it may yet come. The same however the text was cut. */
  protected find(word: string, last: number, from = 0): number | "wait" | undefined {
    const at = this.text.indexOf(word, from);
    if (at >= 0) return at <= last ? at : undefined;
    return this.end === undefined && this.text.length < last + word.length ? "wait" : undefined;
  }
}
