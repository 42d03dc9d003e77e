/**
 * How much of a text's end may begin a marker and so must not be shown yet. Shared by stop, reasoning and tools.
 *
 * @module
 */

/**
 * Offset of the longest suffix of `text` that is a proper prefix of one of `markers`; `text.length` if there is none.
 * A whole marker is not held: callers look for those first.
 */
export function heldTailStart(text: string, markers: readonly string[]): number {
  let longest = 0;
  for (const marker of markers) longest = Math.max(longest, marker.length);
  for (let start = Math.max(0, text.length - longest + 1); start < text.length; start++) {
    const length = text.length - start;
    for (const marker of markers) {
      if (marker.length > length && marker.startsWith(text.slice(start))) return start;
    }
  }
  return text.length;
}
