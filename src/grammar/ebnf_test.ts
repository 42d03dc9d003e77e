/** EBNF and Lark as clients send them. */
import assert from "node:assert/strict";
import { accepts, statesOf } from "../../tests/support/random_walk.ts";
import { toGrammar } from "./ebnf.ts";

function check(source: string, right: readonly string[], wrong: readonly string[]): void {
  const states = statesOf(toGrammar(source));
  for (const text of right) assert.ok(accepts(states, text), `${JSON.stringify(text)} should fit`);
  for (const text of wrong) assert.ok(!accepts(states, text), `${JSON.stringify(text)} should not fit`);
}

Deno.test("EBNF: strings, classes, groups, repetition, comments and rules over several lines", () => {
  check(
    '# yes or no\nroot ::= ("yes" | "no" reason?) [.!]\n  | "\\x41\\u00e9\\n"\nreason ::= ", because " [a-z ]{1,4} # why',
    ["yes.", "no!", "no, because ab d.", "Aé\n"],
    ["yes", "no, because .", "no, because abcde.", "Aé"],
  );
  check('root ::= [^a-c\\]"] ["\\-x]* a-b\na-b ::= .', ['d"-xz', "éa"], ["a", "]z", "dqz", "d\n"]);
  check('root ::= "a"{2} ("b"+ "c"?){0,2} | ""', ["aa", "aabbcb", ""], ["a", "aabcbcbc"]);
});

Deno.test("EBNF that is wrong is refused with its line", () => {
  const cases: [source: string, message: RegExp][] = [
    ['x ::= "a"', /no rule root/],
    ['root ::= "a"\nroot ::= "b"', /Line 2 .*defined twice/],
    ["root ::=\n  other", /Line 2 .*other is not defined/],
    ['root ::= ("a"', /Line 1 .*expected \)/],
    ['root ::= "a" }', /Line 1 .*no meaning/],
    ['root ::= "a"{5,2}', /ends before it begins/],
    ['root ::= "a"{9999999}', /at most 1000000/],
    ["root ::= [z-a]", /ends before it begins/],
    ['root ::= "\\q"', /escape \\q/],
    ['root ::= x\nx ::= "a" x', /No text fits/],
  ];
  for (const [source, message] of cases) assert.throws(() => toGrammar(source), { name: "GrammarError", message });
});

/** The grammar of a freeform tool that edits files by patches, in the constructs that Codex uses. */
const PATCH = `start: begin_patch hunk+ end_patch
begin_patch: "*** Begin Patch" LF
end_patch: "*** End Patch" LF?

hunk: add_hunk | delete_hunk | update_hunk
add_hunk: "*** Add File: " filename LF add_line+
delete_hunk: "*** Delete File: " filename LF
update_hunk: "*** Update File: " filename LF change_move? change?

filename: /(.+)/
add_line: "+" /(.*)/ LF -> line

change_move: "*** Move to: " filename LF
change: (change_context | change_line)+ eof_line?
change_context: ("@@" | "@@ " /(.+)/) LF
change_line: ("+" | "-" | " ") /(.*)/ LF
eof_line: "*** End of File" LF

%import common.LF
`;

Deno.test("Lark: the patch grammar that Codex sends takes patches and nothing else", () => {
  check(PATCH, [
    "*** Begin Patch\n*** Add File: a b.txt\n+one\n+\n*** End Patch",
    "*** Begin Patch\n*** Delete File: x\n*** End Patch\n",
    "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@ def f():\n-a\n+b\n c\n*** End of File\n*** End Patch\n",
    "*** Begin Patch\n*** Update File: é\n@@\n \n*** Delete File: y\n*** End Patch\n",
  ], [
    "*** Begin Patch\n*** End Patch",
    "*** Begin Patch\n*** Add File: \n+x\n*** End Patch",
    "*** Begin Patch\n*** Add File: a\nx\n*** End Patch",
    "```\n*** Begin Patch\n*** Delete File: x\n*** End Patch\n```",
  ]);
});

Deno.test("Lark: the source grammar of Codex's code mode", () => {
  const source = "\nstart: pragma | plain\npragma: PRAGMA NEWLINE SOURCE\nplain: SOURCE\n" +
    "PRAGMA: /[ \\t]*\\/\\/ @exec:[^\\r\\n]*/\nNEWLINE: /\\r?\\n/\nSOURCE: /[\\s\\S]+/\n";
  check(source, ["// @exec: {}\nawait x();\n", "text(1)", "\n"], [""]);
});

Deno.test("Lark: modifiers, counts, ranges, loose strings, templates of patterns", () => {
  check(
    '?start: item ~ 2..3 -> many\n!item.2: "Ab"i | "x".."z" [DIGIT]\n%import common.DIGIT',
    ["aBAB", "xy1", "xyz"],
    [
      "ab",
      "wx",
    ],
  );
  check("start: /a.b/s /[c-d]+/i // behind\n", ["a\nbCd"], ["a\nb"]);
});

Deno.test("Lark that can't be followed is refused by the name of the construct", () => {
  const cases: [source: string, keyword: string][] = [
    ['start: "a"\n%ignore " "', "%ignore"],
    ["start: A\n%declare A", "%declare"],
    ['start: "a"\n%import python.NAME', "%import"],
    ["start: X\n%import common.C_COMMENT -> X", "common.C_COMMENT"],
    ['start: pair{"a"}\npair{x}: x x', 'pair{"a"}'],
    ["start: /(?<=a)b/", "/(?<=a)b/"],
    ["start: /a/x", "x"],
    ["start: other", "other"],
    ['begin: "a"', "start"],
  ];
  for (const [source, keyword] of cases) assert.throws(() => toGrammar(source), { name: "GrammarError", keyword });
});
