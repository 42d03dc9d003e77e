/**
 * What a profile adds to the logits of single tokens where tools may be called: a nudge for lines whose models begin
 * calls too seldom, too often or in a shape of another line. Calls that are bound (bound_answer.ts) need none.
 *
 * @module
 */
import type { Vocabulary } from "../flow.ts";
import type { LoadedModel } from "./models.ts";

const found = new WeakMap<Vocabulary, ReadonlyMap<number, number>>();

/** Token id → bias. Texts of the profile that are not one token of this vocabulary are left out: a line has many. */
export function toolBiasOf({ toolBias = {}, text: { vocabulary } }: BiasedModel): ReadonlyMap<number, number> {
  let bias = found.get(vocabulary);
  if (bias === undefined) {
    bias = findTokens(vocabulary, toolBias);
    found.set(vocabulary, bias);
  }
  return bias;
}

/** The part of a model that it depends on. */
export type BiasedModel = Pick<LoadedModel, "toolBias"> & { text: { vocabulary: Vocabulary } };

function findTokens(vocabulary: Vocabulary, toolBias: Readonly<Record<string, number>>): ReadonlyMap<number, number> {
  const wanted = new Map(Object.entries(toolBias));
  const bias = new Map<number, number>();
  if (wanted.size === 0) return bias;
  const decoder = new TextDecoder();
  for (let token = 0; token < vocabulary.size; token++) {
    const value = wanted.get(decoder.decode(vocabulary.bytes(token)));
    if (value !== undefined) bias.set(token, value);
  }
  return bias;
}
