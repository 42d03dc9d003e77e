/**
 * A conversation → the prompt's text, by the checkpoint's own Jinja template.
 *
 * Source: transformers v5.24 `apply_chat_template` and `render_jinja_template`: which of several templates is taken,
 * which variables it sees, how a last message is left open.
 *
 * @module
 */
import type { Conversation } from "../flow.ts";
import {
  chooseMarks,
  controlTokens,
  holds,
  mark,
  type PromptPiece,
  toPieces,
  toTokenPattern,
} from "./control_tokens.ts";
import { TemplateError } from "./errors.ts";
import { JinjaError } from "./jinja/errors.ts";
import { toValue } from "./jinja/json.ts";
import { JinjaTemplate } from "./jinja/template.ts";
import type { Value } from "./jinja/values.ts";
import { RENDERED_CHARS_MAX, TEMPLATE_STEPS_MAX } from "./limits.ts";
import { toTemplateMessages } from "./messages.ts";
import { findTraits, type TemplateTraits } from "./template_traits.ts";
import type { AddedTokenJson, TextFiles } from "./text_files.ts";

/** Appended to the last message to find its end in the prompt; the space shows whether the template trims. */
const CONTINUE_TAG = "CONTINUE_FINAL_MESSAGE_TAG ";

/** What templates need of a checkpoint. */
export type TemplateFiles = Pick<TextFiles, "templates" | "namedTokens"> & {
  /** Tokens that the template writes and a client's text must not become. */
  addedTokens: readonly AddedTokenJson[];
};

interface ReadTemplate {
  template: JinjaTemplate;
  /** Spellings of its control tokens, and what finds them. */
  control: readonly string[];
  pattern: RegExp;
}

/** One checkpoint's templates. */
export class ChatTemplate {
  readonly #files: TemplateFiles;
  readonly #read = new Map<string, ReadTemplate>();
  readonly #now: () => Date;
  #traits: TemplateTraits | undefined;

  /** Keeps the sources; each is read at its first use. @param now What a template that asks for the date is told. */
  constructor(files: TemplateFiles, now: () => Date = () => new Date()) {
    this.#files = files;
    this.#now = now;
  }

  /**
   * The prompt, in pieces: one, unless the client's text spells control tokens.
   *
   * @param argumentsAsText Arguments of calls are given to the template as JSON text, not as a value.
   * @throws {TemplateError} If there is no template, it refuses the conversation, or it fails.
   */
  render(conversation: Conversation, argumentsAsText = false): PromptPiece[] {
    const { messages, tools } = toTemplateMessages(conversation, argumentsAsText);
    const useTools = tools !== null && this.#files.templates.has("tool_use");
    const { template, control, pattern } = this.#require(useTools ? "tool_use" : "default");
    const written = { messages, tools, ...conversation.templateArguments };
    if (!holds(written, pattern)) {
      const text = this.#run(template, { messages, tools }, conversation);
      return text === "" ? [] : [{ text, plain: false }];
    }
    const marks = chooseMarks(written);
    const marked = mark({ messages, tools, arguments: conversation.templateArguments }, pattern, marks) as {
      messages: typeof messages;
      tools: unknown[] | null;
      arguments: Record<string, unknown>;
    };
    const text = this.#run(template, marked, { ...conversation, templateArguments: marked.arguments });
    return toPieces(text, control, marks);
  }

  /** What it can render; found at the first use. */
  traits(): TemplateTraits {
    this.#traits ??= findTraits((conversation, asText) =>
      this.render(conversation, asText).map(({ text }) => text).join("")
    );
    return this.#traits;
  }

  #require(name: string): ReadTemplate {
    const known = this.#read.get(name);
    if (known !== undefined) return known;
    const { templates, addedTokens } = this.#files;
    const source = templates.get(name);
    if (source === undefined) {
      const others = [...templates.keys()];
      throw new TemplateError(
        others.length === 0
          ? "This model has no chat template, so it can't chat; use /v1/completions"
          : `This model has no default chat template; it has ${others.join(", ")}`,
      );
    }
    try {
      const template = new JinjaTemplate(source);
      const control = controlTokens(addedTokens, template.literals());
      const read = { template, control, pattern: toTokenPattern(control) };
      this.#read.set(name, read);
      return read;
    } catch (error) {
      throw new TemplateError(`The model's chat template cannot be read: ${reasonOf(error)}`);
    }
  }

  #run(
    template: JinjaTemplate,
    written: ReturnType<typeof toTemplateMessages>,
    conversation: Pick<Conversation, "addGenerationPrompt" | "templateArguments">,
  ): string {
    const last = written.messages.at(-1);
    if (last === undefined) throw new TemplateError("Cannot render a conversation without messages");
    if (!conversation.addGenerationPrompt) last.content += CONTINUE_TAG;
    const variables = {
      ...this.#files.namedTokens,
      ...conversation.templateArguments,
      ...written,
      documents: null,
      "add_generation_prompt": conversation.addGenerationPrompt,
    };
    let text: string;
    try {
      const values = new Map(Object.entries(variables).map(([name, value]): [string, Value] => [name, toValue(value)]));
      text = template.render(values, this.#now, { steps: TEMPLATE_STEPS_MAX, characters: RENDERED_CHARS_MAX });
    } catch (error) {
      const verb = error instanceof JinjaError && error.raised ? "refuses" : "cannot render";
      throw new TemplateError(`The model's chat template ${verb} this conversation: ${reasonOf(error)}`);
    }
    return conversation.addGenerationPrompt ? text : leftOpen(text, last.role);
  }
}

/** The text up to where the last message ends. */
function leftOpen(text: string, role: string): string {
  const tag = CONTINUE_TAG.trimEnd();
  const at = text.lastIndexOf(tag);
  if (at < 0) {
    throw new TemplateError(`The model's chat template does not show the ${role} message that is to be continued`);
  }
  return text.startsWith(CONTINUE_TAG, at) ? text.slice(0, at) : text.slice(0, at).trimEnd();
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
