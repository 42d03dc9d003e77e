/** Fitting against JavaScript's own matcher, and the bound of its work. */
import assert from "node:assert/strict";
import { fitsText } from "./fits_text.ts";
import { parseRegex } from "./regex_parser.ts";

const PATTERNS = [
  "^a*b?$",
  "^(ab|a){2,3}$",
  "^(a?b){2}a*$",
  "^((a+)b*){1,2}$",
  "^(a{2,3}){2,}$",
  "^(|a|ba){3}$",
  "^(b(a|b)?){0,2}a$",
  "^(a*){2,4}b$",
];

/** All texts of a and b up to six characters. */
function texts(): string[] {
  const all = [""];
  for (const text of all) if (text.length < 6) all.push(`${text}a`, `${text}b`);
  return all;
}

Deno.test("a text fits as JavaScript's matcher says", () => {
  for (const pattern of PATTERNS) {
    const [expr, own] = [parseRegex(pattern, true), new RegExp(pattern, "u")];
    for (const text of texts()) assert.equal(fitsText(expr, text), own.test(text), `${pattern} ${text}`);
  }
});

Deno.test("repetitions inside of repetitions take no longer for it, and what takes too long is refused", () => {
  const text = "a".repeat(300);
  assert.equal(fitsText(parseRegex("^((((a+)+)+)+)+$", true), `${text}b`), false);
  assert.equal(fitsText(parseRegex("^(a{1,1000}){1,1000}$", true), text), true);
  const deep = `^${"(".repeat(40)}a${"{2,})".repeat(40)}$`;
  assert.throws(() => fitsText(parseRegex(deep, true), text), { name: "GrammarError", message: /takes too long/ });
});
