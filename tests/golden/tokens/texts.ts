/**
 * The texts whose ids are compared with the reference tokenizers: some that a person can read, and seeded mixtures of
 * words, scripts, spaces, specials and random characters. All are ours.
 *
 * @module
 */

/** Seed of the mixtures; another one means other expected values. */
export const SEED = 20261130;

/** Mixtures. */
export const MIXTURES = 20_000;

/** Mixtures under one hash. */
export const CHUNK = 500;

/** Texts whose ids are kept in full. */
export const READABLE: readonly string[] = [
  "Hello, world!",
  " leading space",
  "two  spaces   three    four",
  "trailing space ",
  "line\nline\r\nline\n\n\nend\t\ttabs",
  "I'm, you're, we've, they'll, he'd, it's, DON'T, CAN'T",
  "1 12 123 1234 12345 3.14159 1e10 0xFF 2026-11-30",
  "²³¹ ½ ⅷ Ⅷ ٣٤ 𝟘𝟙 一二三",
  "naïve café Ünïcödé Straße İstanbul ǅ ﬁ",
  "e\u0301 versus \u00e9, A\u030a versus \u00c5, \u1100\u1161 versus \uac00",
  "日本語の文章です。漢字とかなとカナ、句読点。",
  "한국어 문장입니다. 띄어쓰기가 있습니다.",
  "这是一个中文句子,没有空格。",
  "مرحبا بالعالم — שלום עולם",
  "नमस्ते दुनिया ไทย ไม่มีช่องว่าง",
  "🙂 👩‍👩‍👧 🇩🇪 ❤️ 👍🏽",
  'def f(x: int) -> str:\n    return f"{x!r}"  # comment\n\n\nclass A:\n\tpass\n',
  "const a = {b: [1, 2, {c: null}]};\nif (a?.b) { console.log(`${a.b}`); }",
  '{"name": "add_note", "arguments": {"text": "buy figs", "n": 1.50, "ok": true}}',
  '<html><body class="x">&amp; &lt;tag&gt;</body></html>',
  "https://example.org/a/b?c=d&e=%20f#g user@example.org",
  "snake_case camelCase PascalCase SCREAMING_CASE kebab-case __dunder__",
  "!!! ??? ... --- === ### *** ((( [[[ {{{ \\\\\\ ///",
  "\u00a0\u2003\u3000\u200b\u200d\ufeff\u0085\u2028",
  "\0\x01\x07\x1b[31mred\x1b[0m\x7f",
  "<|im_start|>user\nhi<|im_end|>\n<|endoftext|>",
  "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>",
  "<|start|>assistant<|channel|>analysis<|message|>hm<|end|>",
  "<bos><start_of_turn>user\nhi<end_of_turn>\n<eos>",
  "<｜begin▁of▁sentence｜><｜User｜>hi<｜Assistant｜><think>\nhm</think>",
  "<tool_call>\n{}\n</tool_call> </think><think> <tool_response>",
  "<|im_end|>glued<|im_end|><|im_end|> <|im_end |> <|IM_END|> <|im_end",
  "▁▁ <0x41> Ġ Ċ <unk> <s> </s> [INST] [/INST]",
  "a".repeat(300),
  "ab".repeat(100) + " " + "😀".repeat(40),
  " ".repeat(100) + "x" + "\n".repeat(50),
];

const WORDS = [
  ..."hello world The quick don't I'LL we've 's naïve 日本語 한국어 العربية हिन्दी ไทย Ünïcödé ﬁ 123 4567890 3.14".split(
    " ",
  ),
  ..."x=1; ... !! — $ € _ __init__ camelCase SNAKE_CASE http://x.y/z?q=1 <html> \\n ' \" ` ٣ Ⅷ ² ½ 𝟘 𓀀 ▁ <0x41> Ġ"
    .split(" "),
  ..."<|im_end|> <|im_start|> <|eot_id|> <think> </think> <tool_call> <bos> <s> </s> [INST] <|end|>".split(" "),
  "e\u0301té",
  "\t",
  "\n",
  "\n\n",
  "\r\n",
  "  ",
  "   ",
  "    ",
  "\u00a0",
  "\u2003",
  "\u3000",
  "\ufeff",
  "\u0085",
  "\u200b",
  "\u200d",
  "👩‍👩‍👧",
  "🙂",
  "🇩🇪",
  '{"a": [1,2]}',
  "def f(x):\n    return x",
  "\0",
  "\x07",
];

/** A generator of numbers in [0, 1): mulberry32 by Tommy Ettinger (public domain). */
export function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** The mixtures, the same at each call. */
export function mixtures(): string[] {
  const random = randomFrom(SEED);
  const word = (): string => WORDS[Math.floor(random() * WORDS.length)] ?? "";
  const character = (): string => {
    for (;;) {
      const point = Math.floor(random() * 0x20000);
      if (point < 0xd800 || point >= 0xe000) return String.fromCodePoint(point);
    }
  };
  const piece = (): string => {
    const kind = random();
    if (kind < 0.5) return word();
    if (kind < 0.65) return ` ${word()}`;
    if (kind < 0.8) return String.fromCharCode(0x20 + Math.floor(random() * 95));
    if (kind < 0.9) return String.fromCodePoint(0x20 + Math.floor(random() * 0x2fff));
    return character();
  };
  return Array.from({ length: MIXTURES }, () => Array.from({ length: 1 + Math.floor(random() * 12) }, piece).join(""));
}

/** Sequences of ids that no text gives: their bytes are often no UTF-8. */
export function randomIds(vocabularySize: number): number[][] {
  const random = randomFrom(SEED + 1);
  return Array.from(
    { length: 2000 },
    () => Array.from({ length: 1 + Math.floor(random() * 20) }, () => Math.floor(random() * vocabularySize)),
  );
}
