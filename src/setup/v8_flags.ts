/**
 * Flags of V8 that a server is started with. They bound garbage: without them the resident memory of a server on the
 * scripted core grows by 80 MB over its first thousand requests, with live objects of 14 MB all the time.
 *
 * V8 takes them at the start of the process only, so they stand in the tasks of deno.json (a test compares), in the
 * launcher, in the executable, and where a command runs itself again.
 *
 * @module
 */

/** One argument for `deno run` and `deno compile`. */
export const V8_FLAGS = "--v8-flags=" + [
  // Some 25 MB less at ready; encoding and decoding take no longer (docs/LOG.md).
  "--optimize-for-size",
  // MB of the space for new objects, which V8 else lets grow to 16 before it looks whether they still live.
  "--max-semi-space-size=4",
  // Old objects are collected when they have grown by a quarter and not when they have doubled.
  "--heap-growing-percent=25",
  // The middle compiler takes 18 MB after some hundred requests; what stays hot gets the last one all the same.
  "--no-maglev",
  // A pause ends when the last helper has ended, and helpers wait for a processor behind long prompts and grammars: the
  // thread that streams collects alone, in half a millisecond. Marking and sweeping beside it stay.
  "--no-parallel-scavenge",
  "--no-parallel-marking",
  "--no-parallel-compaction",
  "--no-parallel-pointer-update",
].join(",");
