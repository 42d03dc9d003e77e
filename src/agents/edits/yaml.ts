/**
 * YAML, edited as a document, which keeps comments and order.
 *
 * @module
 */
import { type Document, isMap, isSeq, parseDocument } from "yaml";
import type { PathPart } from "../agent.ts";
import type { Change } from "./edit.ts";

/** The value. @throws {SyntaxError} At the first fault. */
export function parseYaml(text: string): unknown {
  return open(text).toJS() ?? undefined;
}

/** The text with a change. */
export function editYaml(text: string, { path, value }: Change): string {
  const document = open(text);
  const empty = typeof path[0] === "string" ? {} : [];
  if (document.contents === null) document.contents = document.createNode(empty) as unknown as null;
  const places = toPlaces(document, path);
  if (value === undefined) document.deleteIn(places);
  else setIn(document, places, value);
  return document.toString({ lineWidth: 0 });
}

function open(text: string): Document {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) throw new SyntaxError(error.message);
  return document;
}

/** The library makes a missing list a map, so missing parents are made here. */
function setIn(document: Document, places: readonly (string | number)[], value: unknown): void {
  for (let length = 1; length < places.length; length++) {
    const above = places.slice(0, length);
    const node = document.getIn(above);
    if (isMap(node) || isSeq(node)) continue;
    document.setIn(above, document.createNode(typeof places[length] === "number" ? [] : {}));
  }
  document.setIn(places, document.createNode(value));
}

/** Entries of lists by their places; one that is not there goes to the end. */
function toPlaces(document: Document, path: readonly PathPart[]): (string | number)[] {
  let value: unknown = document.toJS();
  return path.map((part) => {
    if (typeof part === "string") {
      value = (value as Record<string, unknown> | null | undefined)?.[part];
      return part;
    }
    const list = Array.isArray(value) ? value : [];
    const found = list.findIndex((entry) => (entry as Record<string, unknown> | null)?.[part.key] === part.is);
    value = list[found];
    return found === -1 ? list.length : found;
  });
}
