/**
 * Puts the tokens that the model wrote in the place of the template's rendering of the same turns.
 *
 * A turn is replaced where the prompt up to it is, id by id, the one that it answered, and where what the template
 * wrote and what the model wrote, read by the model's own parsers, say the same. Everything between turns is the
 * template's, and so is the decision whether a turn shows its reasoning: if it does not, only what follows the
 * reasoning is replaced. The turn ends before a control token, so no token joins text of both sides.
 *
 * @module
 */
import { createHash, type Hash } from "node:crypto";
import type { Dialect } from "../../output/decoder.ts";
import { isSameArguments } from "./same_arguments.ts";
import { type ReadTurn, readTurn, spell, type TurnReader } from "./read_turn.ts";
import { type KeptPrompt, type KeptTurn, type KnownFit, PROMPT_TAIL_TOKENS } from "./turn.ts";

/** A turn in a prompt that was replaced. */
export interface Splice {
  /** Place of its first id in the rendering. */
  start: number;
  /** Place behind its last id. */
  end: number;
  /** What stands there instead. */
  ids: Int32Array;
}

/** A prompt with its turns as they were written. */
export interface SplicedPrompt {
  /** All ids. */
  ids: Int32Array<ArrayBuffer>;
  /** What was replaced, in order; none: the ids are those of the rendering. */
  splices: Splice[];
}

/** What is looked at for a turn: its reader, and which ids end turns. */
export interface SpliceReader extends TurnReader {
  /** How turns are rendered, if not as the model writes: calls in text, for a template without a place for them. */
  renderedDialect?: Dialect;
  /** Whether an id ends a turn that a template wrote. */
  endsTurn: (token: number) => boolean;
}

/** Replaces turns. @param turns In the order of the conversation; the drawn ones are ids. */
export function spliceTurns(
  rendered: Int32Array<ArrayBuffer>,
  turns: readonly KeptTurn[],
  reader: SpliceReader,
): SplicedPrompt {
  const prompt = new GrowingPrompt(rendered, turns);
  for (const turn of turns) {
    const place = typeof turn.drawn === "object" ? prompt.find(turn.prompt) : undefined;
    if (place === undefined) continue;
    const end = findEnd(rendered, place.start, reader);
    if (end === undefined) continue;
    const written = rendered.subarray(place.start, end);
    const instead = findInstead(turn, place.common, written, reader);
    if (instead !== null) prompt.replace({ start: place.start, end, ids: instead });
  }
  return prompt.finish();
}

/** The prompt of a turn, as it is found again. */
export function toKeptPrompt(ids: Int32Array): KeptPrompt {
  const headLength = Math.max(0, ids.length - PROMPT_TAIL_TOKENS);
  const hash = createHash("sha256").update(toBytes(ids.subarray(0, headLength)));
  return { headLength, headDigest: hash.digest("base64"), tail: ids.slice(headLength) };
}

/** The ids so far, and those of the rendering that follow. */
class GrowingPrompt {
  readonly #rendered: Int32Array<ArrayBuffer>;
  readonly #ids: Int32Array<ArrayBuffer>;
  readonly #splices: Splice[] = [];
  readonly #hash: Hash = createHash("sha256");
  /** Ids that the hash has seen. */
  #hashed = 0;
  /** Ids that are settled, and the place in the rendering of the one after them. */
  #settled = 0;
  #cursor = 0;

  constructor(rendered: Int32Array<ArrayBuffer>, turns: readonly KeptTurn[]) {
    this.#rendered = rendered;
    const drawn = turns.reduce((sum, turn) => sum + (turn.drawn?.length ?? 0), 0);
    this.#ids = new Int32Array(rendered.length + drawn);
  }

  /** Where the answer to a prompt begins in the rendering, if it is this prompt; and what of the tail is in it. */
  find({ headLength, headDigest, tail }: KeptPrompt): { start: number; common: number } | undefined {
    if (headLength < this.#hashed || headLength > this.#length) return undefined;
    this.#settle(headLength);
    this.#hash.update(toBytes(this.#ids.subarray(this.#hashed, headLength)));
    this.#hashed = headLength;
    if (this.#hash.copy().digest("base64") !== headDigest) return undefined;
    let common = 0;
    while (common < tail.length && this.#at(headLength + common) === tail[common]) common++;
    const start = this.#cursor + headLength + common - this.#settled;
    return start < this.#cursor ? undefined : { start, common };
  }

  /** Settles a turn with other ids. */
  replace(splice: Splice): void {
    this.#settle(this.#settled + splice.start - this.#cursor);
    this.#ids.set(splice.ids, this.#settled);
    this.#settled += splice.ids.length;
    this.#cursor = splice.end;
    this.#splices.push(splice);
  }

  finish(): SplicedPrompt {
    if (this.#splices.length === 0) return { ids: this.#rendered, splices: [] };
    this.#settle(this.#length);
    return { ids: this.#ids.slice(0, this.#settled), splices: this.#splices };
  }

  get #length(): number {
    return this.#settled + this.#rendered.length - this.#cursor;
  }

  #at(place: number): number | undefined {
    return place < this.#settled ? this.#ids[place] : this.#rendered[this.#cursor + place - this.#settled];
  }

  /** Takes ids of the rendering until there are so many. */
  #settle(length: number): void {
    if (length <= this.#settled) return;
    const until = this.#cursor + length - this.#settled;
    this.#ids.set(this.#rendered.subarray(this.#cursor, until), this.#settled);
    this.#settled = length;
    this.#cursor = until;
  }
}

/** Where a turn of a rendering ends. */
function findEnd(rendered: Int32Array, start: number, { endsTurn }: SpliceReader): number | undefined {
  for (let at = start; at < rendered.length; at++) {
    if (endsTurn(rendered[at] ?? 0)) return at;
  }
  return undefined;
}

/** What the rendering of a turn is replaced with; found once for each rendering. */
function findInstead(
  turn: KeptTurn,
  common: number,
  rendered: Int32Array,
  reader: SpliceReader,
): KnownFit["instead"] {
  const { known } = turn;
  if (known?.common === common && isSameIds(known.rendered, rendered)) return known.instead;
  const instead = compare(turn, common, rendered, reader);
  turn.known = { common, rendered: rendered.slice(), instead };
  return instead;
}

function compare(turn: KeptTurn, common: number, rendered: Int32Array, reader: SpliceReader): Int32Array | null {
  const { drawn, prompt: { tail } } = turn;
  if (typeof drawn !== "object") return null;
  const { vocabulary } = reader;
  const renderedReader = { ...reader, dialect: reader.renderedDialect ?? reader.dialect };
  const asked = spell(vocabulary, tail);
  const written = readTurn(reader, drawn, asked);
  const before = spell(vocabulary, tail.subarray(0, common));
  const rest = tail.subarray(common);
  const restText = spell(vocabulary, rest);
  if (restText.trim() === "") {
    if (rest.length === 0 && isSameIds(drawn, rendered)) return drawn;
    // Blanks at the seam may be joined to those behind it: then the text is the same, in other tokens.
    const goesOn = spell(vocabulary, rendered).startsWith(restText);
    if (goesOn && isSameTurn(written, readTurn(renderedReader, rendered, before))) {
      return Int32Array.from([...rest, ...drawn]);
    }
    if (rest.length > 0) return null;
  } else if (/^\s/.test(restText)) {
    return null;
  }
  // The template shows what follows the reasoning only, or opens an answer otherwise than it shows one.
  const answer = withoutLeadingBlanks(drawn.subarray(written.reasoningEnd), reader);
  const [ours, theirs] = [readTurn(reader, answer, before), readTurn(renderedReader, rendered, before)];
  const isPlain = [ours, theirs].every(({ markup, reasoning }) => markup === 0 && reasoning === "");
  return isPlain && isSameTurn(ours, theirs) ? answer : null;
}

function withoutLeadingBlanks(ids: Int32Array, { vocabulary }: SpliceReader): Int32Array {
  const first = ids.findIndex((id) => spell(vocabulary, Int32Array.of(id)).trim() !== "");
  return first < 0 ? ids.subarray(ids.length) : ids.subarray(first);
}

function isSameTurn(ours: ReadTurn, theirs: ReadTurn): boolean {
  return ours.isClean && theirs.isClean && ours.content.trim() === theirs.content.trim() &&
    ours.reasoning.trim() === theirs.reasoning.trim() && ours.calls.length === theirs.calls.length &&
    ours.calls.every(({ name, json }, at) => {
      const call = theirs.calls[at];
      return call?.name === name && isSameArguments(json, call.json);
    });
}

function isSameIds(left: Int32Array, right: Int32Array): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at++) if (left[at] !== right[at]) return false;
  return true;
}

function toBytes(ids: Int32Array): Uint8Array {
  return new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength);
}
