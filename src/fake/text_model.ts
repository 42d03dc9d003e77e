/**
 * The text side of a scripted model: a template of its own, and the embedded model's tokenizer where that is on the
 * disk. No checkpoint is needed; without one, prompts are cut by the simple rule and only counted.
 *
 * @module
 */
import type { Conversation } from "../flow.ts";
import { ChatTemplate } from "../prompt/template.ts";
import type { EncodeOptions, GenerationDefaults, RenderedPrompt, TextModel } from "../prompt/text_model.ts";
import { TokenTable } from "../prompt/token_table.ts";
import { cutSimply, type TextCutter } from "./pieces.ts";

/**
 * The template: ChatML, tools as one JSON a line in a system turn, calls as Hermes writes them, reasoning kept. It
 * reads the variables that clients switch thinking with, and writes them where they are set.
 */
export const FAKE_TEMPLATE = [
  "{%- if tools %}<|im_start|>system\n# Tools\n",
  "{%- for tool in tools %}{{ '\\n' + (tool | tojson) }}{%- endfor %}<|im_end|>\n{% endif %}",
  "{%- for message in messages %}{{ '<|im_start|>' + message.role + '\\n' }}",
  "{%- if message.reasoning_content %}{{ '<think>\\n' + message.reasoning_content + '\\n</think>\\n' }}{%- endif %}",
  "{%- if message.tool_call_id %}{{ '[' + message.tool_call_id + '] ' }}{%- endif %}{{ message.content }}",
  "{%- for call in message.tool_calls or [] %}",
  "{{ '\\n<tool_call>\\n' + ({'name': call.function.name, 'arguments': call.function.arguments} | ",
  "tojson) + '\\n</tool_call>' }}{%- endfor %}{{ '<|im_end|>\\n' }}{%- endfor %}",
  "{%- if enable_thinking is defined %}{{ '<|thinking ' ~ enable_thinking ~ '|>\\n' }}{%- endif %}",
  "{%- if reasoning_effort is defined %}{{ '<|effort ' ~ reasoning_effort ~ '|>\\n' }}{%- endif %}",
  "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}",
].join("");

/** A scripted model's templates and tokenizer. */
export class FakeTextModel implements TextModel {
  readonly vocabulary: TokenTable;
  readonly endTokens: readonly number[] = [];
  readonly generationDefaults: GenerationDefaults = {};
  readonly chatTemplate = FAKE_TEMPLATE;
  readonly #tokenizer: TextModel | undefined;
  readonly #template = new ChatTemplate({
    templates: new Map([["default", FAKE_TEMPLATE]]),
    namedTokens: {},
    addedTokens: [],
  });

  /** @param tokenizer The model that cuts texts; it is closed with this one. Absent: the simple rule does. */
  constructor(tokenizer?: TextModel) {
    this.#tokenizer = tokenizer;
    this.vocabulary = tokenizer?.vocabulary ?? noTokens();
  }

  async render(conversation: Conversation): Promise<RenderedPrompt> {
    const text = this.#template.render(conversation).map((piece) => piece.text).join("");
    return { text, ids: Int32Array.from(await this.encode(text, { addSpecial: false, parseSpecial: true })) };
  }

  async encode(text: string, options: EncodeOptions): Promise<Int32Array> {
    return await this.#tokenizer?.encode(text, options) ?? new Int32Array(cutSimply(text).length);
  }

  /** Cuts a reply's text as the tokenizer would. */
  readonly cut: TextCutter = async (text) => {
    const model = this.#tokenizer;
    if (model === undefined) return cutSimply(text);
    const ids = await model.encode(text, { addSpecial: false, parseSpecial: true });
    const pieces = Array.from(ids, (id) => model.vocabulary.bytes(id).slice());
    // A tokenizer that changes its text (one that adds a blank, say) would change what the script says.
    return joined(pieces) === text ? pieces : cutSimply(text);
  };

  async close(): Promise<void> {
    await this.#tokenizer?.close();
  }
}

function joined(pieces: readonly Uint8Array[]): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(pieces.flatMap((piece) => [...piece])));
}

/** A vocabulary of one token that spells nothing. */
function noTokens(): TokenTable {
  return new TokenTable({
    bytes: new Uint8Array(),
    offsets: new Uint32Array(2),
    special: new Uint8Array(1),
    stripsLeadingSpace: false,
  });
}
