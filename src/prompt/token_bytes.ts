/**
 * The bytes that each token stands for, read from tokenizer.json's decoder.
 *
 * Two families cover the checkpoints that we serve; another decoder is refused by name:
 * - `ByteLevel`: each character of a token's spelling stands for one byte (GPT-2's alphabet, openai/gpt-2 encoder.py);
 *   a spelling with other characters, as added tokens have, stands for itself.
 * - sentencepiece as a `Sequence` of `Replace`, `ByteFallback`, `Fuse`, `Strip`, or `Metaspace`: `▁` is a space,
 *   `<0xNN>` one byte.
 *
 * Source: huggingface/tokenizers `src/decoders` and `src/pre_tokenizers/byte_level.rs` at v0.23.
 *
 * @module
 */
import { TextFilesError } from "./errors.ts";
import { VOCABULARY_SIZE_MAX } from "./limits.ts";
import type { AddedTokenJson, DecoderJson, TokenizerJson } from "./text_files.ts";
import type { TokenTableParts } from "./token_table.ts";

const UTF8 = new TextEncoder();

/** How a decoder turns one token's spelling into bytes. */
interface Spelling {
  /** Writes the bytes to `into`, which has room for `BYTES_PER_UNIT` of each unit. @returns How many. */
  write: (spelling: string, added: boolean, into: Uint8Array) => number;
  stripsLeadingSpace: boolean;
}

/** Most bytes of one UTF-16 unit of a spelling, as UTF-8. */
const BYTES_PER_UNIT = 3;

/** The table of a tokenizer. @throws {TextFilesError} If its decoder is of no known kind. */
export function toTokenTable(tokenizer: TokenizerJson): TokenTableParts {
  const spelling = toSpelling(tokenizer.decoder);
  const added = new Map(tokenizer.added_tokens.map((token) => [token.id, token]));
  const spellings = toSpellings(tokenizer, added);
  const size = spellings.length;
  const offsets = new Uint32Array(size + 1);
  const special = new Uint8Array(size);
  // An array for each of 151k tokens would take a tenth of a second and 20 MB.
  const room = new Uint8Array(BYTES_PER_UNIT * spellings.reduce((sum, text) => sum + (text?.length ?? 0), 0));
  let used = 0;
  for (let id = 0; id < size; id++) {
    const text = spellings[id];
    if (text !== undefined) used += spelling.write(text, added.has(id), room.subarray(used));
    offsets[id + 1] = used;
    if (added.get(id)?.special === true) special[id] = 1;
  }
  return { bytes: room.slice(0, used), offsets, special, stripsLeadingSpace: spelling.stripsLeadingSpace };
}

function toSpellings(tokenizer: TokenizerJson, added: Map<number, AddedTokenJson>): (string | undefined)[] {
  const vocabulary = tokenizer.model.vocab;
  const texts = Array.isArray(vocabulary) ? vocabulary.map(([text]) => text) : Object.keys(vocabulary);
  // With its length known, an array that is filled in any order stays an array and does not become a table.
  const spellings = new Array<string | undefined>(texts.length);
  const put = (id: number | undefined, text: string): void => {
    if (id === undefined || !Number.isInteger(id) || id < 0 || id >= VOCABULARY_SIZE_MAX) {
      throw new TextFilesError(`Cannot read tokenizer.json: id ${id} of ${JSON.stringify(text)} is out of range`);
    }
    spellings[id] = text;
  };
  texts.forEach((text, place) => put(Array.isArray(vocabulary) ? place : vocabulary[text], text));
  for (const [id, token] of added) put(id, token.content);
  return spellings;
}

function toSpelling(decoder: DecoderJson | null): Spelling {
  const steps = decoder?.type === "Sequence" ? decoder.decoders ?? [] : decoder === null ? [] : [decoder];
  if (steps.length === 1 && steps[0]?.type === "ByteLevel") return BYTE_LEVEL;
  const known = ["Replace", "ByteFallback", "Fuse", "Strip", "Metaspace"];
  const unknown = steps.find((step) => !known.includes(step.type));
  if (steps.length === 0 || unknown !== undefined) {
    const found = steps.length === 0 ? "no decoder" : `the decoder ${unknown?.type}`;
    throw new TextFilesError(
      `Cannot read tokenizer.json: it names ${found}; known are ByteLevel and ${known.join(", ")}`,
    );
  }
  return toPieceSpelling(steps);
}

function toPieceSpelling(steps: DecoderJson[]): Spelling {
  const fallback = steps.some((step) => step.type === "ByteFallback");
  const replacements = steps.flatMap((step): [string, string][] => {
    if (step.type === "Metaspace") return [[step.replacement ?? "▁", " "]];
    if (step.type !== "Replace") return [];
    if (step.pattern?.String === undefined) {
      throw new TextFilesError("Cannot read tokenizer.json: its Replace decoder has a pattern that is no plain string");
    }
    return [[step.pattern.String, step.content ?? ""]];
  });
  return {
    stripsLeadingSpace: steps.some((step) =>
      step.type === "Strip" ? step.content === " " && (step.start ?? 0) > 0 : stripsByMetaspace(step)
    ),
    write: (spelling, _added, into) => {
      const byte = fallback ? /^<0x([0-9A-Fa-f]{2})>$/.exec(spelling)?.[1] : undefined;
      if (byte === undefined) {
        return writeText(replacements.reduce((text, [from, to]) => text.replaceAll(from, to), spelling), into);
      }
      into[0] = parseInt(byte, 16);
      return 1;
    },
  };
}

/** Metaspace puts a space before a text unless told never to, and its decoder takes it away. */
function stripsByMetaspace(step: DecoderJson): boolean {
  return step.type === "Metaspace" && step.prepend_scheme !== "never";
}

/** Code unit → byte of GPT-2's alphabet: printable bytes stand for themselves, the others for U+0100 and up. */
const ALPHABET: Int16Array = (() => {
  const alphabet = new Int16Array(0x200).fill(-1);
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    alphabet[printable ? byte : next++] = byte;
  }
  return alphabet;
})();

const BYTE_LEVEL: Spelling = {
  stripsLeadingSpace: false,
  write: (spelling, added, into) => {
    if (added) return writeText(spelling, into);
    for (let i = 0; i < spelling.length; i++) {
      const byte = ALPHABET[spelling.charCodeAt(i)] ?? -1;
      if (byte < 0) return writeText(spelling, into);
      into[i] = byte;
    }
    return spelling.length;
  },
};

/** A replacement may be longer than what it replaces, and then the room is too small. */
function writeText(text: string, into: Uint8Array): number {
  const { read, written } = UTF8.encodeInto(text, into);
  if (read === text.length) return written;
  throw new TextFilesError("Cannot read tokenizer.json: its decoder replaces characters by longer texts");
}
