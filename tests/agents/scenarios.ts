/**
 * What the scripted model does in each scenario, and how the program is to end.
 *
 * Replies are written for a program's own calls and played in order; the edit waits for the file's text, so that no
 * other request takes it.
 *
 * @module
 */
import { BEFORE, type Call, type Program } from "./programs.ts";

/** A reply as a script has it. */
export type Reply = Readonly<Record<string, unknown>>;

/** The loop's replies for a program: each an own object, to be varied. */
export interface Loop {
  /** Reads the file; a program without tools skips it. */
  readonly read?: Reply;
  /** Edits it. */
  readonly edit: Reply;
  /** Reads and edits in one turn. */
  readonly both?: Reply;
  /** Says so. A program without tools needs none. */
  readonly done?: Reply;
}

/** One scenario. */
export interface Scenario {
  /** On the command line. */
  readonly id: string;
  /** What it tries. */
  readonly says: string;
  /** The script; absent: the embedded model answers. */
  readonly replies?: (loop: Loop) => readonly Reply[];
  /** Prompt plus answer. */
  readonly contextTokens?: number;
  /** What the program is told instead. */
  readonly toldTokens?: number;
  /** It may give up by itself. */
  readonly mayAskNothing?: true;
  /** Whether the file is changed at the end. */
  readonly isEdited: boolean;
  /** Most requests of the program: more is a loop. */
  readonly requestsMax: number;
  /** Longest run, in seconds. */
  readonly seconds: number;
  /** What is asked, instead of an edit. */
  readonly prompt?: string;
  /** Programs whose first prompt fits; the others are to end by the server's 400, or by themselves. */
  readonly fits?: readonly string[];
  /** Fields that change nothing here, and why; beside those of every scenario. */
  readonly harmless?: Readonly<Record<string, string>>;
  /** `agents --setup` was run for another server before, or for this one instead of `launch`. */
  readonly setUp?: "elsewhere" | "alone";
  /** Programs that it is for; absent: all. */
  readonly only?: readonly string[];
  /** Programs that it is not for, and why. */
  readonly except?: Readonly<Record<string, string>>;
}

/** A window that holds every program's first prompt. */
export const CONTEXT_TOKENS = 131_072;
/** Silence before the first token. */
const SILENCE_SECONDS = 330;

const inOrder = ({ read, edit, done }: Loop): Reply[] => [read, edit, done].filter((reply) => reply !== undefined);

/** Every scenario. */
export const SCENARIOS: readonly Scenario[] = [
  {
    id: "plain",
    says: "reads a file, edits it, says so",
    replies: inOrder,
    isEdited: true,
    requestsMax: 8,
    seconds: 120,
  },
  {
    id: "thinking",
    says: "the same with thinking before each turn",
    replies: (loop) =>
      inOrder(loop).map((reply) => ({ ...reply, text: `<think>\nI should look at it.\n</think>\n\n${reply.text}` })),
    isEdited: true,
    requestsMax: 8,
    seconds: 120,
  },
  {
    id: "two-calls",
    says: "two calls in one turn",
    replies: ({ both, done }) => [both, done].filter((reply) => reply !== undefined),
    isEdited: true,
    requestsMax: 8,
    seconds: 120,
    except: { continue: "it refuses an edit in the turn of its first read", aider: "it has no calls" },
  },
  {
    id: "deferred",
    says: "a tool that was not declared is searched, brought by the result, called; then the edit",
    only: ["claude-code"],
    replies: ({ read, edit, done }) => [
      read ?? edit,
      { text: toText({ name: "ToolSearch", arguments: { query: "select:WebFetch", max_results: 3 } }) },
      { text: toText({ name: "WebFetch", arguments: { url: "http://127.0.0.1:9/", prompt: "What is there?" } }) },
      { text: edit.text },
      done ?? edit,
    ],
    isEdited: true,
    requestsMax: 8,
    seconds: 120,
  },
  {
    id: "set-up-elsewhere",
    says: "its own files point it at a server that is gone; what launch sets wins",
    replies: inOrder,
    setUp: "elsewhere",
    isEdited: true,
    requestsMax: 8,
    seconds: 120,
  },
  {
    id: "set-up",
    says: "its own files alone, as agents --setup writes them",
    replies: inOrder,
    setUp: "alone",
    isEdited: true,
    requestsMax: 8,
    seconds: 120,
    except: Object.fromEntries(
      ["opencode-messages", "opencode-responses"].map((id) => [id, "its files name the chat wire"]),
    ),
  },
  {
    id: "slow",
    says: `${SILENCE_SECONDS} s of silence before the first token`,
    replies: (loop) =>
      inOrder(loop).map((reply, at) => at === 0 ? { ...reply, delay_ms: SILENCE_SECONDS * 1000 } : reply),
    isEdited: true,
    requestsMax: 8,
    seconds: SILENCE_SECONDS + 120,
  },
  {
    id: "busy",
    says: "429 with retry-after before the first answer",
    replies: (loop) => [{ status: 429, retry_after: 2 }, ...inOrder(loop)],
    isEdited: true,
    requestsMax: 9,
    seconds: 120,
  },
  {
    id: "cut",
    says: "the connection is lost in the first answer, once",
    replies: (loop) => {
      const [first, ...rest] = inOrder(loop);
      return [{ ...first, cut_after_tokens: 4 }, { ...first }, ...rest];
    },
    isEdited: true,
    requestsMax: 10,
    seconds: 180,
  },
  {
    id: "too-long",
    says:
      "the first prompt can't fit, as the program was told: it ends by itself, before it asks or by the server's 400",
    replies: () => [{ text: "never" }],
    contextTokens: 1024,
    isEdited: false,
    requestsMax: 6,
    mayAskNothing: true,
    seconds: 120,
  },
  {
    id: "too-long-untold",
    says: "the same where the program was told another window",
    replies: () => [{ text: "never" }],
    contextTokens: 1024,
    toldTokens: CONTEXT_TOKENS,
    isEdited: false,
    requestsMax: 6,
    seconds: 120,
    except: Object.fromEntries(
      ["opencode", "opencode-messages", "opencode-responses"].map((id) => [id, "it compacts for ever"]),
    ),
  },
  {
    id: "model",
    says: "the embedded model with its 8,192 tokens, and no script",
    prompt: "say hello",
    fits: ["aider", "continue", "codex", "claude-code", "opencode"],
    harmless: {
      "thinking.type": "the model can't think",
      "thinking.display": "the model can't think",
      "output_config.effort": "the model can't think",
      "reasoning.effort": "the model can't think",
      "reasoning.summary": "the model can't think",
      "max_tokens": "cut to what the window leaves",
    },
    except: { "opencode-messages": "the prompt of opencode", "opencode-responses": "the prompt of opencode" },
    isEdited: false,
    requestsMax: 6,
    mayAskNothing: true,
    seconds: 300,
  },
];

/** The loop for a program whose file is at `path`. */
export function toLoop({ calls }: Program, path: string): Loop {
  if (calls === undefined) {
    const block = `hello.txt\n\`\`\`\n<<<<<<< SEARCH\n${BEFORE}=======\nThe sky is blue.\n>>>>>>> REPLACE\n\`\`\`\n`;
    return { edit: { text: block } };
  }
  const [read, edit] = [toText(calls.read(path)), toText(calls.edit(path))];
  return {
    read: { text: read },
    edit: { when: "sky is red", text: edit },
    both: { text: `${read}\n${edit}` },
    done: { text: "Done: red is blue now." },
  };
}

/** A call as the Hermes dialect writes it. */
function toText(call: Call): string {
  const args = typeof call.arguments === "string" ? { input: call.arguments } : call.arguments;
  return `<tool_call>\n${JSON.stringify({ name: call.name, arguments: args })}\n</tool_call>`;
}
