/**
 * What can go wrong between a conversation and its token ids.
 *
 * @module
 */

/** A conversation that the model's template refuses or cannot render; the message is for the client. */
export class TemplateError extends SyntaxError {
  /** @param message What the template says. */
  constructor(message: string) {
    super(message);
    this.name = "TemplateError";
  }
}

/** A checkpoint whose text files are missing, damaged or unknown; the message names the file and what is wanted. */
export class TextFilesError extends Error {
  /** @param message What was tried, found and wanted. */
  constructor(message: string) {
    super(message);
    this.name = "TextFilesError";
  }
}

/** The text worker ended, or refused a call; no fault of the client. */
export class TextWorkerError extends Error {
  /** @param message What happened. */
  constructor(message: string) {
    super(message);
    this.name = "TextWorkerError";
  }
}

/** A prompt that is known not to fit before all of it is encoded. */
export class PromptTooLong extends Error {
  /** A lower bound of its tokens. */
  readonly tokensAtLeast: number;

  /** @param tokensAtLeast A lower bound of its tokens. */
  constructor(tokensAtLeast: number) {
    super(`The prompt has at least ${tokensAtLeast} tokens`);
    this.name = "PromptTooLong";
    this.tokensAtLeast = tokensAtLeast;
  }
}

/** A call that was given up because nobody waits for its answer any more. */
export class TextCallDropped extends Error {
  /** One sentence. */
  constructor() {
    super("The client left before its prompt was encoded");
    this.name = "TextCallDropped";
  }
}
