/**
 * The text side of a model as a record has it: the prompts that were rendered, and the spelling of the tokens that the
 * record speaks of. Nothing else of the model is needed, so a trace can be replayed where the model is not.
 *
 * @module
 */
import type { RecordContent, RequestRecord, VocabularyPiece } from "../api/request_record.ts";
import type { GenerationDefaults, RenderedPrompt, TextModel } from "../prompt/text_model.ts";
import { TokenTable } from "../prompt/token_table.ts";

/** Templates and tokenizer of one record. */
export class RecordedTextModel implements TextModel {
  readonly vocabulary: TokenTable;
  readonly endTokens: readonly number[];
  readonly generationDefaults: GenerationDefaults = {};
  /** Names the variables that the real template read, since only those are looked for. */
  readonly chatTemplate: string;
  readonly #content: RecordContent;

  /** Takes the parts of a record. */
  constructor(record: RequestRecord, content: RecordContent) {
    this.#content = content;
    this.endTokens = content.end_tokens;
    this.vocabulary = toTable(content, countIds(record, content));
    this.chatTemplate = argumentsOf(content.body).filter((name) => !isIgnored(record, name)).join(" ");
  }

  /** The recorded prompt, whatever the conversation. */
  render(): Promise<RenderedPrompt> {
    const prompt = this.#content.prompts[0];
    const text = (prompt?.text ?? "") + this.#content.prompt_open;
    return Promise.resolve({ text, ids: Int32Array.from(prompt?.ids ?? []) });
  }

  /** Ids of a recorded prompt; of any other text, those of the tokens with that spelling. */
  encode(text: string): Promise<Int32Array> {
    const prompt = this.#content.prompts.find((one) => one.text === text);
    if (prompt !== undefined) return Promise.resolve(Int32Array.from(prompt.ids));
    const same = Object.entries(this.#content.vocabulary.pieces).find(([, piece]) =>
      "text" in piece && piece.text === text
    );
    return Promise.resolve(Int32Array.from(same === undefined ? [] : [Number(same[0])]));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Ids of a record's table: those of its model, and those that it mentions. A file may claim any. */
export function countIds({ limits }: RequestRecord, { vocabulary }: RecordContent): number {
  return Object.keys(vocabulary.pieces).reduce(
    (size, id) => Math.max(size, Number(id) + 1),
    limits?.vocabulary_size ?? 1,
  );
}

/** Variables that a request gave to the template. */
function argumentsOf(body: unknown): string[] {
  if (typeof body !== "object" || body === null) return [];
  const { chat_template_kwargs: given } = body as { chat_template_kwargs?: unknown };
  const names = typeof given === "object" && given !== null ? Object.keys(given) : [];
  return [...names, "enable_thinking", "reasoning_effort"];
}

function isIgnored({ ignored }: RequestRecord, name: string): boolean {
  return ignored.includes(name) || ignored.includes(`chat_template_kwargs.${name}`);
}

function toTable({ vocabulary }: RecordContent, size: number): TokenTable {
  const pieces = new Map(Object.entries(vocabulary.pieces).map(([id, piece]) => [Number(id), piece]));
  const offsets = new Uint32Array(size + 1);
  const special = new Uint8Array(size);
  const bytes: number[] = [];
  for (let id = 0; id < size; id++) {
    const piece = pieces.get(id);
    if (piece !== undefined) { for (const byte of toBytes(piece)) bytes.push(byte); }
    special[id] = piece?.special ? 1 : 0;
    offsets[id + 1] = bytes.length;
  }
  const stripsLeadingSpace = vocabulary.strips_leading_space;
  return new TokenTable({ bytes: Uint8Array.from(bytes), offsets, special, stripsLeadingSpace });
}

function toBytes(piece: VocabularyPiece): Uint8Array {
  if ("text" in piece) return new TextEncoder().encode(piece.text);
  return Uint8Array.from(atob(piece.base64), (character) => character.charCodeAt(0));
}
