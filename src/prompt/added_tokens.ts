/**
 * Finds added tokens in a text: leftmost, then longest, with the flags that the reference knows.
 *
 * Source: huggingface/tokenizers `src/tokenizer/added_vocabulary.rs` (`find_matches`) at v0.23.
 *
 * @module
 */
import type { AddedTokenJson } from "./text_files.ts";

/** A part of a text: plain, or one added token. */
export type Section = { text: string; start: number } | { token: AddedTokenJson };

interface Node {
  next: Map<string, Node>;
  token?: AddedTokenJson;
}

/** A set of spellings to look for. */
export class AddedTokenSplitter {
  readonly #root: Node = { next: new Map() };

  /** Takes pairs of spelling and token; of equal spellings the first wins. */
  constructor(tokens: Iterable<[string, AddedTokenJson]>) {
    for (const [spelling, token] of tokens) {
      let node = this.#root;
      for (let i = 0; i < spelling.length; i++) {
        const unit = spelling.charAt(i);
        let next = node.next.get(unit);
        if (next === undefined) {
          next = { next: new Map() };
          node.next.set(unit, next);
        }
        node = next;
      }
      node.token ??= token;
    }
  }

  /** Sections in order, joined they are the text but for the spaces that `lstrip` and `rstrip` take. */
  split(text: string): Section[] {
    const sections: Section[] = [];
    let done = 0;
    for (let i = 0; i < text.length;) {
      const match = this.#longestAt(text, i);
      if (match === undefined) {
        i++;
        continue;
      }
      const { token, end: matchEnd } = match;
      if (i < done || (token.single_word && !standsAlone(text, i, matchEnd))) {
        i = matchEnd;
        continue;
      }
      const start = token.lstrip ? Math.max(done, spaceBefore(text, i)) : i;
      if (start > done) sections.push({ text: text.slice(done, start), start: done });
      sections.push({ token });
      done = token.rstrip ? spaceAfter(text, matchEnd) : matchEnd;
      i = matchEnd;
    }
    if (done < text.length) sections.push({ text: text.slice(done), start: done });
    return sections;
  }

  #longestAt(text: string, start: number): { token: AddedTokenJson; end: number } | undefined {
    let node: Node | undefined = this.#root;
    let found: { token: AddedTokenJson; end: number } | undefined;
    for (let i = start; i < text.length; i++) {
      node = node.next.get(text.charAt(i));
      if (node === undefined) break;
      if (node.token !== undefined) found = { token: node.token, end: i + 1 };
    }
    return found;
  }
}

function standsAlone(text: string, start: number, end: number): boolean {
  return !/[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]$/u.test(text.slice(Math.max(0, start - 2), start)) &&
    !/^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]/u.test(text.slice(end, end + 2));
}

function spaceBefore(text: string, start: number): number {
  let at = start;
  while (at > 0 && /\p{White_Space}/u.test(text.charAt(at - 1))) at--;
  return at;
}

function spaceAfter(text: string, end: number): number {
  let at = end;
  while (at < text.length && /\p{White_Space}/u.test(text.charAt(at))) at++;
  return at;
}
