/**
 * JSON with comments, edited in place by the library of VS Code.
 *
 * @module
 */
import { applyEdits, modify, parse, type ParseError, printParseErrorCode } from "jsonc-parser";
import type { PathPart } from "../agent.ts";
import type { Change } from "./edit.ts";

const OPTIONS = { allowTrailingComma: true, disallowComments: false } as const;

/** The value. @throws {SyntaxError} At the first fault. */
export function parseJson(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, OPTIONS);
  const [first] = errors;
  if (first === undefined) return value;
  const line = text.slice(0, first.offset).split("\n").length;
  throw new SyntaxError(`${printParseErrorCode(first.error)} in line ${line}`);
}

/** The text with a change; new lines are indented as the file is. */
export function editJson(text: string, { path, value }: Change): string {
  const source = text.trim() !== "" ? text : typeof path[0] === "string" ? "{}\n" : "[]\n";
  const formattingOptions = { tabSize: 2, eol: "\n", ...toIndent(source) };
  return applyEdits(source, modify(source, toPlaces(parseJson(source), path), value, { formattingOptions }));
}

function toIndent(text: string): { insertSpaces: boolean; tabSize?: number } {
  const first = /^([ \t]+)\S/m.exec(text)?.[1];
  if (first === undefined) return { insertSpaces: true };
  return first.startsWith("\t") ? { insertSpaces: false } : { insertSpaces: true, tabSize: first.length };
}

/** Entries of lists by their places; one that is not there goes to the end. */
function toPlaces(root: unknown, path: readonly PathPart[]): (string | number)[] {
  let value = root;
  return path.map((part) => {
    if (typeof part === "string") {
      value = (value as Record<string, unknown> | undefined)?.[part];
      return part;
    }
    const list = Array.isArray(value) ? value : [];
    const found = list.findIndex((entry) => (entry as Record<string, unknown> | null)?.[part.key] === part.is);
    value = list[found];
    return found === -1 ? list.length : found;
  });
}
