/** Bounds of thinking. Tokens are letters: `<` opens a block, `>` closes it, `.` is an end token, `_` is blank. */
import assert from "node:assert/strict";
import type { Allowance, TokenGuide } from "../flow.ts";
import { answerShare, type AnswerWatch, ThinkingGuide, type ThinkingPlan } from "./thinking_guide.ts";

class LetterWatch implements AnswerWatch {
  thinking: boolean;
  answered = false;
  constructor(thinking: boolean) {
    this.thinking = thinking;
  }
  push(token: number): void {
    const letter = String.fromCharCode(token);
    if (letter === "<") this.thinking = true;
    else if (letter === ">") this.thinking = false;
    else if (!this.thinking && letter !== "_") this.answered = true;
  }
}

const ids = (letters: string): number[] => [...letters].map((letter) => letter.charCodeAt(0));
const PLAN: ThinkingPlan = {
  maxTokens: 1000,
  closing: ids("_>"),
  endTokens: ids("."),
  vocabularySize: 128,
};

/** What a model that wants to say `text` says under a guide; an end token where it may ends it. */
async function say(guide: TokenGuide, text: string, maxTokens = PLAN.maxTokens): Promise<string> {
  const wanted = [...text];
  const said: string[] = [];
  let free = 0;
  let insteadOfEnd: readonly number[] = [];
  const put = (letter: string): void => void said.push(letter);
  while (said.length < maxTokens) {
    if (free-- <= 0) {
      const allowance = await guide.next(said.length, said.at(-1)?.charCodeAt(0));
      insteadOfEnd = allowance.type === "free" ? allowance.insteadOfEnd ?? [] : [];
      free = allowance.type === "free" ? allowance.positions - 1 : 0;
      if (allowance.type === "force") {
        for (const token of allowance.tokens) put(String.fromCharCode(token));
        continue;
      }
      if (allowance.type === "mask") {
        const { words } = allowance;
        const allowed = (letter: string): boolean => {
          const token = letter.charCodeAt(0);
          return ((words[token >>> 5] ?? 0) >>> (token & 31) & 1) === 1;
        };
        while (wanted[0] !== undefined && !allowed(wanted[0])) wanted.shift();
      }
    }
    const letter = wanted.shift() ?? "?";
    if (letter !== ".") put(letter);
    else if (insteadOfEnd.length === 0) return said.join("") + ".";
    else {
      // The tokens in its place come one by one, and the guide hears of each.
      for (const token of insteadOfEnd) {
        put(String.fromCharCode(token));
        if (token !== insteadOfEnd.at(-1)) await guide.next(said.length, token);
      }
      free = 0;
    }
  }
  return said.join("");
}

const make = (plan: Partial<ThinkingPlan>, opened = false, inner?: TokenGuide): ThinkingGuide =>
  new ThinkingGuide(new LetterWatch(opened), { ...PLAN, ...plan }, inner);

Deno.test("Thinking within its budget is left alone, and nobody is asked behind an answer that has begun", async () => {
  assert.equal(await say(make({ budget: 6 }), "<abcde>answer."), "<abcde>answer.");
  assert.equal(await say(make({}), "<abc>answer."), "<abc>answer.");
  const guide = make({});
  for (const [at, letter] of [..."<a>x"].entries()) await guide.next(at + 1, letter.charCodeAt(0));
  assert.deepEqual(await guide.next(5, ids("y")[0]), { type: "free", positions: Infinity });
});

Deno.test("The closing tokens are forced at exactly the budget, whoever opened the block", async () => {
  for (const budget of [0, 1, 3, 7]) {
    const thoughts = "abcdefghij".slice(0, budget);
    const rest = "abcdefghij".slice(budget);
    assert.equal(await say(make({ budget }), `<abcdefghij.`), `<${thoughts}_>${rest}.`);
    assert.equal(await say(make({ budget }, true), `abcdefghij.`), `${thoughts}_>${rest}.`);
  }
});

Deno.test("A second block has what the first one left of the budget", async () => {
  assert.equal(await say(make({ budget: 4 }), "<ab>x<cdef>y."), "<ab>x<cd_>ef>y.");
});

Deno.test("An end token inside a block gives way to its closing; none ends a turn before something is visible", async () => {
  assert.equal(await say(make({}), "<ab.answer."), "<ab_>answer.");
  assert.equal(await say(make({}), "<ab>._.answer."), "<ab>_answer.");
  assert.equal(await say(make({}, true), "...x."), "_>x.");
  // Blanks without end are an end too.
  assert.equal(await say(make({}), `<a>${"_".repeat(16)}.`), `<a>${"_".repeat(16)}.`);
});

Deno.test("Without thinking an answer ends where it wants to", async () => {
  assert.equal(await say(make({}), "."), ".");
  assert.equal(await say(make({ budget: 3 }), "x."), "x.");
});

Deno.test("The answer's share of the tokens is kept, however few there are", async () => {
  assert.deepEqual([1, 3, 20, 1000, 100_000].map(answerShare), [1, 1, 5, 250, 4096]);
  for (const maxTokens of [4, 5, 8, 40]) {
    const said = await say(make({ maxTokens }), `<${"t".repeat(100)}`, maxTokens);
    assert.equal(said.length, maxTokens);
    const closed = said.indexOf("_>");
    assert.equal(said.length - closed - 2, answerShare(maxTokens), said);
  }
  // Where closing and a token don't fit, nothing is forced.
  assert.equal(await say(make({ maxTokens: 2 }, true), "ttttt", 2), "tt");
});

Deno.test("An inner guide hears of every token in order, forced ones too, and says what may come behind the block", async () => {
  const heard: [number, string][] = [];
  let closed = 0;
  const mask: Allowance = { type: "mask", words: new Uint32Array(4).fill(0xffff_ffff) };
  const inner: TokenGuide = {
    next: (position, token) => {
      heard.push([position, token === undefined ? "" : String.fromCharCode(token)]);
      return Promise.resolve(position < 4 ? { type: "free", positions: 9 } : mask);
    },
    close: () => void closed++,
  };
  const guide = make({ budget: 2 }, true, inner);
  assert.equal(await say(guide, "abcd."), "ab_>cd.");
  assert.deepEqual(heard, [[0, ""], [1, "a"], [2, "b"], [3, "_"], [4, ">"], [5, "c"], [6, "d"]]);
  guide.close();
  assert.equal(closed, 1);
});
