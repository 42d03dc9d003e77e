/** Masks: equal to asking for each token by itself, whatever the grammar and the place in it. */
import assert from "node:assert/strict";
import { randomFrom } from "../../tests/golden/tokens/texts.ts";

import { parseEbnf } from "../grammar/ebnf.ts";
import type { Grammar } from "../grammar/expr.ts";
import { compileSchema } from "../grammar/schema/compile.ts";
import type { TokenTableParts } from "../prompt/token_table.ts";
import { GrammarStore, type Matcher } from "./grammar_store.ts";
import { toTokenSet } from "./token_set.ts";

/** Spellings that cross every border: parts of characters, several signs in one, twins, blanks. */
const WORDS = [
  ...'abcxyzAZ019 \n\t"\\{}[]:,.-_/<>é😀'.split(/(?:)/u),
  ...[
    '"a',
    '":',
    '": ',
    '",',
    '", "',
    '"}',
    '{"',
    "{}",
    "[]",
    '"a":',
    '\\"',
    "\\u",
    "\\n",
    "true",
    "false",
    "null",
    "10",
  ],
  ...[
    "hello",
    " world",
    "hello world",
    "ab",
    "aba",
    "  ",
    "    ",
    "\n  ",
    "x".repeat(40),
    "x".repeat(140),
    "ab",
    "日本",
    "日本".repeat(8),
    `${"-".repeat(40)}\n`,
    `${"-".repeat(36)}"`,
    `${"é".repeat(18)}",`,
    `${" ".repeat(33)}\\n`,
    `${"ab".repeat(17)},`,
  ],
];
const END = 0;
const CONTROL = 1;

function toTable(): TokenTableParts {
  const text = new TextEncoder();
  const spellings = [
    text.encode("<end>"),
    text.encode("<mark>"),
    ...WORDS.map((word) => text.encode(word)),
    ...Array.from({ length: 128 }, (_, byte) => Uint8Array.of(0x80 + byte)),
  ];
  const offsets = new Uint32Array(spellings.length + 1);
  spellings.forEach((spelling, id) => offsets[id + 1] = (offsets[id] ?? 0) + spelling.length);
  const bytes = new Uint8Array(offsets.at(-1) ?? 0);
  spellings.forEach((spelling, id) => bytes.set(spelling, offsets[id]));
  const special = Uint8Array.from(spellings, (_, id) => id <= CONTROL ? 1 : 0);
  return { bytes, offsets, special, stripsLeadingSpace: false };
}

const TABLE = toTable();
const SIZE = TABLE.special.length;
/** The model can draw more ids than the tokenizer has. */
const TOKENS = toTokenSet(TABLE, SIZE + 40, [END]);

const GRAMMARS: Record<string, Grammar> = {
  "any JSON": compileSchema(true),
  "a short string": compileSchema({ type: "string", minLength: 3, maxLength: 50 }),
  "a string of bounds": compileSchema({ type: "string", minLength: 45, maxLength: 100 }),
  "words that begin anew": parseEbnf('root ::= ([a-z]{18,60} " "?)+ | ("ab"{20,90} ",")+'),
  "characters of several lengths": parseEbnf('root ::= ([a-c] | "é" | "日本"){20,45} [^<]{0,40} "<"'),
  "a long string": compileSchema({ type: "string", maxLength: 500 }),
  "an object": compileSchema({
    type: "object",
    properties: {
      a: { type: "string", maxLength: 2 },
      ab: { type: "array", items: { type: "integer" }, maxItems: 20 },
    },
    additionalProperties: { type: "string" },
  }),
  "a pattern": compileSchema({ type: "string", pattern: "^(ab)*[^a-c]{2,30}$" }),
  "counted rules": parseEbnf('root ::= pair{2,40} "x"+\npair ::= "a" "b"? | [xyz] [0-9]{0,3}'),
  "rounds of several signs": parseEbnf(
    'root ::= ("ab" [xyz]? | "hello world" | " "{2,20}){2,9} "," ("{}" | "xyz"){1,3}',
  ),
  "a list that is nearly full": compileSchema({
    type: "array",
    items: { type: "object", properties: { a: { type: "string", maxLength: 20 } }, additionalProperties: false },
    minItems: 3,
    maxItems: 6,
  }),
  "text": parseEbnf('root ::= [^<]* "<" [^\\x00-\\x7f]{1,3}'),
};

/** Mask of a matcher by asking for each token alone. */
function maskByHand(matcherAt: () => Matcher): number[] {
  return Array.from({ length: SIZE + 40 }, (_, token) => token).filter((token) => matcherAt().accept(token));
}

function tokensOf(words: Uint32Array): number[] {
  return [...words].flatMap((word, at) =>
    Array.from({ length: 32 }, (_, bit) => bit).filter((bit) => (word >>> bit) & 1).map((bit) => at * 32 + bit)
  );
}

for (const [name, grammar] of Object.entries(GRAMMARS)) {
  Deno.test(`the mask of ${name} is what each token says by itself`, () => {
    const random = randomFrom(3);
    for (let walk = 0; walk < 4; walk++) {
      // A store of its own for each walk: what was learned before must not matter.
      const store = new GrammarStore(TOKENS);
      const followed = store.prepare(name, grammar);
      const drawn: number[] = [];
      const matcherAt = (): Matcher => {
        const matcher = store.start(followed);
        for (const token of drawn) assert.ok(matcher.accept(token));
        return matcher;
      };
      for (let step = 0; step < 14; step++) {
        const words = new Uint32Array(TOKENS.wordCount);
        matcherAt().writeMask(words);
        const masked = tokensOf(words);
        assert.deepEqual(masked, maskByHand(matcherAt), `${name} behind ${drawn.join(" ")}`);
        const others = masked.filter((token) => token !== END);
        const next = others[Math.floor(random() * others.length)];
        if (next === undefined) break;
        drawn.push(next);
      }
    }
  });
}

Deno.test("no token is usable that is too long, a control token, or unknown to the tokenizer", () => {
  const words = new Uint32Array(TOKENS.wordCount);
  const store = new GrammarStore(TOKENS);
  store.start(store.prepare("all", parseEbnf("root ::= [^\\x00]*"))).writeMask(words);
  const masked = tokensOf(words);
  assert.ok(!masked.includes(CONTROL));
  assert.ok(masked.includes(END));
  assert.ok(masked.every((token) => token < SIZE));
  const long = 2 + WORDS.findIndex((word) => word.length === 140);
  assert.ok(!masked.includes(long));
  assert.equal(
    masked.length,
    SIZE - 1 - 1 - 77,
    "all but one control, one long one and the bytes that begin no character",
  );
});

Deno.test("a control token fits where its grammar names it and nowhere else", () => {
  const grammar: Grammar = {
    rules: new Map([["root", {
      kind: "sequence",
      items: [{ kind: "token", spelling: "<mark>" }, { kind: "text", text: "<mark>" }],
    }]]),
    root: "root",
  };
  const store = new GrammarStore(TOKENS);
  const matcher = store.start(store.prepare("mark", grammar));
  const words = new Uint32Array(TOKENS.wordCount);
  matcher.writeMask(words);
  assert.deepEqual(tokensOf(words), [CONTROL]);
  assert.ok(matcher.accept(CONTROL));
  assert.ok(!matcher.accept(CONTROL));
  assert.ok(matcher.accept(2 + WORDS.indexOf("<")));
});

Deno.test("a grammar that is kept no more is followed to its end by those who began it", () => {
  const store = new GrammarStore(TOKENS);
  const matcher = store.start(store.prepare("0", parseEbnf('root ::= "ab"')));
  for (let other = 1; other < 200; other++) store.prepare(String(other), parseEbnf(`root ::= "${"a".repeat(other)}"`));
  assert.equal(store.find("0"), undefined);
  assert.ok(matcher.accept(2 + WORDS.indexOf("a")) && matcher.accept(2 + WORDS.indexOf("b")) && matcher.accept(END));
});

Deno.test("a rule that begins with itself is refused by name", () => {
  const store = new GrammarStore(TOKENS);
  for (const source of ['root ::= root "a" | "b"', 'root ::= x\nx ::= " "* y\ny ::= x? "a" | "b"']) {
    assert.throws(() => store.prepare(source, parseEbnf(source)), /begins with itself/);
  }
});

Deno.test("a repetition of a repetition that can be read in too many ways is refused before an answer begins", () => {
  const store = new GrammarStore(TOKENS);
  const prepare = (source: string): unknown => store.prepare(source, parseEbnf(`root ::= ${source}`));
  for (const source of ['(("a"{1,1000}){1,1000}){1,1000}', '("a"{1,90}){1,90}', '("a"{1,1000}){1000000,}']) {
    assert.throws(() => prepare(source), /A repetition of a repetition can be read in \d+ ways/);
  }
  for (const source of ['("a"{1,40}){1,90}', '("a"{50}){1,1000}', '("a"{1,1000} ","){1,1000}', '"a"{1000000,}']) {
    prepare(source);
  }
});
