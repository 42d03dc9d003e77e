/**
 * Bytes of tokens → whole characters.
 *
 * Takes token events, gives runs to stop. Knows the vocabulary, nothing of markers. Bytes that can be no character
 * become U+FFFD, one for each maximal part, as the reference decoders (Rust `from_utf8_lossy`) and WHATWG do.
 * Invariants: no run ends inside a character; runs joined = the bytes of all shown tokens decoded at once.
 *
 * @module
 */
import type { GenerationEvent, Vocabulary } from "../flow.ts";
import { type PlacedToken, Run } from "./run.ts";

/** A token event of a generation. */
export type TokenEvent = Extract<GenerationEvent, { type: "token" }>;

/** What the stage needs to know. */
export interface Utf8Options {
  /** The model's tokens. */
  vocabulary: Vocabulary;
  /** Never shown, whatever they spell. */
  endTokens: readonly number[];
  /** The answer goes on a text of the prompt, so a leading space belongs to it. */
  continuesText: boolean;
  /** Special tokens that a later stage reads; the others are only noted on their way out. */
  readsSpecial: (token: number) => boolean;
  /** Tokens are reported: text is let go only where a token ends with a whole character. */
  wholeTokens: boolean;
}

/** One answer's bytes on their way to characters. */
export class Utf8Stage {
  readonly #options: Utf8Options;
  readonly #endTokens: ReadonlySet<number>;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #stripSpace: boolean;
  /** Characters that wait for the rest of a token, and the tokens of those and of the character that is open. */
  #text = "";
  #tokens: PlacedToken[] = [];
  /** The last bytes, at most three: whether they begin a character. */
  #tail: number[] = [];

  /** Starts an answer. */
  constructor(options: Utf8Options) {
    this.#options = options;
    this.#endTokens = new Set(options.endTokens);
    this.#stripSpace = options.vocabulary.stripsLeadingSpace && !options.continuesText;
  }

  /**
   * The runs that a token completes, in order. A special token is a control run of its own, and a character that is
   * open ends before it only if a later stage reads it; an end token gives nothing.
   */
  push(event: TokenEvent): Run[] {
    if (this.#endTokens.has(event.token)) return [];
    const bytes = this.#options.vocabulary.bytes(event.token);
    if (this.#options.vocabulary.isSpecial(event.token)) {
      const text = new TextDecoder().decode(bytes);
      const control = new Run(text, [placed(event, bytes, { start: 0, end: text.length, skip: 0 })], true);
      return this.#options.readsSpecial(event.token) ? [...this.finish(), control] : [control];
    }
    const text = this.#decoder.decode(bytes, { stream: true });
    this.#place(text, event, bytes);
    if (this.#text === "" || (this.#options.wholeTokens && openBytes(this.#tail) > 0)) return [];
    return [this.#take()];
  }

  /** What is left at the end: U+FFFD for a character that never became whole. */
  finish(): Run[] {
    this.#place(this.#decoder.decode());
    this.#tail = [];
    return this.#text === "" && this.#tokens.length === 0 ? [] : [this.#take()];
  }

  /** Adds characters, completed by a token if one is given, to those that wait. */
  #place(text: string, event?: TokenEvent, bytes: Uint8Array = new Uint8Array()): void {
    const before = this.#text.length;
    const first = text === "" ? 0 : String.fromCodePoint(text.codePointAt(0) ?? 0).length;
    const open = openBytes(this.#tail);
    this.#text += text;
    if (open > 0) {
      // The tokens that hold the open character's bytes are those that reach the end so far.
      for (const token of this.#tokens) if (token.end === before) token.end = before + first;
    }
    if (event === undefined) return;
    // A character that begins in an earlier token is this token's first one too, unless it turned out to be none.
    const replaced = open > 0 && text.startsWith("\uFFFD");
    const start = before + (replaced ? first : 0);
    this.#tokens.push(placed(event, bytes, { start, end: this.#text.length, skip: replaced ? 0 : open }));
    this.#tail = [...this.#tail, ...bytes.subarray(-3)].slice(-3);
  }

  #take(): Run {
    const run = new Run(this.#text, this.#tokens);
    this.#text = "";
    this.#tokens = [];
    if (!this.#stripSpace || run.text === "") return run;
    this.#stripSpace = false;
    return run.text.startsWith(" ") ? run.split(1)[1] : run;
  }
}

/** How many of the last bytes begin a character that is not whole. */
function openBytes(tail: number[]): number {
  for (let i = 1; i <= tail.length; i++) {
    const byte = tail[tail.length - i] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1) > i ? i : 0;
  }
  return 0;
}

function placed(
  event: TokenEvent,
  bytes: Uint8Array,
  place: Pick<PlacedToken, "start" | "end" | "skip">,
): PlacedToken {
  return {
    token: event.token,
    ...place,
    bytes,
    counted: true,
    ...(event.logprob === undefined ? {} : { logprob: event.logprob }),
    ...(event.top === undefined ? {} : { top: event.top }),
  };
}
