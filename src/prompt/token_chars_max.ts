/**
 * The longest token of a tokenizer, by which a text's length gives a lower bound of its tokens.
 *
 * @module
 */
import type { TextFiles } from "./text_files.ts";

/** Pre-tokenizers that keep every byte of a text. */
const KEEPING = new Set(["ByteLevel", "Digits", "Sequence", "Split"]);
/** Spellings in GPT-2's alphabet of the bytes 0x20 to 0x7e and 0x80 to 0xbf: with them every character but the control
 * characters of ASCII has a token. Some vocabularies lack those, and lead bytes of rare characters. */
const REQUIRED = "\u0120" + toRange(0x21, 0x7e) + toRange(0x122, 0x142) + toRange(0xa1, 0xac) + "\u0143" +
  toRange(0xae, 0xbf);

/**
 * @returns UTF-16 units of a text that one token stands for at most; Infinity where parts of a text may leave no token:
 * in another vocabulary than one of bytes, with a normalizer, or with added tokens that take the blanks beside them.
 */
export function findTokenCharsMax(tokenizer: TextFiles["tokenizer"]): number {
  const { model: { vocab }, normalizer, pre_tokenizer: preTokenizer, added_tokens: added } = tokenizer;
  if (Array.isArray(vocab) || (normalizer ?? null) !== null || added.some((token) => token.lstrip || token.rstrip)) {
    return Infinity;
  }
  const types = listTypes(preTokenizer);
  if (!types.includes("ByteLevel") || types.some((type) => !KEEPING.has(type))) return Infinity;
  const spellings = Object.keys(vocab);
  if ([...REQUIRED].some((byte) => !Object.hasOwn(vocab, byte))) return Infinity;
  // A character has as many bytes outside of its first one, or more, as it has UTF-16 units; or it is one byte.
  return [...spellings, ...added.map(({ content }) => content)]
    .reduce((longest, spelling) => Math.max(longest, spelling.length), 1);
}

/** UTF-16 units that are no control characters of ASCII: those may leave no token. */
export function countSpelled(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x20 && unit !== 0x7f) count++;
  }
  return count;
}

function toRange(first: number, last: number): string {
  return String.fromCharCode(...Array.from({ length: last - first + 1 }, (_, at) => first + at));
}

/** The types in a pre-tokenizer; one that removes what it splits at has a name of its own. */
function listTypes(config: unknown): string[] {
  if (typeof config !== "object" || config === null || !("type" in config)) return ["unknown"];
  if ("behavior" in config && config.behavior === "Removed") return ["removing"];
  const parts = "pretokenizers" in config && Array.isArray(config.pretokenizers) ? config.pretokenizers : [];
  return [String(config.type), ...parts.flatMap(listTypes)];
}
