/**
 * Every bound of the grammar worker, with unit and reason.
 *
 * @module
 */

/** Bytes of a token that a bound answer may use; longer ones (runs of white space) can be written in pieces. */
export const TOKEN_BYTES_MAX = 128;

/**
 * Tokens are masked apart by their bytes, up to so many of them and over: most are short, and few counts change which
 * of those may come; the longest are few, and looked at for every count.
 */
export const TOKEN_BYTES_STEPS: readonly number[] = [4, 8, 16, 32];

/** Ways to read what was written so far that are followed at once; a grammar with more is too ambiguous to follow. */
export const READINGS_MAX = 4096;

/** Nested rules and counts of one reading: deeper than any answer of a million tokens is useful. */
export const STACK_DEPTH_MAX = 10_000;

/** Machines that one vocabulary keeps, the least recently used leave first. */
export const MACHINES_MAX = 128;

/** Expressions of all kept machines of one vocabulary: about 100 bytes each. */
export const MACHINE_EXPRESSIONS_MAX = 1_000_000;

/** States of all machines of one vocabulary, at about 1 KiB; over it, what was learned is forgotten. */
export const STATES_MAX = 60_000;

/** Bytes of the places that the main isolate knows of one worker; over it, all are forgotten. */
export const KNOWN_BYTES_MAX = 8 * 1024 * 1024;

/** Tokens that an answer may be ahead of its worker, which goes over them with the next that it is asked about. */
export const TOKENS_AHEAD_MAX = 256;

/** Bytes of the masks that one vocabulary keeps. */
export const MASK_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Milliseconds that one call of the worker may take; then the worker is ended, and its other answers go on in a new
 * one. Sixty tools take 100 ms, a vocabulary of 150,000 tokens most of a second; a busy machine ten times that.
 */
export const CALL_MS_MAX = 15_000;

/** Answers bound at once; the server's queue is shorter. */
export const MATCHERS_MAX = 1024;
