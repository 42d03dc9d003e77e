/**
 * Finds names in Swift code that upstream has and our module has not. By text: a name counts as used where it is called
 * or is a type (`conv(x)`, `MLXFFT.fft`) or stands after a dot, unless the code declares that name itself.
 *
 * @module
 */

/** One use. */
export interface Use {
  /** The name. */
  name: string;
  /** Line of the file, from 1. */
  line: number;
}

/** The names that some Swift texts (without comments and strings) declare, parameters included. */
export function declaredNames(codes: Iterable<string>): Set<string> {
  const names = new Set<string>();
  for (const code of codes) {
    const declared = /\b(?:func|let|var|case|struct|class|enum|protocol|actor|typealias)\s+`?(\w+)/g;
    for (const match of code.matchAll(declared)) names.add(match[1] ?? "");
    for (const match of code.matchAll(/[(,]\s*(?:\w+\s+)?(\w+)\s*:/g)) names.add(match[1] ?? "");
  }
  return names;
}

/** Where `code` (without comments and strings) uses a name of `absent` that is not in `own`. */
export function absentNamesUsed(code: string, absent: readonly string[], own: ReadonlySet<string>): Use[] {
  const uses: Use[] = [];
  for (const name of absent) {
    if (own.has(name)) continue;
    for (
      const match of code.matchAll(new RegExp(`\\.${name}\\b|(?<![\\w.])${name}(?=\\s*[(<.])|:\\s*${name}\\b`, "g"))
    ) {
      uses.push({ name, line: code.slice(0, match.index).split("\n").length });
    }
  }
  return uses;
}
