/**
 * A conversation → its prompt, with the turns that this server answered as they were written; and the keeping of the
 * answer, so that it is one of them next time.
 *
 * @module
 */
import type { Conversation, Tool } from "../../flow.ts";
import { createAnswerParser } from "../../output/decoder.ts";
import type { PromptBounds, RenderedPrompt } from "../../prompt/text_model.ts";
import type { TokenTable } from "../../prompt/token_table.ts";
import type { LoadedModel } from "../models.ts";
import type { AnsweredTurn } from "./answered.ts";
import { spell } from "./read_turn.ts";
import { restoreTurns } from "./restore.ts";
import { type Splice, type SpliceReader, spliceTurns, toKeptPrompt } from "./splice.ts";
import { type OwnTurns, toCallKey } from "./store.ts";
import type { KeptPrompt, KeptTurn } from "./turn.ts";

/** A prompt, and how its answer is kept. */
export interface KeptRendering {
  /** Text and ids. */
  prompt: RenderedPrompt;
  /** Turns that are in it with the tokens that the model wrote. */
  keptTurns: number;
  /** Keeps an answer to it. */
  keep: (answer: AnsweredTurn) => void;
}

/**
 * Renders a conversation.
 *
 * @param tools Those that may be called.
 * @throws What TextModel.render throws.
 */
export async function renderKept(
  { text, dialect }: Pick<LoadedModel, "text" | "dialect">,
  conversation: Conversation,
  tools: readonly Tool[],
  own: OwnTurns,
  bounds: PromptBounds,
): Promise<KeptRendering> {
  const restored = restoreTurns(conversation, tools, own);
  const plain = await text.render(restored.conversation, bounds);
  let prompt = plain;
  let keptTurns = 0;
  if (restored.turns.length > 0 && text.vocabulary.size > 1) {
    await encodeDrawn(restored.turns, text);
    const reader = toReader(text, dialect, tools);
    const inText = plain.repairs?.some(({ name }) => name === "calls_written_as_text");
    if (inText) reader.renderedDialect = { ...dialect, tools: "hermes" };
    const { ids, splices } = spliceTurns(plain.ids, restored.turns, reader);
    if (splices.length > 0) prompt = { ...plain, ids, text: toSplicedText(plain, splices, text.vocabulary, ids) };
    keptTurns = splices.length;
  }
  let asked: KeptPrompt | undefined;
  const keep = (answer: AnsweredTurn): void => {
    const { content, calls } = answer;
    if (content.trim() === "" && calls.length === 0) return;
    asked ??= toKeptPrompt(prompt.ids);
    own.put(calls.length > 0 ? calls.map(({ id }) => toCallKey(id)) : [restored.answerKey(content)], {
      ...answer,
      prompt: asked,
    });
  };
  return { prompt, keptTurns, keep };
}

/** What a script played becomes ids when it comes back. */
async function encodeDrawn(turns: readonly KeptTurn[], text: LoadedModel["text"]): Promise<void> {
  for (const turn of turns) {
    if (typeof turn.drawn !== "string") continue;
    turn.drawn = await text.encode(turn.drawn, { addSpecial: false, parseSpecial: true });
  }
}

function toReader(
  { vocabulary, endTokens }: LoadedModel["text"],
  dialect: SpliceReader["dialect"],
  tools: readonly Tool[],
): SpliceReader {
  const markers = new Set(createAnswerParser({ vocabulary, tools }, dialect).markers);
  return {
    vocabulary,
    endTokens,
    dialect,
    tools,
    endsTurn: (token) =>
      endTokens.includes(token) ||
      (vocabulary.isSpecial(token) && !markers.has(spell(vocabulary, Int32Array.of(token)))),
  };
}

/**
 * The text of the new ids. What a tokenizer's normalizer changed is kept outside of the turns, if the table spells the
 * rendering as it is; else the ids are spelled as a whole.
 */
function toSplicedText(plain: RenderedPrompt, splices: readonly Splice[], table: TokenTable, ids: Int32Array): string {
  const bytes = new TextEncoder().encode(plain.text);
  const { offsets } = table.parts;
  const lengthOf = (from: number, to: number): number => {
    let length = 0;
    for (let place = from; place < to; place++) {
      const id = plain.ids[place] ?? 0;
      length += (offsets[id + 1] ?? 0) - (offsets[id] ?? 0);
    }
    return length;
  };
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  let [at, byte, done] = [0, 0, 0];
  for (const { start, end, ids: instead } of splices) {
    byte += lengthOf(at, start);
    const length = lengthOf(start, end);
    const found = decoder.decode(bytes.subarray(byte, byte + length));
    if (found !== spell(table, plain.ids.subarray(start, end))) return spell(table, ids);
    text += decoder.decode(bytes.subarray(done, byte)) + spell(table, instead);
    byte += length;
    [at, done] = [end, byte];
  }
  return text + decoder.decode(bytes.subarray(done));
}
