/**
 * A text model whose tokens are the 256 bytes and one end token: prompts and answers can be counted by hand, and every
 * character outside of ASCII comes in several tokens.
 *
 * @module
 */
import type { Conversation } from "../../src/flow.ts";
import { TemplateError } from "../../src/prompt/errors.ts";
import type { RenderedPrompt, TextModel } from "../../src/prompt/text_model.ts";
import { TokenTable } from "../../src/prompt/token_table.ts";

/** The end token; a special one. */
export const END_TOKEN = 256;
/** A special token that ends nothing and is never shown. */
export const CONTROL_TOKEN = 257;
/** Ids of the vocabulary. */
export const BYTE_VOCABULARY_SIZE = 258;

/** The ids of a text: its UTF-8 bytes. */
export function toByteTokens(text: string): number[] {
  return [...new TextEncoder().encode(text)];
}

/** What the model's template writes: `user: Hi\n` a turn, then `assistant:`; an emphatic user for `enable_thinking`. */
export function renderByHand(conversation: Conversation): string {
  const turns = conversation.messages.map((message) => {
    const text = message.content.map((part) => part.text).join("\n");
    return `${message.role}: ${text}`;
  });
  const thinking = conversation.templateArguments.enable_thinking === true ? "think\n" : "";
  return turns.join("\n") + (conversation.addGenerationPrompt ? `\n${thinking}assistant:` : "");
}

/** The model; it needs no files and no worker. */
export class ByteTextModel implements TextModel {
  readonly vocabulary: TokenTable = makeTable();
  readonly endTokens: readonly number[] = [END_TOKEN];
  readonly generationDefaults = {};
  readonly chatTemplate = "{{ messages }} {{ enable_thinking }} {{ add_generation_prompt }}";

  render(conversation: Conversation): Promise<RenderedPrompt> {
    if (conversation.messages.some((message) => message.name === "nobody")) {
      return Promise.reject(new TemplateError("The model's chat template refuses this conversation: nobody spoke"));
    }
    const text = renderByHand(conversation);
    if (conversation.messages.some((message) => message.name === "somebody")) {
      const repairs = [{ name: "turns_merged", count: 2 }] as const;
      return Promise.resolve({ text, ids: Int32Array.from(toByteTokens(text)), repairs });
    }
    return Promise.resolve({ text, ids: Int32Array.from(toByteTokens(text)) });
  }

  encode(text: string): Promise<Int32Array<ArrayBuffer>> {
    return Promise.resolve(Int32Array.from(toByteTokens(text)));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function makeTable(): TokenTable {
  const spellings = [...Array.from({ length: 256 }, (_, byte) => [byte]), toByteTokens("<end>"), toByteTokens("<ctl>")];
  const offsets = new Uint32Array(spellings.length + 1);
  spellings.forEach((spelling, id) => offsets[id + 1] = (offsets[id] ?? 0) + spelling.length);
  const special = Uint8Array.from(spellings, (_, id) => id >= END_TOKEN ? 1 : 0);
  return new TokenTable({ bytes: Uint8Array.from(spellings.flat()), offsets, special, stripsLeadingSpace: false });
}
