/**
 * The spellings of many tokens as a tree, laid out flat in the order of a walk: masks are made by walking it, and a
 * prefix that does not fit skips all that begin with it.
 *
 * @module
 */

/** A token and its spelling. */
export interface SpelledToken {
  /** Id. */
  token: number;
  /** Not empty. */
  bytes: Uint8Array;
}

/** The tree. Node i is reached over `bytes[i]`; its subtree ends before `skip[i]`. */
export interface TokenTrie {
  /** Bytes of the longest spelling. */
  readonly reach: number;
  /** Nodes. */
  readonly size: number;
  /** Byte that leads to a node. */
  readonly bytes: Uint8Array;
  /** Bytes from the root to a node, that one included. */
  readonly depth: Uint8Array;
  /** First node behind a node's subtree. */
  readonly skip: Int32Array;
  /** Token that ends at a node, -1: none. */
  readonly token: Int32Array;
  /** By token: the next one of the same spelling, -1: none. */
  readonly twin: Map<number, number>;
}

/** Builds it. Spellings have at most 255 bytes. */
export function toTrie(tokens: readonly SpelledToken[]): TokenTrie {
  const sorted = [...tokens].sort((left, right) => compare(left.bytes, right.bytes) || right.token - left.token);
  const capacity = sorted.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const bytes = new Uint8Array(capacity);
  const depth = new Uint8Array(capacity);
  const skip = new Int32Array(capacity);
  const token = new Int32Array(capacity).fill(-1);
  const twin = new Map<number, number>();
  const path: number[] = [];
  let size = 0;
  let reach = 0;
  let before: Uint8Array = new Uint8Array();
  for (const spelled of sorted) {
    const shared = sharedLength(before, spelled.bytes);
    for (let at = path.length - 1; at >= shared; at--) skip[path[at] ?? 0] = size;
    path.length = shared;
    for (let at = shared; at < spelled.bytes.length; at++) {
      bytes[size] = spelled.bytes[at] ?? 0;
      depth[size] = at + 1;
      path.push(size++);
    }
    reach = Math.max(reach, spelled.bytes.length);
    const node = path.at(-1) ?? 0;
    const other = token[node] ?? -1;
    if (other >= 0) twin.set(spelled.token, other);
    token[node] = spelled.token;
    before = spelled.bytes;
  }
  for (const node of path) skip[node] = size;
  const cut = <T extends Uint8Array | Int32Array>(array: T): T => array.slice(0, size) as T;
  return { reach, size, bytes: cut(bytes), depth: cut(depth), skip: cut(skip), token: cut(token), twin };
}

function compare(left: Uint8Array, right: Uint8Array): number {
  const shared = sharedLength(left, right);
  return (left[shared] ?? -1) - (right[shared] ?? -1);
}

function sharedLength(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) if (left[at] !== right[at]) return at;
  return length;
}
