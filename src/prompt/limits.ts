/**
 * Every bound of the prompt side, with unit and reason.
 *
 * @module
 */

/** UTF-16 units of one text to encode, or of one conversation's strings: 64 Mi, far over any context. */
export const TEXT_CHARS_MAX = 64 * 1024 * 1024;

/** UTF-16 units from which a prompt counts as long: encoding fewer takes under 100 ms. */
export const LONG_CHARS = 32_768;

/** Long prompts that may wait for their worker. */
export const LONG_CALLS_MAX = 256;

/** A prompt is counted to its end up to this multiple of what fits; one that is longer is told as "at least". */
export const COUNTED_MULTIPLE = 2;

/** Words that are merged between two looks at the count. */
export const WORDS_A_PIECE = 512;

/** UTF-16 units a token, of the part of a long text that is tried first: prose has 4 to 5, and twice the tokens
 * must be found. */
export const TRIED_CHARS_A_TOKEN = 12;

/** UTF-16 units that a template may write: a broken loop ends here and not in all of memory. */
export const RENDERED_CHARS_MAX = 128 * 1024 * 1024;

/** Statements and expressions of one rendering: a few seconds. A chat of 1,000 turns takes under a million. */
export const TEMPLATE_STEPS_MAX = 20_000_000;

/** Calls that may wait for one worker; the server's queue is shorter, so more is a bug of ours. */
export const PENDING_CALLS_MAX = 4096;

/** Bytes of a JSON file of a checkpoint (the largest known tokenizer.json has 33 MB). */
export const JSON_FILE_BYTES_MAX = 256 * 1024 * 1024;

/** Ids in one vocabulary (the largest known one has 262,208). */
export const VOCABULARY_SIZE_MAX = 4 * 1024 * 1024;
