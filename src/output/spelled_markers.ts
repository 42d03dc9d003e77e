/**
 * Markers of a protocol that the vocabulary has no special tokens for: then text that spells one is one.
 *
 * A checkpoint may lack them among its special tokens, and a scripted answer may cut them anywhere. Where there is such
 * a token, text that spells it stays text.
 *
 * @module
 */
import type { Vocabulary } from "../flow.ts";
import type { AnswerParser, AnswerPiece } from "./answer_parser.ts";
import { heldTailStart } from "./held_tail.ts";
import { Run } from "./run.ts";
import type { AnswerEnd } from "./tools/parser.ts";

const SPECIAL = new WeakMap<Vocabulary, ReadonlySet<string>>();

/** The parser, given the markers that text spells as well as those that are tokens. */
export function readSpelledMarkers(parser: AnswerParser, vocabulary: Vocabulary): AnswerParser {
  const special = spellingsOf(vocabulary);
  const spelled = parser.markers.filter((marker) => !special.has(marker));
  return spelled.length === 0 ? parser : new SpelledMarkers(parser, spelled);
}

/** What the special tokens of a vocabulary spell. Read once. */
function spellingsOf(vocabulary: Vocabulary): ReadonlySet<string> {
  const known = SPECIAL.get(vocabulary);
  if (known !== undefined) return known;
  const text = new TextDecoder();
  const spellings = new Set<string>();
  for (let token = 0; token < vocabulary.size; token++) {
    if (vocabulary.isSpecial(token)) spellings.add(text.decode(vocabulary.bytes(token)));
  }
  SPECIAL.set(vocabulary, spellings);
  return spellings;
}

class SpelledMarkers implements AnswerParser {
  readonly #parser: AnswerParser;
  readonly #spelled: readonly string[];
  /** Text that may begin a marker. */
  #held = Run.EMPTY;

  constructor(parser: AnswerParser, spelled: readonly string[]) {
    this.#parser = parser;
    this.#spelled = spelled;
  }

  get markers(): readonly string[] {
    return this.#parser.markers;
  }

  get closing(): string {
    return this.#parser.closing;
  }

  get thinking(): boolean {
    return this.#parser.thinking;
  }

  push(run: Run): AnswerPiece[] {
    if (run.control) return [...this.#release(), ...this.#parser.push(run)];
    const pieces: AnswerPiece[] = [];
    let rest = this.#held.concat(run);
    for (let found = this.#find(rest.text); found !== undefined; found = this.#find(rest.text)) {
      const [before, from] = rest.split(found.at);
      const [marker, behind] = from.split(found.length);
      pieces.push(...this.#pass(before), ...this.#parser.push(new Run(marker.text, marker.tokens, true)));
      rest = behind;
    }
    const [clear, held] = rest.split(heldTailStart(rest.text, this.#spelled));
    this.#held = held;
    return [...pieces, ...this.#pass(clear)];
  }

  finish(end: AnswerEnd): AnswerPiece[] {
    return [...this.#release(), ...this.#parser.finish(end)];
  }

  #release(): AnswerPiece[] {
    const held = this.#held;
    this.#held = Run.EMPTY;
    return this.#pass(held);
  }

  #pass(run: Run): AnswerPiece[] {
    return run.text === "" && run.tokens.length === 0 ? [] : this.#parser.push(run);
  }

  /** The first marker; none begins another. */
  #find(text: string): { at: number; length: number } | undefined {
    let first: { at: number; length: number } | undefined;
    for (const { length, at } of this.#spelled.map((one) => ({ length: one.length, at: text.indexOf(one) }))) {
      if (at >= 0 && (first === undefined || at < first.at)) first = { at, length };
    }
    return first;
  }
}
