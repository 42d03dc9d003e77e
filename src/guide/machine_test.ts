/** Machines stay as small as what they are made from, and accept the same however they are written out. */
import assert from "node:assert/strict";
import { accepts, statesOf } from "../../tests/support/random_walk.ts";
import { parseEbnf } from "../grammar/ebnf.ts";
import { toMachine } from "./machine.ts";

function nested(depth: number, item: string, count: string): string {
  return `root ::= ${"(".repeat(depth)}${item}${`)${count}`.repeat(depth)}`;
}

Deno.test("Repetitions inside of repetitions do not multiply", () => {
  for (const count of ["*", "+", "{2,}", "{16,}", "{2,3}"]) {
    const { nodes } = toMachine(parseEbnf(nested(40, '"a"', count)), () => false);
    assert.ok(nodes.length < 500, `${count}: ${nodes.length}`);
  }
});

Deno.test("A grammar that comes to too many places is refused, not written out", () => {
  assert.throws(() => toMachine(parseEbnf(nested(12, '"a"?', "{0,9}")), () => false), {
    name: "GrammarError",
    message: /too large: written out it has over 1000000/,
  });
});

Deno.test("Repetitions hold their counts, written out or not", () => {
  const cases: [source: string, right: string[], wrong: string[]][] = [
    ['root ::= ("a" "b"?)+', ["a", "ab", "aab", "abab"], ["", "b", "abb"]],
    ['root ::= ("a" "b"){2,}', ["abab", "ababab"], ["", "ab", "aba"]],
    ['root ::= "a"{3,}', ["aaa", "aaaaa"], ["", "aa"]],
    ['root ::= (("a" "b"){2,} "c")+', ["ababc", "abababcababc"], ["abc", "ababcab", "ababcabc"]],
    ['root ::= (("a"+)+ "b")*', ["", "ab", "aabab"], ["b", "aba"]],
  ];
  for (const [source, right, wrong] of cases) {
    const states = statesOf(parseEbnf(source));
    for (const text of right) assert.ok(accepts(states, text), `${source} should take ${JSON.stringify(text)}`);
    for (const text of wrong) assert.ok(!accepts(states, text), `${source} should not take ${JSON.stringify(text)}`);
  }
});
