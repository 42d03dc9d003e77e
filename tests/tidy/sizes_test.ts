/**
 * How long files, functions and lines may be.
 *
 * Function ends are found by indentation, which the formatters keep.
 *
 * @module
 */
import assert from "node:assert/strict";
import { readSources, type Source } from "./sources.ts";

const FILE_LINES_MAX = 400;
/** Tests, graphs, and one kernel with all its variants. */
const LONG_FILE_LINES_MAX = 600;
const LONG_FILES = /_test\.ts$|^swift\/(Models|Tests)\/|\/Tests\//;
const FUNCTION_LINES_MAX = 60;
const PROSE_CHARACTERS_MAX = 120;
const CODE_CHARACTERS_MAX = 125;
const CODE = /\.(ts|swift|cpp|h|c|py)$/;

const isGenerated = ({ path }: Source): boolean => /\.gen\.ts$|^tests\/golden\/.*\.json$/.test(path);

Deno.test("no file is too long", async () => {
  const sources = (await readSources(CODE)).filter((source) => !isGenerated(source));
  assert(sources.length > 100);
  const long = sources.filter(({ path, lines }) => (
    lines.length > (LONG_FILES.test(path) ? LONG_FILE_LINES_MAX : FILE_LINES_MAX)
  ));
  assert.deepEqual(long.map(({ path, lines }) => `${path}: ${lines.length} lines`), []);
  const limits = { "main.ts": 120, "docs/ARCHITECTURE.md": 150 };
  for (const [path, linesMax] of Object.entries(limits)) {
    const [source] = await readSources(new RegExp(`^${path}$`));
    assert(source !== undefined && source.lines.length <= linesMax, `${path} has more than ${linesMax} lines`);
  }
});

Deno.test("no line is too wide", async () => {
  const sources = (await readSources(CODE)).filter((source) => !isGenerated(source));
  const wide = sources.flatMap(({ path, lines }) =>
    lines.flatMap((line, i) => [...line].length > widthMax(line) ? [`${path}:${i + 1}`] : [])
  );
  assert.deepEqual(wide, []);
});

/** Prose is wrapped exactly; formatters let code go over a little, and never break a text or an example. */
function widthMax(line: string): number {
  const isProse = /^\s*(\/\/|\*|\/\*)/.test(line) && !/[{<]["|]/.test(line);
  if (isProse) return PROSE_CHARACTERS_MAX;
  return /["'`]/.test(line) ? Infinity : CODE_CHARACTERS_MAX;
}

/** First lines of functions and methods; closures and test bodies belong to what holds them. */
const HEADS = {
  ts: [
    /^\s*(export )?(default )?(async )?function\b/,
    /^ {2}(static |async |get |set |override |readonly )*[#\w[\].]+\(.*[{(]$/,
    /^(export )?const \w+ = (async )?\(.*=> \{$/,
  ],
  swift: [
    /^\s*(@\w+(\(.*\))? )*((public|private|fileprivate|internal|static|class|mutating|nonisolated) )*(func |init[?(<])/,
    /^\s*((override|convenience|required|package|public) )+(func |init[?(<])/,
  ],
} as const;

/** Lengths of the functions that begin in these lines. */
function* functionLengths({ path, lines }: Source): Generator<{ place: string; lines: number }> {
  const heads = path.endsWith(".swift") ? HEADS.swift : HEADS.ts;
  for (const [index, line] of lines.entries()) {
    if (!heads.some((head) => head.test(line)) || /^\s*(if|for|while|switch|return|super|await)\b/.test(line)) continue;
    const indent = line.length - line.trimStart().length;
    const isOneLine = /\}\s*$/.test(line) || /;$/.test(line);
    if (isOneLine) continue;
    const closing = new RegExp(`^ {${indent}}[})]`);
    let end = lines.findIndex((later, i) => i > index && closing.test(later));
    // A head over several lines closes its parentheses first.
    while (end > 0 && /[{(]\s*$/.test(lines[end]!)) {
      const from = end;
      end = lines.findIndex((later, i) => i > from && closing.test(later));
    }
    if (end > index) yield { place: `${path}:${index + 1}`, lines: end - index + 1 };
  }
}

Deno.test("no function is too long", async () => {
  const sources = (await readSources(/\.(ts|swift)$/)).filter((source) => !isGenerated(source));
  const lengths = sources.flatMap((source) => [...functionLengths(source)]);
  // The rule must not pass because nothing was found.
  assert(lengths.length > 500, `${lengths.length} functions found`);
  const long = lengths.filter(({ lines }) => lines > FUNCTION_LINES_MAX);
  assert.deepEqual(long.map(({ place, lines }) => `${place}: ${lines} lines`), []);
});

Deno.test("a function's length is seen in both languages", () => {
  const body = Array.from({ length: 70 }, () => "    work()");
  const swift = { path: "a.swift", lines: ["    func f(", "        a: Int", "    ) -> Int {", ...body, "    }"] };
  assert.deepEqual([...functionLengths(swift)], [{ place: "a.swift:1", lines: 74 }]);
  const ts = { path: "a.ts", lines: ["export async function f(", "  a: number,", "): Promise<void> {", ...body, "}"] };
  assert.deepEqual([...functionLengths(ts)], [{ place: "a.ts:1", lines: 74 }]);
  const method = { path: "a.ts", lines: ["class A {", "  async #f(a: number): Promise<void> {", ...body, "  }", "}"] };
  assert.deepEqual([...functionLengths(method)], [{ place: "a.ts:2", lines: 72 }]);
});
