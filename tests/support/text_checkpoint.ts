/**
 * The text files of a tiny model, written into a folder: a byte-level tokenizer with a few merges, ChatML.
 *
 * @module
 */

/** Spellings of the 256 bytes in GPT-2's alphabet, by byte. */
const BYTES: string[] = (() => {
  const spellings: string[] = [];
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    spellings.push(String.fromCharCode(printable ? byte : next++));
  }
  return spellings;
})();

/** Special tokens of the tiny model, with ids from 0. */
export const SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"] as const;

/** ChatML, with a sentence for a role that it refuses. */
export const CHATML =
  "{% for message in messages %}{% if message.role == 'tool' %}{{ raise_exception('Tools are not for me') }}" +
  "{% endif %}{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/** What the files hold. */
export function textFiles(): Record<string, unknown> {
  const merges = [["h", "e"], ["l", "l"], ["he", "ll"], ["hell", "o"], ["Ġ", "w"]];
  const words = [...SPECIAL, ...BYTES, ...merges.map((pair) => pair.join(""))];
  return {
    "tokenizer.json": {
      version: "1.0",
      added_tokens: SPECIAL.map((content, id) => ({ id, content, special: true, normalized: false })),
      normalizer: null,
      pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
      post_processor: null,
      decoder: { type: "ByteLevel" },
      model: { type: "BPE", vocab: Object.fromEntries(words.map((word, id) => [word, id])), merges },
    },
    "tokenizer_config.json": { chat_template: CHATML, bos_token: "<|im_start|>", eos_token: { content: "<|im_end|>" } },
    "generation_config.json": { eos_token_id: [2, 0], temperature: 0.7, top_p: 0.9 },
    "config.json": { model_type: "llama", eos_token_id: 1, max_position_embeddings: 512 },
  };
}

/** Writes files into a new folder, which the caller removes. A value that is a string is written as it is. */
export async function writeTextCheckpoint(files: Record<string, unknown> = textFiles()): Promise<string> {
  const directory = await Deno.makeTempDir({ prefix: "text_checkpoint_" });
  for (const [name, content] of Object.entries(files)) {
    await Deno.writeTextFile(`${directory}/${name}`, typeof content === "string" ? content : JSON.stringify(content));
  }
  return directory;
}
