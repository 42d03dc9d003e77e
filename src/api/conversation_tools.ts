/**
 * Tools of a conversation whose turns may bring some: what its head shows, and what may be called after its last turn.
 *
 * A tool that comes later is rendered where it came, so that the head, and with it the cached prefix, stays.
 *
 * @module
 */
import type { TextPart, Tool } from "../flow.ts";
import { toJsonText } from "./body.ts";
import { RequestError } from "./errors.ts";
import { offerTools, type ToolChoice, TOOLS_MAX } from "./tools.ts";

/** The tools of a conversation: what its head shows, and what may be called after its last turn. */
export class ConversationTools {
  /** Shown in the head of the prompt, in the client's order. */
  readonly head: readonly Tool[];
  readonly #deferred: ReadonlyMap<string, Tool>;
  readonly #callable: Map<string, Tool>;

  /** @param head Shown at once. @param deferred Shown where a turn brings them. */
  constructor(head: readonly Tool[], deferred: readonly Tool[]) {
    this.head = head;
    this.#deferred = toMap(deferred);
    this.#callable = toMap(head);
  }

  /** What may be called now, in the order in which it came. */
  get callable(): Tool[] {
    return [...this.#callable.values()];
  }

  /** A declared tool; undefined: there is none. */
  find(name: string): Tool | undefined {
    return this.#callable.get(name) ?? this.#deferred.get(name) ?? this.head.find((tool) => tool.name === name);
  }

  /** A turn brings a tool: from here on it may be called. @returns Whether it has to be shown there. */
  bring(tool: Tool): boolean {
    this.#callable.set(tool.name, tool);
    return !this.head.includes(tool);
  }

  /** A turn withdraws a tool. @returns Whether it was there. */
  withdraw(name: string): boolean {
    return this.#callable.delete(name);
  }
}

function toMap(tools: readonly Tool[]): Map<string, Tool> {
  return new Map(tools.map((tool) => [tool.name, tool]));
}

/** What a turn shows of a tool that it brings. */
export function toDefinition({ name, description, parameters }: Tool): TextPart {
  const definition = toJsonText({ type: "function", function: { name, description, parameters } });
  return { type: "text", text: `<tools>\n${definition}\n</tools>` };
}

/**
 * The tools that are shown in the head, and those that may be called.
 *
 * @param tools After the last turn was read.
 * @param param Field whose turns brought tools.
 * @throws {RequestError} If the choice can't be honoured.
 */
export function offerConversationTools(
  tools: ConversationTools,
  choice: ToolChoice,
  param: string,
): { head: Tool[]; offered: Tool[] } {
  // A tool that is named is shown, deferred or not.
  const named = choice.mode === "named" ? tools.find(choice.name) : undefined;
  const callable = tools.callable;
  if (callable.length > TOOLS_MAX) {
    const message = `Invalid request body: \`${param}\`: expected at most ${TOOLS_MAX} tools, with those of \`tools\`.`;
    throw new RequestError("invalid_request", message, { param });
  }
  const offered = offerTools(
    named && !callable.includes(named) ? [...callable, named] : callable,
    choice,
    "tool_choice",
  );
  return { head: named ? [named] : choice.mode === "none" ? [] : [...tools.head], offered };
}
