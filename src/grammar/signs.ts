/**
 * The source of a grammar, cut into signs and read one after the other: the part that EBNF and Lark share.
 *
 * @module
 */
import { GrammarError } from "./errors.ts";
import { GROUPS_DEPTH_MAX } from "./limits.ts";

/** A sign of the source. `end` is behind the last one. */
export interface Sign<Kind extends string> {
  /** The group of the pattern that it fits. */
  kind: Kind | "end";
  /** As it is written. */
  source: string;
  /** Offset of its first character. */
  at: number;
}

/** Reads the signs of one source. */
export class SignReader<Kind extends string> {
  readonly #source: string;
  readonly #signs: Sign<Kind>[] = [];
  #next = 0;
  #depth = 0;

  /**
   * @param source The grammar.
   * @param pattern Sticky; a named group for each kind, and `skip` for what is no sign.
   * @throws {GrammarError} At what fits no group.
   */
  constructor(source: string, pattern: RegExp) {
    this.#source = source;
    for (let at = 0; at < source.length;) {
      pattern.lastIndex = at;
      const match = pattern.exec(source);
      if (match === null) this.fail(at, `${JSON.stringify(source.charAt(at))} has no meaning here`);
      const kind = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined)?.[0];
      if (kind !== undefined && kind !== "skip") this.#signs.push({ kind: kind as Kind, source: match[0], at });
      at += match[0].length;
    }
  }

  /** Says where and what is wrong. @param keyword The construct, where it has a name. */
  fail(at: number, what: string, keyword?: string): never {
    const line = this.#source.slice(0, at).split("\n").length;
    const place = { path: `line ${line}`, ...(keyword !== undefined && { keyword }) };
    throw new GrammarError(`Line ${line} of the grammar: ${what}.`, place);
  }

  /** The next sign, or one behind it. */
  peek(ahead = 0): Sign<Kind> {
    return this.#signs[this.#next + ahead] ?? { kind: "end", source: "the end", at: this.#source.length };
  }

  /** Takes the next sign. */
  take(): Sign<Kind> {
    const sign = this.peek();
    this.#next++;
    return sign;
  }

  /** Takes the next sign if it is of a kind, and written so if that is given. */
  takeIf(kind: Kind, source?: string): Sign<Kind> | undefined {
    const sign = this.peek();
    return sign.kind === kind && (source === undefined || sign.source === source) ? this.take() : undefined;
  }

  /** Reads the inside of a group. @param open What opened it. @param close What has to end it. */
  group<Inner>(open: Sign<Kind>, close: string, read: () => Inner): Inner {
    if (++this.#depth > GROUPS_DEPTH_MAX) {
      this.fail(open.at, `groups are nested deeper than ${GROUPS_DEPTH_MAX}`, open.source);
    }
    const inner = read();
    const sign = this.take();
    if (sign.source !== close) this.fail(sign.at, `expected ${close}; found ${sign.source.slice(0, 40)}`, close);
    this.#depth--;
    return inner;
  }
}
