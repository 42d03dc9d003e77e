/**
 * The tokenizer inside a GGUF file → tokenizer.json and tokenizer_config.json.
 *
 * Byte-level BPE only (`tokenizer.ggml.model` "gpt2"); how text is cut before the merges is a name in the file
 * (`tokenizer.ggml.pre`), and a name that isn't in the table below is refused, because a wrong cut gives wrong ids
 * without any error. Knows nothing of weights.
 *
 * @module
 */
import { GgufError, type GgufFile } from "./gguf_file.ts";

/** How one pre-tokenizer of llama.cpp is written in tokenizer.json. */
interface PreTokenizer {
  normalizer: unknown;
  preTokenizer: unknown;
  /** A piece that is a whole token skips the merges. */
  ignoreMerges: boolean;
  /** When the file doesn't say. */
  addsBos: boolean;
}

const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const WORDS_AND = (digits: string): string =>
  `${CONTRACTIONS}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}|` +
  " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const byteLevel = (useRegex: boolean): unknown => ({
  type: "ByteLevel",
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: useRegex,
});
const splitThenBytes = (pattern: string): unknown => ({
  type: "Sequence",
  pretokenizers: [
    { type: "Split", pattern: { Regex: pattern }, behavior: "Isolated", invert: false },
    byteLevel(false),
  ],
});

/**
 * Names: llama.cpp, src/llama-vocab.cpp. Patterns: the tokenizer.json of SmolLM2-135M-Instruct, Llama-3-8B, Qwen3-0.6B
 * and GPT-2; tokenizer_test.ts compares them with the ones that packages ship.
 */
const PRE_TOKENIZERS: Readonly<Record<string, PreTokenizer>> = {
  "gpt-2": { normalizer: null, preTokenizer: byteLevel(true), ignoreMerges: false, addsBos: false },
  "smollm": {
    normalizer: null,
    preTokenizer: { type: "Sequence", pretokenizers: [{ type: "Digits", individual_digits: true }, byteLevel(true)] },
    ignoreMerges: false,
    addsBos: false,
  },
  "llama-bpe": {
    normalizer: null,
    preTokenizer: splitThenBytes(WORDS_AND("\\p{N}{1,3}")),
    ignoreMerges: true,
    addsBos: true,
  },
  "qwen2": {
    normalizer: { type: "NFC" },
    preTokenizer: splitThenBytes(WORDS_AND("\\p{N}")),
    ignoreMerges: false,
    addsBos: false,
  },
};

/** `tokenizer.ggml.token_type`: llama.cpp's `llama_token_type`. */
const TOKEN_TYPE = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

/**
 * Texts of control tokens that end an answer, whichever of them the file names as its end token.
 * Source: the end-of-generation list of llama.cpp, src/llama-vocab.cpp, those of byte-level vocabularies.
 */
const END_TEXTS = new Set(["<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|end_of_text|>", "<|endoftext|>", "</s>"]);

/** The files to write and the ids that config.json repeats. */
export interface ConvertedTokenizer {
  /** Content of tokenizer.json. */
  readonly tokenizer: unknown;
  /** Content of tokenizer_config.json, the chat template included. */
  readonly tokenizerConfig: unknown;
  /** Entries of the vocabulary, unused ones included: the rows of the embedding. */
  readonly vocabularySize: number;
  /** Begin-of-text token, when the file names one. */
  readonly bosToken: number | undefined;
  /** The end token that the file names. */
  readonly eosToken: number;
  /** All ids that end an answer, the named one first. */
  readonly endTokens: readonly number[];
}

/** Reads the tokenizer. @throws {GgufError} If it is no byte-level BPE, its cut is unknown, or a list is damaged. */
export function convertTokenizer(file: GgufFile): ConvertedTokenizer {
  const model = file.text("tokenizer.ggml.model");
  if (model !== "gpt2") {
    throw new GgufError(file.path, `its tokenizer is of the kind ${model}; convertible is gpt2 (byte-level BPE)`);
  }
  const pre = file.text("tokenizer.ggml.pre", "gpt-2");
  const cut = Object.hasOwn(PRE_TOKENIZERS, pre) ? PRE_TOKENIZERS[pre] : undefined;
  if (cut === undefined) {
    const known = Object.keys(PRE_TOKENIZERS).join(", ");
    throw new GgufError(file.path, `its tokenizer cuts text as ${pre}; convertible are ${known}`);
  }
  const vocabulary = readVocabulary(file);
  const { tokens } = vocabulary;
  const eosToken = requireToken(file, "eos_token_id", tokens.length);
  const bosToken = findToken(file, "bos_token_id", tokens.length);
  const addBos = bosToken !== undefined && file.flag("tokenizer.ggml.add_bos_token", cut.addsBos);
  const ends = ["eot_token_id", "eom_token_id"].map((key) => findToken(file, key, tokens.length));
  const byText = vocabulary.control.filter((id) => END_TEXTS.has(tokens[id]!));
  const endTokens = new Set([eosToken, ...ends.filter((id) => id !== undefined), ...byText]);
  return {
    tokenizer: {
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: vocabulary.added,
      normalizer: cut.normalizer,
      pre_tokenizer: cut.preTokenizer,
      post_processor: addBos ? beginWith(bosToken, tokens[bosToken]!) : byteLevel(false),
      decoder: byteLevel(true),
      model: bytePairModel(file, vocabulary.plain, cut.ignoreMerges),
    },
    tokenizerConfig: tokenizerConfig(file, tokens, { bosToken, eosToken, addBos }),
    vocabularySize: tokens.length,
    bosToken,
    eosToken,
    endTokens: [...endTokens],
  };
}

interface Vocabulary {
  tokens: readonly string[];
  /** Ids of control tokens. */
  control: readonly number[];
  /** Entries of `added_tokens`: found in a text before it is cut. */
  added: readonly unknown[];
  /** Text → id of all used tokens. */
  plain: Readonly<Record<string, number>>;
}

function readVocabulary(file: GgufFile): Vocabulary {
  const tokens = file.texts("tokenizer.ggml.tokens");
  const types = file.numbers("tokenizer.ggml.token_type");
  if (tokens.length !== types.length) {
    throw new GgufError(file.path, `it has ${tokens.length} tokens but ${types.length} token types`);
  }
  const control: number[] = [];
  const added: unknown[] = [];
  // A map first: a token may be called __proto__.
  const plain = new Map<string, number>();
  tokens.forEach((content, id) => {
    const type = types[id]!;
    // Fill rows up to a round number; no text gives them.
    if (type === TOKEN_TYPE.unused) return;
    if (plain.has(content)) throw new GgufError(file.path, `tokens ${plain.get(content)} and ${id} have the same text`);
    plain.set(content, id);
    if (type === TOKEN_TYPE.control) control.push(id);
    if (type === TOKEN_TYPE.control || type === TOKEN_TYPE.userDefined || type === TOKEN_TYPE.unknown) {
      const special = type !== TOKEN_TYPE.userDefined;
      added.push({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special });
    }
  });
  return { tokens, control, added, plain: Object.fromEntries(plain) };
}

function bytePairModel(file: GgufFile, vocab: Readonly<Record<string, number>>, ignoreMerges: boolean): unknown {
  const merges = file.texts("tokenizer.ggml.merges").map((merge) => {
    const parts = merge.split(" ");
    // "a b": the byte alphabet has no space, so exactly one separates.
    if (parts.length !== 2 || !parts[0] || !parts[1]) {
      throw new GgufError(file.path, `the merge ${JSON.stringify(merge)} is not two tokens with a space between`);
    }
    return parts;
  });
  return {
    type: "BPE",
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: false,
    ignore_merges: ignoreMerges,
    vocab,
    merges,
  };
}

function beginWith(id: number, text: string): unknown {
  const special = { SpecialToken: { id: text, type_id: 0 } };
  const sequence = (name: "A" | "B", typeId: number): unknown => ({ Sequence: { id: name, type_id: typeId } });
  return {
    type: "TemplateProcessing",
    single: [special, sequence("A", 0)],
    pair: [special, sequence("A", 0), { SpecialToken: { id: text, type_id: 1 } }, sequence("B", 1)],
    special_tokens: { [text]: { id: text, ids: [id], tokens: [text] } },
  };
}

function tokenizerConfig(
  file: GgufFile,
  tokens: readonly string[],
  named: { bosToken: number | undefined; eosToken: number; addBos: boolean },
): unknown {
  const textOf = (id: number | undefined): string | null => id === undefined ? null : tokens[id]!;
  const template = file.has("tokenizer.chat_template") ? { chat_template: file.text("tokenizer.chat_template") } : {};
  return {
    tokenizer_class: "PreTrainedTokenizerFast",
    add_bos_token: named.addBos,
    add_prefix_space: false,
    clean_up_tokenization_spaces: false,
    bos_token: textOf(named.bosToken),
    eos_token: textOf(named.eosToken),
    pad_token: textOf(findToken(file, "padding_token_id", tokens.length)),
    unk_token: textOf(findToken(file, "unknown_token_id", tokens.length)),
    model_max_length: file.count(`${file.text("general.architecture")}.context_length`),
    ...template,
  };
}

function findToken(file: GgufFile, key: string, tokenCount: number): number | undefined {
  return file.has(`tokenizer.ggml.${key}`) ? requireToken(file, key, tokenCount) : undefined;
}

function requireToken(file: GgufFile, key: string, tokenCount: number): number {
  const id = file.count(`tokenizer.ggml.${key}`);
  if (id >= tokenCount) throw new GgufError(file.path, `its ${key} is ${id}, but there are ${tokenCount} tokens`);
  return id;
}
