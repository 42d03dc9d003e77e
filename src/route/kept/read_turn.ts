/**
 * What the ids of a turn say, read as an answer: so two ways to write a turn can be compared by what they mean.
 *
 * @module
 */
import { NO_USAGE, type Tool, type Vocabulary } from "../../flow.ts";
import { createDecoder, type Dialect } from "../../output/decoder.ts";

/** What reads a model's turns. */
export interface TurnReader {
  /** The model's tokens. */
  vocabulary: Vocabulary;
  /** Ids that end an answer. */
  endTokens: readonly number[];
  /** How the model writes. */
  dialect: Dialect;
  /** Tools that may be called. */
  tools: readonly Tool[];
}

/** A turn. */
export interface ReadTurn {
  content: string;
  reasoning: string;
  calls: { name: string; json: string }[];
  /** Nothing of it was broken, repaired or hidden. */
  isClean: boolean;
  /** UTF-16 units of tags that part reasoning from content. */
  markup: number;
  /** Ids up to and with the last one of reasoning and its tags. */
  reasoningEnd: number;
}

/** Reads a turn. @param prompt The end of what stands before it. */
export function readTurn(reader: TurnReader, ids: Int32Array, prompt: string): ReadTurn {
  const decoder = createDecoder({ ...reader, stop: [], prompt, newId: () => "" });
  const turn: ReadTurn = { content: "", reasoning: "", calls: [], isClean: true, markup: 0, reasoningEnd: 0 };
  const { account } = decoder;
  const push = (event: Parameters<typeof decoder.push>[0], index: number): void => {
    const before = account.reasoning + account.markup;
    for (const shown of decoder.push(event)) {
      if (shown.type === "text") turn.content += shown.text;
      else if (shown.type === "reasoning") turn.reasoning += shown.text;
      else if (shown.type === "toolCallStart") turn.calls.push({ name: shown.name, json: "" });
      else if (shown.type === "toolCallArguments") {
        const call = turn.calls[shown.index];
        if (call !== undefined) call.json += shown.json;
      } else if (shown.type === "repair" || shown.type === "toolCallBroken") turn.isClean = false;
    }
    if (account.reasoning + account.markup > before) turn.reasoningEnd = index + 1;
  };
  for (const [index, token] of ids.entries()) push({ type: "token", token, index }, index);
  push({ type: "finish", reason: "stop", usage: NO_USAGE }, ids.length - 1);
  turn.markup = account.markup;
  return turn;
}

/** What ids spell, control tokens too. */
export function spell(vocabulary: Vocabulary, ids: Int32Array): string {
  const parts = Array.from(ids, (id) => vocabulary.bytes(id));
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return TEXT.decode(bytes);
}

const TEXT = new TextDecoder("utf-8", { ignoreBOM: true });
