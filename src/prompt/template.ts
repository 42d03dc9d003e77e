/**
 * A conversation → the prompt's text, by the checkpoint's own Jinja template.
 *
 * Source: transformers v5.24 `apply_chat_template` and `render_jinja_template`: which of several templates is taken,
 * which variables it sees, how a last message is left open.
 *
 * @module
 */
import { Template } from "@huggingface/jinja";
import type { Conversation } from "../flow.ts";
import { TemplateError } from "./errors.ts";
import { RENDERED_CHARS_MAX } from "./limits.ts";
import { type TemplateMessage, toTemplateMessages } from "./messages.ts";
import type { TextFiles } from "./text_files.ts";

/** Appended to the last message to find its end in the prompt; the space shows whether the template trims. */
const CONTINUE_TAG = "CONTINUE_FINAL_MESSAGE_TAG ";

/** One checkpoint's templates. */
export class ChatTemplate {
  readonly #sources: Map<string, string>;
  readonly #parsed = new Map<string, Template>();
  readonly #namedTokens: Record<string, string>;

  /** Keeps the sources; each is parsed at its first use. */
  constructor(files: TextFiles) {
    this.#sources = files.templates;
    this.#namedTokens = files.namedTokens;
  }

  /** The prompt. @throws {TemplateError} If there is no template, it refuses the conversation, or it fails. */
  render(conversation: Conversation): string {
    const { messages, tools } = toTemplateMessages(conversation);
    const template = this.#parse(tools === null ? "default" : this.#sources.has("tool_use") ? "tool_use" : "default");
    const last = messages.at(-1);
    if (last === undefined) throw new TemplateError("Cannot render a conversation without messages");
    if (!conversation.addGenerationPrompt) last.content += CONTINUE_TAG;
    const text = this.#run(template, {
      ...this.#namedTokens,
      ...conversation.templateArguments,
      messages,
      tools,
      documents: null,
      add_generation_prompt: conversation.addGenerationPrompt,
    });
    return conversation.addGenerationPrompt ? text : leftOpen(text, last);
  }

  #parse(name: string): Template {
    const parsed = this.#parsed.get(name);
    if (parsed !== undefined) return parsed;
    const source = this.#sources.get(name);
    if (source === undefined) {
      const others = [...this.#sources.keys()];
      throw new TemplateError(
        others.length === 0
          ? "This model has no chat template, so it can't chat; use /v1/completions"
          : `This model has no default chat template; it has ${others.join(", ")}`,
      );
    }
    try {
      const template = new Template(source);
      this.#parsed.set(name, template);
      return template;
    } catch (error) {
      throw new TemplateError(`The model's chat template cannot be read: ${reasonOf(error)}`);
    }
  }

  #run(template: Template, variables: Record<string, unknown>): string {
    let text: string;
    try {
      text = template.render(variables);
    } catch (error) {
      throw new TemplateError(`The model's chat template refuses this conversation: ${reasonOf(error)}`);
    }
    if (text.length > RENDERED_CHARS_MAX) {
      throw new TemplateError(
        `The model's chat template wrote ${text.length} characters; at most ${RENDERED_CHARS_MAX}`,
      );
    }
    return text;
  }
}

/** The text up to where the last message ends. */
function leftOpen(text: string, last: TemplateMessage): string {
  const tag = CONTINUE_TAG.trimEnd();
  const at = text.lastIndexOf(tag);
  if (at < 0) {
    throw new TemplateError(`The model's chat template does not show the ${last.role} message that is to be continued`);
  }
  return text.startsWith(CONTINUE_TAG, at) ? text.slice(0, at) : text.slice(0, at).trimEnd();
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
