/** Vocabularies laid out: what is plain, and trees that hold every spelling, whatever bytes tokens are made of. */
import assert from "node:assert/strict";
import { randomFrom } from "../../tests/golden/tokens/texts.ts";

import { TOKEN_BYTES_MAX } from "./limits.ts";
import { PLAIN_CHARS_MAX, toTokenSet } from "./token_set.ts";
import { sortBySpelling, type Spellings, type TokenTrie } from "./token_trie.ts";

/** Bytes at the borders of the ranges of UTF-8, of JSON's plain characters, and some inside. */
const BYTES = [
  ...[0x00, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7e, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf],
  ...[0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff],
];
const CHARS = ["é", "日", "\u{d7ff}", "\u{ffff}", "\u{10000}", "\u{10ffff}", "a", "-", " "];

/** All one- and two-byte spellings of BYTES, random longer ones, long lines with and without an end, and twins. */
function toSpellings(): Uint8Array[] {
  const random = randomFrom(5);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const text = new TextEncoder();
  return [
    ...BYTES.map((byte) => Uint8Array.of(byte)),
    ...BYTES.flatMap((first) => BYTES.map((second) => Uint8Array.of(first, second))),
    ...Array.from({ length: 3000 }, () => Uint8Array.from({ length: 3 + Math.floor(random() * 4) }, () => pick(BYTES))),
    ...Array.from(
      { length: 3000 },
      () =>
        text.encode(
          Array.from({ length: 1 + Math.floor(random() * 12) }, () => pick(CHARS)).join("") + pick(["", '"']),
        ),
    ),
    ...Array.from({ length: 140 }, (_, length) => text.encode("-".repeat(length) + (length % 2 === 0 ? "\n" : ""))),
    ...Array.from({ length: 40 }, (_, length) => text.encode("日".repeat(length) + (length % 2 === 0 ? "\\n" : ""))),
  ];
}

const SPELLINGS = toSpellings();
const TABLE = toTable(SPELLINGS);
const SET = toTokenSet(TABLE, SPELLINGS.length, []);
/** Characters of a spelling that stands in a JSON string as it is; undefined: it does not. */
const toPlainChars = (bytes: Uint8Array): number | undefined => {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
  return /["\\\p{Cc}]/u.test(text.replace(/[\u{80}-\u{9f}]/gu, "x")) ? undefined : [...text].length;
};
const isUsable = ({ length }: Uint8Array): boolean => length > 0 && length <= TOKEN_BYTES_MAX;

function toTable(spellings: readonly Uint8Array[]): Parameters<typeof toTokenSet>[0] {
  const offsets = new Uint32Array(spellings.length + 1);
  spellings.forEach((spelling, id) => offsets[id + 1] = (offsets[id] ?? 0) + spelling.length);
  const bytes = new Uint8Array(offsets.at(-1) ?? 0);
  spellings.forEach((spelling, id) => bytes.set(spelling, offsets[id]));
  return { bytes, offsets, special: new Uint8Array(spellings.length), stripsLeadingSpace: false };
}

/** Tokens of a tree with the spelling that leads to them. */
function readTrie({ size, bytes, depth, skip, token, twin }: TokenTrie): Map<number, string> {
  const found = new Map<number, string>();
  const path: number[] = [];
  for (let node = 0; node < size; node++) {
    path.length = (depth[node] ?? 0) - 1;
    path.push(bytes[node] ?? 0);
    const behind = skip[node] ?? 0;
    assert.ok(behind > node && (behind === size || (depth[behind] ?? 0) <= (depth[node] ?? 0)));
    for (let id = token[node] ?? -1; id >= 0; id = twin.get(id) ?? -1) found.set(id, path.join(" "));
  }
  return found;
}

Deno.test("a token is plain as a decoder of UTF-8 and the rules of JSON strings have it", () => {
  for (const [token, bytes] of SPELLINGS.entries()) {
    const chars = isUsable(bytes) ? toPlainChars(bytes) : undefined;
    for (let most = 0; most <= PLAIN_CHARS_MAX; most++) {
      const words = SET.plainUpTo[most] ?? new Uint32Array();
      const isIn = ((words[token >>> 5] ?? 0) >>> (token & 31) & 1) === 1;
      assert.equal(isIn, chars !== undefined && chars <= most, `${bytes.join(" ")} among those of ${most}`);
    }
    const listed = SET.longPlain.filter((plain) => plain.token === token).map((plain) => plain.chars);
    assert.deepEqual(listed, chars !== undefined && chars > PLAIN_CHARS_MAX ? [chars] : []);
  }
});

Deno.test("every usable token is in one tree of all, and if it is not plain, in one of the others or in their list", () => {
  const all = SET.all.flatMap((trie) => [...readTrie(trie)]);
  const usable = SPELLINGS.flatMap((bytes, token) => isUsable(bytes) ? [[token, bytes.join(" ")] as const] : []);
  assert.deepEqual(new Map(all), new Map(usable));
  assert.equal(all.length, usable.length);
  const others = [
    ...SET.others.flatMap((trie) => [...readTrie(trie).keys()]),
    ...SET.longOthers.map(({ token }) => token),
  ];
  const wanted = usable.map(([token]) => token).filter((token) =>
    toPlainChars(SPELLINGS[token] ?? new Uint8Array()) === undefined
  );
  assert.deepEqual(others.toSorted((left, right) => left - right), wanted);
  for (const { token, chars, rest } of SET.longOthers) {
    const bytes = SPELLINGS[token] ?? new Uint8Array();
    assert.equal(toPlainChars(bytes.subarray(0, bytes.length - rest.length)), chars);
    assert.equal(toPlainChars(bytes.subarray(0, bytes.length - rest.length + 1)), undefined);
  }
});

Deno.test("tokens are sorted by their bytes, of equal ones the highest id first", () => {
  const spellings: Spellings = TABLE;
  const ids = Int32Array.from(SPELLINGS, (_, id) => id);
  const byHand = [...ids].sort((left, right) => {
    const [one, two] = [SPELLINGS[left] ?? [], SPELLINGS[right] ?? []];
    const at = [...one].findIndex((byte, index) => byte !== two[index]);
    if (at < 0) return one.length - two.length || right - left;
    return (one[at] ?? 0) - (two[at] ?? -1);
  });
  assert.deepEqual([...sortBySpelling(ids, spellings)], byHand);
});
