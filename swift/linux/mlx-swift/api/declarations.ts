/**
 * Reads the public declarations out of Swift sources, as text: which type they belong to and how they are spelled.
 *
 * The text form is enough to compare our module with upstream's: the same declaration is the same text after white
 * space and the order of modifiers are made equal. It knows what these sources contain, not all of Swift.
 *
 * @module
 */

/** One public declaration. */
export interface Declaration {
  /** The types around it, e.g. `MLXFast` or `MLXArrayIndex where Self == MLXSlice`; empty at the top level. */
  context: string;
  /** From its modifiers to before its body or value, in one line. */
  text: string;
  /** What code says to use it: a name, `init`, `subscript`, or an operator. */
  name: string;
  /** Whether it is marked as deprecated or unavailable. */
  discouraged: boolean;
}

const KEYWORDS = "func|init|var|let|subscript|struct|class|enum|protocol|actor|typealias|case|macro";
const CONTAINERS = /^(?:extension|struct|class|enum|protocol|actor)$/;
const MODIFIERS = new Set([
  "public",
  "static",
  "final",
  "prefix",
  "convenience",
  "mutating",
  "nonisolated",
  "internal(set)",
  "private(set)",
]);

/** The declarations of one source text, in order. */
export function readDeclarations(source: string): Declaration[] {
  const code = withoutCommentsAndStrings(source).replace(/^[ \t]*#(?:if|elseif|else|endif)\b.*$/gm, "");
  const found: Declaration[] = [];
  readScope(code, 0, code.length, { context: "", protocol: false, enumeration: false }, found);
  return found;
}

interface Scope {
  context: string;
  /** Members of a public protocol are public without saying so. */
  protocol: boolean;
  /** So are the cases of a public enum. */
  enumeration: boolean;
}

/** Reads the declarations between two places of the same brace depth. */
function readScope(code: string, from: number, to: number, scope: Scope, found: Declaration[]): void {
  let place = from;
  while (place < to) {
    const head = nextHead(code, place, to);
    if (head === undefined) return;
    const text = oneLine(code.slice(head.start, head.end));
    const body = code[head.end] === "{" ? closing(code, head.end) : head.end;
    const isPublic = /\bpublic\b/.test(head.modifiers) || scope.protocol ||
      (scope.enumeration && head.keyword === "case");
    if (head.keyword !== "extension" && isPublic) found.push(declaration(text, head, scope));
    if (CONTAINERS.test(head.keyword) && (isPublic || head.keyword === "extension")) {
      const inner = {
        context: joined(scope.context, containerName(text)),
        protocol: head.keyword === "protocol",
        enumeration: head.keyword === "enum",
      };
      readScope(code, head.end + 1, body, inner, found);
    }
    place = Math.max(body, head.end) + 1;
  }
}

interface Head {
  start: number;
  end: number;
  keyword: string;
  modifiers: string;
  attributes: string;
}

const HEAD = new RegExp(
  `((?:@[\\w]+(?:\\([^()]*(?:\\([^()]*\\)[^()]*)*\\))?\\s+)*)` +
    `((?:(?:[a-z]+(?:\\((?:set|unsafe)\\))?)\\s+)*?)\\b(extension|${KEYWORDS})\\b(?=[\\s(?<])`,
  "y",
);

/** The next declaration's head; statements between declarations are stepped over. */
function nextHead(code: string, from: number, to: number): Head | undefined {
  for (let place = from; place < to; place++) {
    const character = code[place] ?? "";
    if (character === "{") {
      place = closing(code, place);
      continue;
    }
    if (!/[@a-z]/.test(character) || /[\w.`]/.test(code[place - 1] ?? " ")) continue;
    HEAD.lastIndex = place;
    const match = HEAD.exec(code);
    if (match === null) {
      while (/\w/.test(code[place + 1] ?? " ")) place++;
      continue;
    }
    const [, attributes = "", modifiers = "", keyword = ""] = match;
    const start = place + attributes.length;
    return { start, end: headEnd(code, HEAD.lastIndex, keyword), keyword, modifiers, attributes };
  }
  return undefined;
}

/** Where a head ends: before its body, its value, or at the end of its line. */
function headEnd(code: string, from: number, keyword: string): number {
  let depth = 0;
  for (let place = from; place < code.length; place++) {
    const character = code[place] ?? "";
    if ("([".includes(character)) depth++;
    if (")]".includes(character)) depth--;
    if (depth > 0) continue;
    if (character === "{" || character === "}") return place;
    if (character === "=" && (keyword === "let" || keyword === "var") && code[place + 1] !== "=") return place;
    if (character !== "\n") continue;
    if (/^\s*(?:->|where\b|\{|throws\b|rethrows\b|async\b|:)/.test(code.slice(place))) continue;
    if (/(?:->|,|:|\bthrows|\basync)\s*$/.test(code.slice(from, place))) continue;
    return place;
  }
  return code.length;
}

function declaration(text: string, head: Head, scope: Scope): Declaration {
  return {
    context: scope.context,
    text: withSortedModifiers(text),
    name: declaredName(text, head.keyword),
    discouraged: /\b(?:deprecated|unavailable)\b/.test(head.attributes),
  };
}

function declaredName(text: string, keyword: string): string {
  if (keyword === "init" || keyword === "subscript") return keyword;
  const rest = text.slice(text.search(new RegExp(`\\b${keyword}\\b`)) + keyword.length).trimStart();
  return /^`?(\w+)`?/.exec(rest)?.[1] ?? /^[^\s\w(]+/.exec(rest)?.[0] ?? rest;
}

/** `extension Foo: Bar where Baz` → `Foo where Baz`; `public struct Foo: Bar` → `Foo`. */
function containerName(text: string): string {
  const rest = text.replace(/^.*?\b(?:extension|struct|class|enum|protocol|actor)\s+/, "");
  const where = /\bwhere\b.*$/.exec(rest)?.[0];
  const name = /^[\w.<>[\], ]+?(?=\s*(?::|where\b|$))/.exec(rest)?.[0] ?? rest;
  return where === undefined || !text.includes("extension") ? name.trim() : `${name.trim()} ${where.trim()}`;
}

function joined(outer: string, inner: string): string {
  return outer === "" ? inner : `${outer}.${inner}`;
}

function withSortedModifiers(text: string): string {
  const words = text.split(" ");
  const count = words.findIndex((word) => !MODIFIERS.has(word));
  return count <= 0 ? text : [...words.slice(0, count).sort(), ...words.slice(count)].join(" ");
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").replace(/([([]) /g, "$1").replace(/,? ([)\]])/g, "$1").trim();
}

/** The place of the brace that closes the one at `place`. */
function closing(code: string, place: number): number {
  let depth = 0;
  for (let at = place; at < code.length; at++) {
    if (code[at] === "{") depth++;
    if (code[at] === "}" && --depth === 0) return at;
  }
  return code.length;
}

/** The code with comments and the insides of string literals as spaces, every other character in its place. */
export function withoutCommentsAndStrings(source: string): string {
  const pattern = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"/g;
  return source.replace(pattern, (text) => {
    const blank = text.replace(/[^\n]/g, " ");
    return text.startsWith('"') ? `"${blank.slice(2)}"` : blank;
  });
}
