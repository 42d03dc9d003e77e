/**
 * A run of decoded text with the tokens that it came from, so that logprobs and token counts survive holding, cutting
 * and dealing to channels.
 *
 * Made by utf8.ts, cut by stop, reasoning and tools, turned into events by standard.ts. Offsets are UTF-16 units of
 * `text`. Invariant: tokens are in order and `0 <= start <= end <= text.length` for each; a token that a cut splits
 * lives on in both halves, each with its own part of the bytes, and only the first half counts it.
 *
 * @module
 */
import type { TokenLogprob } from "../flow.ts";

/** A token and the characters that its bytes lie in. */
export interface PlacedToken {
  /** Token id. */
  token: number;
  /** Offset of the first character that holds a byte of it. */
  start: number;
  /** Offset after the last one; equal to `start` for a token without bytes. */
  end: number;
  /** Bytes of the first character that earlier tokens hold. */
  skip: number;
  /** Raw bytes: all of the token's, or what is on this side of a cut. */
  bytes: Uint8Array;
  /** False on the right side of a cut: the left side counts the token. */
  counted: boolean;
  /** Natural log, when asked for. */
  logprob?: number;
  /** Alternatives, best first, when asked for. */
  top?: TokenLogprob[];
}

/** Text with its tokens. Immutable. */
export class Run {
  /** Nothing. */
  static readonly EMPTY = new Run("", []);

  /** Whole characters. */
  readonly text: string;
  /** In order. */
  readonly tokens: readonly PlacedToken[];
  /** True for the spelling of one special token, which no other text can imitate. */
  readonly control: boolean;

  /** Takes both: the caller keeps no reference to `tokens`. */
  constructor(text: string, tokens: readonly PlacedToken[], control = false) {
    this.text = text;
    this.tokens = tokens;
    this.control = control;
  }

  /** UTF-16 units. */
  get length(): number {
    return this.text.length;
  }

  /** Tokens that begin here. */
  get tokenCount(): number {
    return this.tokens.reduce((count, token) => count + (token.counted ? 1 : 0), 0);
  }

  /** This and then `next`, as plain text. */
  concat(next: Run): Run {
    if (this.text === "" && this.tokens.length === 0) return next;
    if (next.text === "" && next.tokens.length === 0) return this;
    const shift = this.text.length;
    const moved = next.tokens.map((token) => ({ ...token, start: token.start + shift, end: token.end + shift }));
    return new Run(this.text + next.text, [...this.tokens, ...moved]);
  }

  /** Cuts before offset `at`; both ends are legal places. Tokens without bytes go left. */
  split(at: number): [Run, Run] {
    if (at >= this.text.length) return [this, Run.EMPTY];
    if (at <= 0 && this.tokens.every((token) => token.end > 0)) return [Run.EMPTY, this];
    const head: PlacedToken[] = [];
    const tail: PlacedToken[] = [];
    for (const token of this.tokens) {
      if (token.end <= at) head.push(token);
      else if (token.start >= at) tail.push({ ...token, start: token.start - at, end: token.end - at });
      else {
        // A byte that is no character became U+FFFD, three bytes long: then the count is too high and all goes left.
        const border = UTF8.encode(this.text.slice(token.start, at)).length - token.skip;
        head.push({ ...token, end: at, bytes: token.bytes.subarray(0, border) });
        tail.push({
          ...token,
          start: 0,
          end: token.end - at,
          skip: 0,
          bytes: token.bytes.subarray(border),
          counted: false,
        });
      }
    }
    return [new Run(this.text.slice(0, at), head), new Run(this.text.slice(at), tail)];
  }

  /** The largest offset, at most `at`, that lies inside no token. */
  tokenBorder(at: number): number {
    let border = at;
    for (let i = this.tokens.length - 1; i >= 0; i--) {
      const token = this.tokens[i];
      if (token !== undefined && token.start < border && border < token.end) border = token.start;
    }
    return border;
  }
}

const UTF8 = new TextEncoder();
