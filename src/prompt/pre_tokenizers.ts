/**
 * Pre-tokenizers that `@huggingface/tokenizers` 0.2.0 reads otherwise than the reference, written as ones that it reads
 * the same:
 * - `Digits`: the reference means all numbers (Rust `char::is_numeric`: Nd, Nl and No), the library only Nd.
 * - `ByteLevel` with its own pattern: the reference's `\s` is White_Space, JavaScript's has U+FEFF and lacks U+0085;
 *   the library translates patterns of `Split`, but not this one.
 *
 * Source: huggingface/tokenizers `src/pre_tokenizers/digits.rs` and `byte_level.rs` at v0.23.
 *
 * @module
 */

/** GPT-2's pattern (openai/gpt-2 encoder.py). */
const GPT2_PATTERN = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/** A pre-tokenizer of tokenizer.json as one that the library reads like the reference. */
export function toLibraryPreTokenizer(config: unknown): unknown {
  if (typeof config !== "object" || config === null || !("type" in config)) return config;
  if (config.type === "Sequence" && "pretokenizers" in config && Array.isArray(config.pretokenizers)) {
    return { ...config, pretokenizers: config.pretokenizers.map(toLibraryPreTokenizer) };
  }
  if (config.type === "Digits") {
    return split("individual_digits" in config && config.individual_digits === true ? "\\p{N}" : "\\p{N}+");
  }
  if (config.type === "ByteLevel" && !("use_regex" in config && config.use_regex === false)) {
    const prefixed = "add_prefix_space" in config && config.add_prefix_space === true;
    // The space comes before the cut, and only where the text has none.
    if (prefixed) return config;
    return { type: "Sequence", pretokenizers: [split(GPT2_PATTERN), { ...config, use_regex: false }] };
  }
  return config;
}

function split(pattern: string): unknown {
  return { type: "Split", pattern: { Regex: pattern }, behavior: "Isolated", invert: false };
}
