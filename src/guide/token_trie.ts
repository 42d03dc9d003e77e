/**
 * The spellings of many tokens as a tree, laid out flat in the order of a walk: masks are made by walking it, and a
 * prefix that does not fit skips all that begin with it.
 *
 * All of it is numbers in a few arrays: an object a token would be garbage by the megabyte, which V8 would collect
 * while the first answer waits for its masks.
 *
 * @module
 */

/** Spellings of a vocabulary: those of token t are the bytes from `offsets[t]` to `offsets[t + 1]`. */
export interface Spellings {
  /** All of them, one behind the other. */
  readonly bytes: Uint8Array;
  /** One more than there are tokens. */
  readonly offsets: Uint32Array;
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

/** Ids of a vocabulary: with the first bytes of a spelling they fit into a double. */
export const TOKENS_MAX = 2 ** 21;
/** Bytes of a spelling that are compared as a number. */
const HEAD_BYTES = 4;

/** Tokens in the order of a tree: by bytes, of equal ones the highest id first. @param tokens Below TOKENS_MAX. */
export function sortBySpelling(tokens: Int32Array, spellings: Spellings): Int32Array {
  const { bytes, offsets } = spellings;
  // Numbers sort without a function of ours; only those that begin alike are compared byte by byte.
  const keys = Float64Array.from(tokens, (token) => {
    const [start, end] = [offsets[token] ?? 0, offsets[token + 1] ?? 0];
    let head = 0;
    for (let at = start; at < start + HEAD_BYTES; at++) head = head * 256 + (at < end ? bytes[at] ?? 0 : 0);
    return head * TOKENS_MAX + token;
  }).sort();
  const sorted = Int32Array.from(keys, (key) => key % TOKENS_MAX);
  const headAt = (at: number): number => Math.floor((keys[at] ?? NaN) / TOKENS_MAX);
  for (let first = 0; first < sorted.length;) {
    let end = first + 1;
    while (headAt(end) === headAt(first)) end++;
    if (end - first > 1) sorted.subarray(first, end).sort((left, right) => compare(left, right, spellings));
    first = end;
  }
  return sorted;
}

/** Builds it. @param sorted By `sortBySpelling`; no spelling is empty or over 255 bytes. */
export function toTrie(sorted: Int32Array, spellings: Spellings): TokenTrie {
  const { offsets } = spellings;
  const lengthOf = (token: number): number => (offsets[token + 1] ?? 0) - (offsets[token] ?? 0);
  const capacity = sorted.reduce((sum, token) => sum + lengthOf(token), 0);
  const bytes = new Uint8Array(capacity);
  const depth = new Uint8Array(capacity);
  const skip = new Int32Array(capacity);
  const token = new Int32Array(capacity).fill(-1);
  const twin = new Map<number, number>();
  const path: number[] = [];
  let size = 0;
  let reach = 0;
  let before: number | undefined;
  for (const next of sorted) {
    const length = lengthOf(next);
    const shared = before === undefined ? 0 : sharedLength(before, next, spellings);
    while (path.length > shared) skip[path.pop() ?? 0] = size;
    for (let at = shared; at < length; at++) {
      bytes[size] = spellings.bytes[(offsets[next] ?? 0) + at] ?? 0;
      depth[size] = at + 1;
      path.push(size++);
    }
    reach = Math.max(reach, length);
    const node = path[length - 1] ?? 0;
    const other = token[node] ?? -1;
    if (other >= 0) twin.set(next, other);
    token[node] = next;
    before = next;
  }
  for (const node of path) skip[node] = size;
  const cut = <T extends Uint8Array | Int32Array>(array: T): T => array.slice(0, size) as T;
  return { reach, size, bytes: cut(bytes), depth: cut(depth), skip: cut(skip), token: cut(token), twin };
}

function compare(left: number, right: number, spellings: Spellings): number {
  const { bytes, offsets } = spellings;
  const shared = sharedLength(left, right, spellings);
  const [leftAt, rightAt] = [(offsets[left] ?? 0) + shared, (offsets[right] ?? 0) + shared];
  const isLeftOver = leftAt >= (offsets[left + 1] ?? 0);
  const isRightOver = rightAt >= (offsets[right + 1] ?? 0);
  if (isLeftOver || isRightOver) return Number(isRightOver) - Number(isLeftOver) || right - left;
  return (bytes[leftAt] ?? 0) - (bytes[rightAt] ?? 0);
}

/** Bytes that two spellings begin with alike. */
function sharedLength(left: number, right: number, { bytes, offsets }: Spellings): number {
  const [leftStart, rightStart] = [offsets[left] ?? 0, offsets[right] ?? 0];
  const length = Math.min((offsets[left + 1] ?? 0) - leftStart, (offsets[right + 1] ?? 0) - rightStart);
  for (let at = 0; at < length; at++) if (bytes[leftStart + at] !== bytes[rightStart + at]) return at;
  return length;
}
