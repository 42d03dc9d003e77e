/**
 * Every field of the `openai` package's request types is in exactly one of the three lists: works, refused, listed.
 *
 * The types are read from the package's declarations at test time, so an update of the package that brings a new field
 * fails here until somebody decides what becomes of it. Our answers are compared with its types by the compiler.
 *
 * @module
 */
import assert from "node:assert/strict";
import type OpenAI from "openai";
import type { WireFinishReason } from "../../src/api/answer.ts";
import type { ChatChoice, ChatChunk, ChatCompletion, ChatDelta, ChatToolCall } from "../../src/api/chat_answer.ts";
import { CHAT_FIELDS, type ChatBody } from "../../src/api/chat_completions.ts";
import { COMPLETION_FIELDS, type CompletionBody } from "../../src/api/completions.ts";
import type { Completion, CompletionChoice } from "../../src/api/completions_answer.ts";
import type { FieldTable } from "../../src/api/fields.ts";
import { FUNCTION_FIELDS, MESSAGE_FIELDS, PART_FIELDS, TOOL_CALL_FIELDS } from "../../src/api/messages.ts";
import type { ModelEntry } from "../../src/api/models.ts";
import { STREAM_OPTIONS_FIELDS } from "../../src/api/sampling.ts";
import { TOOL_FIELDS, TOOL_FUNCTION_FIELDS } from "../../src/api/tools.ts";
import type { Usage } from "../../src/api/usage.ts";

const CHAT_TYPES = "resources/chat/completions/completions.d.ts";
const COMPLETION_TYPES = "resources/completions.d.ts";

/** Names of the fields of an interface, as a declaration file writes them: one a line, indented by four blanks. */
function toFields(declarations: string, name: string): string[] {
  const start = declarations.search(new RegExp(`^(export )?interface ${name}\\b`, "m"));
  assert.notEqual(start, -1, `the package has no interface ${name}`);
  const body = declarations.slice(start, declarations.indexOf("\n}", start));
  return [...body.matchAll(/^ {4}(\w+)\??:/gm)].map((match) => match[1] ?? "");
}

async function readDeclarations(path: string): Promise<string> {
  return await Deno.readTextFile(new URL(path, import.meta.resolve("openai")));
}

async function assertSorted(table: FieldTable, path: string, interfaces: string[], atLeast: number): Promise<void> {
  const declarations = await readDeclarations(path);
  const fields = new Set(interfaces.flatMap((name) => toFields(declarations, name)));
  assert.ok(fields.size >= atLeast, `only ${fields.size} fields were found: is the file written otherwise now?`);
  const unsorted = [...fields].filter((field) => !Object.hasOwn(table, field));
  assert.deepEqual(unsorted, [], `decide what becomes of these fields of ${interfaces.join(", ")}`);
}

Deno.test("every field of a chat completion request works, is refused or is listed", async () => {
  await assertSorted(CHAT_FIELDS, CHAT_TYPES, ["ChatCompletionCreateParamsBase"], 36);
  assert.deepEqual(
    new Set(Object.values(CHAT_FIELDS).map(({ rule }) => rule)),
    new Set(["works", "refused", "listed"]),
  );
});

Deno.test("every field of a completion request works, is refused or is listed", async () => {
  await assertSorted(COMPLETION_FIELDS, COMPLETION_TYPES, ["CompletionCreateParamsBase"], 17);
});

Deno.test("every field of messages, parts, calls and stream options works, is refused or is listed", async () => {
  const roles = ["System", "Developer", "User", "Assistant", "Tool", "Function"].map((role) =>
    `ChatCompletion${role}MessageParam`
  );
  await assertSorted(MESSAGE_FIELDS, CHAT_TYPES, roles, 8);
  await assertSorted(PART_FIELDS, CHAT_TYPES, ["ChatCompletionContentPartText", "ChatCompletionContentPartRefusal"], 3);
  await assertSorted(TOOL_CALL_FIELDS, CHAT_TYPES, ["ChatCompletionMessageFunctionToolCall"], 3);
  await assertSorted(STREAM_OPTIONS_FIELDS, CHAT_TYPES, ["ChatCompletionStreamOptions"], 2);
  assert.deepEqual(Object.keys(FUNCTION_FIELDS), ["name", "arguments"]);
  await assertSorted(TOOL_FIELDS, CHAT_TYPES, ["ChatCompletionFunctionTool"], 2);
  await assertSorted(TOOL_FUNCTION_FIELDS, "resources/shared.d.ts", ["FunctionDefinition"], 4);
});

/** Fields of theirs that ours lacks, and of ours that theirs lacks; `rapid_mlx` is this server's own. */
type Difference<Ours, Theirs> = Exclude<keyof Theirs, keyof Ours> | Exclude<keyof Ours, keyof Theirs | "rapid_mlx">;
/** An error of the compiler for any type but none. */
type None<T extends never> = T;
/** A request without its nulls, which are dropped before it is read. */
type NotNull<T> = { [K in keyof T]: Exclude<T[K], null> };

/** What a hosted service alone has to say. */
type Hosted = "metadata" | "moderation" | "obfuscation" | "service_tier" | "shutdown_date" | "system_fingerprint";

type TheirDelta = OpenAI.ChatCompletionChunk.Choice.Delta;
type TheirCallDelta = OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall;
type OurChunkChoice = ChatChunk["choices"][number];
type OurCallDelta = NonNullable<ChatDelta["tool_calls"]>[number];

/** Compiles while there is no difference. */
export type Same = [
  None<Exclude<Difference<ChatCompletion, OpenAI.ChatCompletion>, Hosted>>,
  None<Difference<ChatChoice, OpenAI.ChatCompletion.Choice>>,
  None<
    Exclude<
      Difference<ChatChoice["message"], OpenAI.ChatCompletionMessage>,
      "annotations" | "audio" | "reasoning_content"
    >
  >,
  None<Difference<ChatToolCall, OpenAI.ChatCompletionMessageFunctionToolCall>>,
  None<Exclude<Difference<ChatChunk, OpenAI.ChatCompletionChunk>, Hosted>>,
  None<Exclude<Difference<OurChunkChoice, OpenAI.ChatCompletionChunk.Choice>, "logprobs">>,
  None<Exclude<Difference<ChatDelta, TheirDelta>, "audio" | "refusal" | "reasoning_content">>,
  None<Exclude<Difference<OurCallDelta, TheirCallDelta>, "custom">>,
  None<Difference<Usage, OpenAI.CompletionUsage>>,
  None<Exclude<Difference<Completion, OpenAI.Completion>, Hosted>>,
  None<Difference<CompletionChoice, OpenAI.CompletionChoice>>,
  None<Exclude<keyof OpenAI.Model, keyof ModelEntry | Hosted>>,
];

/** Read as they are: compared with the package's by the tests of their parsers. */
type Loose =
  | "messages"
  | "tools"
  | "functions"
  | "tool_choice"
  | "function_call"
  | "response_format"
  | "stream_options";

Deno.test("a request of the package's type is one of ours, our answers have its types, and every field of them", () => {
  type Body = NotNull<Omit<OpenAI.ChatCompletionCreateParams, Loose>>;
  const request = (value: Body): Omit<ChatBody, Loose> => value;
  const prompt = (value: NotNull<Omit<OpenAI.CompletionCreateParams, "stream_options">>): Omit<
    CompletionBody,
    "stream_options"
  > => value;
  const chat = (value: ChatCompletion): OpenAI.ChatCompletion => value;
  const chunk = (value: ChatChunk): OpenAI.ChatCompletionChunk => value;
  const model = (value: ModelEntry): OpenAI.Model => value;
  const completion = (value: Omit<Completion, "choices">): Omit<OpenAI.Completion, "choices" | "usage"> => value;
  // Nulls that the service sends as well, and its types leave out: a choice that has not ended, no alternatives.
  type Nulls = "finish_reason" | "logprobs";
  const choice = (value: Omit<CompletionChoice, Nulls>): Omit<OpenAI.CompletionChoice, Nulls> => value;
  const logprobs = (
    value: NotNull<NonNullable<CompletionChoice["logprobs"]>>,
  ): NonNullable<OpenAI.CompletionChoice["logprobs"]> => value;
  const call = (value: OpenAI.ChatCompletionMessageFunctionToolCall): ChatToolCall => value;
  const ends = (value: Exclude<OpenAI.ChatCompletion.Choice["finish_reason"], "content_filter">): WireFinishReason =>
    value;
  for (const assigns of [request, prompt, chat, chunk, model, completion, choice, logprobs, call, ends]) {
    assert.equal(typeof assigns, "function");
  }
});
