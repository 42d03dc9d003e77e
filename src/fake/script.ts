/**
 * The file of `serve --fake`: what a scripted model says to each request.
 *
 * Objects are strict: a misspelt key is an error with its path, never a setting that does nothing.
 *
 * @module
 */
import { z } from "zod";

/** A script that can't be used; the message names the file, the path in it and what is wanted. */
export class ScriptError extends Error {
  /** @param message Names file and path. */
  constructor(message: string) {
    super(message);
    this.name = "ScriptError";
  }
}

const REPLIES_MAX = 10_000;
const TEXT_CHARS_MAX = 4_000_000;
const MS_MAX = 3_600_000;
const TOKENS_MAX = 1_000_000;

const text = z.string().max(TEXT_CHARS_MAX, `expected at most ${TEXT_CHARS_MAX} characters`)
  .refine((value) => value.isWellFormed(), "expected text without lone surrogates");
const ms = z.number().min(0).max(MS_MAX, `expected at most ${MS_MAX} ms`);
const tokens = z.int().min(0).max(TOKENS_MAX);

const Reply = z.strictObject({
  when: z.string().optional().describe("Part of the last message; absent or empty: plays to any"),
  text: text.optional().describe("What the model says, cut by the tokenizer; special tokens spelled out"),
  chunks: z.array(text).max(TOKENS_MAX).optional().describe("The same, token by token"),
  prompt_open: text.optional().describe("What the template has opened after the prompt already"),
  delay_ms: ms.default(0).describe("Before the first token"),
  ms_per_token: ms.default(0),
  finish: z.enum(["stop", "length", "error"]).default("stop").describe("What happens after the last token"),
  status: z.int().min(400).max(599).optional().describe("The request is refused with this status"),
  retry_after: z.int().min(0).max(86_400).optional().describe("Seconds, beside a status"),
  cut_after_tokens: tokens.optional().describe("The connection is lost after as many tokens"),
  error_after_tokens: tokens.optional().describe("The answer fails after as many tokens"),
}).superRefine((reply, context) => {
  const issue = (path: string, message: string): void => context.addIssue({ code: "custom", path: [path], message });
  if (reply.text !== undefined && reply.chunks !== undefined) issue("chunks", "expected `text` or `chunks`, not both");
  if (reply.text === undefined && reply.chunks === undefined && reply.status === undefined) {
    issue("text", "expected `text`, `chunks` or `status`");
  }
  if (reply.retry_after !== undefined && reply.status === undefined) issue("retry_after", "expected beside `status`");
  if (reply.cut_after_tokens !== undefined && reply.error_after_tokens !== undefined) {
    issue("error_after_tokens", "expected `cut_after_tokens` or `error_after_tokens`, not both");
  }
});

/** One reply of a script. */
export type ScriptReply = z.output<typeof Reply>;

const Script = z.strictObject({
  $schema: z.string().optional(),
  model: z.string().min(1).max(512).describe("Served id"),
  tools: z.string().optional().describe("Name of the parser of tool calls"),
  reasoning: z.string().optional().describe("Name of the parser of reasoning"),
  profile: z.string().optional().describe("Id of a line or a model, instead of the two"),
  replies: z.array(Reply).min(1, "expected at least one reply").max(REPLIES_MAX),
  context_tokens: z.int().min(1).max(2 ** 31 - 1).default(32_768),
  repeat: z.boolean().default(false).describe("Starts over when no reply is left"),
}).refine((script) => script.profile === undefined || (script.tools ?? script.reasoning) === undefined, {
  path: ["profile"],
  message: "expected `profile` or `tools` and `reasoning`, not both",
});

/** A whole script. */
export type ScriptFile = z.output<typeof Script>;

/**
 * Checks a script.
 *
 * @param name Of the file, for errors.
 * @throws {ScriptError} With the path of the first value at fault.
 */
export function parseScript(source: string, name: string): ScriptFile {
  let json: unknown;
  try {
    json = JSON.parse(source);
  } catch (error) {
    throw new ScriptError(`${name} is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = Script.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new ScriptError(`${name}: ${toPath(issue?.path ?? [])}: ${issue?.message ?? "unusable value"}`);
}

/** Reads a script. @throws {ScriptError} If it is not there or can't be used. */
export async function readScript(path: string): Promise<ScriptFile> {
  let source: string;
  try {
    source = await Deno.readTextFile(path);
  } catch (error) {
    throw new ScriptError(`Cannot read the script ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return parseScript(source, path);
}

function toPath(parts: readonly PropertyKey[]): string {
  if (parts.length === 0) return "the script";
  return parts.map((part, at) => typeof part === "number" ? `[${part}]` : at === 0 ? String(part) : `.${String(part)}`)
    .join("");
}
