/**
 * What can go wrong in a template.
 *
 * @module
 */

/** A template that can't be read or run; the message is in Jinja's words. */
export class JinjaError extends Error {
  /** Whether the template itself raised it, with `raise_exception`: then the message is for whoever wrote the chat. */
  readonly raised: boolean;

  /** @param message What happened. @param raised Whether the template raised it itself. */
  constructor(message: string, raised = false) {
    super(message);
    this.name = "JinjaError";
    this.raised = raised;
  }
}
