/**
 * What follows the colon in a vocabulary's tags: Hunyuan 3 spells its special tokens `<tool_call:opensource>`.
 *
 * @module
 */
import type { Vocabulary } from "../flow.ts";

const LABELS = new WeakMap<Vocabulary, string | undefined>();

/** The label with its colon, "" for tags without one; undefined: the vocabulary has no such tags. Read once. */
export function labelOf(vocabulary: Vocabulary): string | undefined {
  if (LABELS.has(vocabulary)) return LABELS.get(vocabulary);
  const label = readLabel(vocabulary);
  LABELS.set(vocabulary, label);
  return label;
}

function readLabel(vocabulary: Vocabulary): string | undefined {
  const text = new TextDecoder();
  for (let token = 0; token < vocabulary.size; token++) {
    if (!vocabulary.isSpecial(token)) continue;
    const found = /^<(?:tool_call|think)(:[\w.-]{1,64})?>$/.exec(text.decode(vocabulary.bytes(token)));
    if (found !== null) return found[1] ?? "";
  }
  return undefined;
}
