/**
 * What can be wrong with what an answer is to be bound to.
 *
 * @module
 */

/** A constraint that can't be honoured. */
export class GrammarError extends Error {
  /** Place in the source: a JSON Pointer of a schema, `line 3` of a grammar, empty for the whole. */
  readonly path: string;
  /** Keyword, rule or construct at fault; empty: the source as a whole. */
  readonly keyword: string;

  /** @param message What was found and what is wanted. */
  constructor(message: string, where: { path?: string; keyword?: string } = {}) {
    super(message);
    this.name = "GrammarError";
    this.path = where.path ?? "";
    this.keyword = where.keyword ?? "";
  }
}
