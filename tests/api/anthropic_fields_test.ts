/**
 * Every field of the `@anthropic-ai/sdk` package's request types is in exactly one of the three lists: works, refused,
 * listed; and what we answer has its types, field by field, both ways. Checked by the compiler and by its declarations.
 *
 * @module
 */
import assert from "node:assert/strict";
import type Anthropic from "@anthropic-ai/sdk";
import type { FieldTable } from "../../src/api/fields.ts";
import type {
  MessageAnswer,
  MessageDeltaEvent,
  MessageEvent,
  MessageUsage,
  StopReason,
} from "../../src/api/messages/answer.ts";
import {
  DOCUMENT_FIELDS,
  IMAGE_FIELDS,
  SEARCH_RESULT_FIELDS,
  TEXT_FIELDS,
  TOOL_CHANGE_FIELDS,
  TOOL_REFERENCE_FIELDS,
} from "../../src/api/messages/blocks.ts";
import type {
  BlockDelta,
  MessageTextBlock,
  MessageThinkingBlock,
  MessageToolUseBlock,
} from "../../src/api/messages/content.ts";
import { MESSAGES_FIELDS, type MessagesBody } from "../../src/api/messages/request.ts";
import {
  OUTPUT_CONFIG_FIELDS,
  OUTPUT_FORMAT_FIELDS,
  type OutputConfigBody,
  type OutputFormatBody,
  THINKING_CONFIG_FIELDS,
  type ThinkingConfigBody,
} from "../../src/api/messages/thinking.ts";
import { TOOL_CHOICE_FIELDS, TOOL_FIELDS, type ToolBody, type ToolChoiceBody } from "../../src/api/messages/tools.ts";
import {
  MESSAGE_FIELDS,
  REDACTED_FIELDS,
  THINKING_FIELDS,
  TOOL_RESULT_FIELDS,
  TOOL_USE_FIELDS,
} from "../../src/api/messages/turns.ts";

const TYPES = "resources/messages/messages.d.ts";
const BETA_TYPES = "resources/beta/messages/messages.d.ts";

/** Names of the fields of an interface, as a declaration file writes them: one a line, indented by four blanks. */
function toFields(declarations: string, name: string): string[] {
  const start = declarations.search(new RegExp(`^(export )?interface ${name}\\b`, "m"));
  assert.notEqual(start, -1, `the package has no interface ${name}`);
  const body = declarations.slice(start, declarations.indexOf("\n}", start));
  return [...body.matchAll(/^ {4}(\w+)\??:/gm)].map((match) => match[1] ?? "");
}

/** Tables, and the interfaces whose fields they sort: the released ones, and those of the beta API. */
const SORTED: [table: FieldTable, names: string[]][] = [
  [MESSAGES_FIELDS, ["MessageCreateParamsBase", "MessageCountTokensParams"]],
  [MESSAGE_FIELDS, ["UserMessageParam", "AssistantMessageParam", "SystemMessageParam"]],
  [TEXT_FIELDS, ["TextBlockParam"]],
  [IMAGE_FIELDS, ["ImageBlockParam"]],
  [SEARCH_RESULT_FIELDS, ["SearchResultBlockParam"]],
  [TOOL_REFERENCE_FIELDS, ["ToolReferenceBlockParam"]],
  [THINKING_FIELDS, ["ThinkingBlockParam"]],
  [REDACTED_FIELDS, ["RedactedThinkingBlockParam"]],
  [TOOL_USE_FIELDS, ["ToolUseBlockParam"]],
  [TOOL_RESULT_FIELDS, ["ToolResultBlockParam"]],
  [TOOL_FIELDS, ["Tool"]],
  [TOOL_CHOICE_FIELDS, ["ToolChoiceAuto", "ToolChoiceAny", "ToolChoiceTool", "ToolChoiceNone"]],
  [THINKING_CONFIG_FIELDS, [
    "ThinkingConfigEnabled",
    "ThinkingConfigDisabled",
    "ThinkingConfigAdaptive",
    "ThinkingConfigBetweenTools",
  ]],
  [OUTPUT_CONFIG_FIELDS, ["OutputConfig"]],
  [OUTPUT_FORMAT_FIELDS, ["JSONOutputFormat"]],
];

Deno.test("every field of a Messages request works, is refused or is listed", async () => {
  const [released, beta] = await Promise.all([TYPES, BETA_TYPES].map((path) => (
    Deno.readTextFile(new URL(path, import.meta.resolve("@anthropic-ai/sdk")))
  )));
  assert.ok(released && beta);
  for (const [table, names] of SORTED) {
    const found: string[] = names.flatMap((name): string[] => {
      const ofBeta = name === "MessageCreateParamsBase" || name === "MessageCountTokensParams" ? name : `Beta${name}`;
      return [...toFields(released, name), ...toFields(beta, ofBeta)];
    });
    assert.ok(
      found.length >= 2 * names.length,
      `${names[0]} has only ${found.length} fields: is it written otherwise?`,
    );
    const unsorted = [...new Set(found)].filter((field) => !Object.hasOwn(table, field));
    assert.deepEqual(unsorted, [], `decide what becomes of these fields of ${names.join(", ")}`);
  }
  const documents = [...toFields(released, "DocumentBlockParam"), ...toFields(beta, "BetaRequestDocumentBlock")];
  assert.deepEqual(documents.filter((field) => !Object.hasOwn(DOCUMENT_FIELDS, field)), []);
  const changes = [...toFields(beta, "BetaRequestToolAdditionBlock"), ...toFields(beta, "BetaRequestToolRemovalBlock")];
  assert.deepEqual(changes.filter((field) => !Object.hasOwn(TOOL_CHANGE_FIELDS, field)), []);
});

/** Fields of theirs that ours lacks, and of ours that theirs lacks; `rapid_mlx` is this server's own. */
type Difference<Ours, Theirs> = Exclude<keyof Theirs, keyof Ours> | Exclude<keyof Ours, keyof Theirs | "rapid_mlx">;
/** An error of the compiler for any type but none. */
type None<T extends never> = T;

/** A request without its nulls, which are dropped before it is read. */
type NotNull<T> = { [K in keyof T]: Exclude<T[K], null> };

/** Compared one by one: zod's loose objects have an index, which interfaces lack. */
type Nested = "thinking" | "output_config";

/** Compiles while there is no difference. */
export type Same = [
  None<Difference<MessageAnswer, Anthropic.Message>>,
  None<Difference<MessageUsage, Anthropic.Usage>>,
  None<Difference<MessageDeltaEvent, Anthropic.RawMessageDeltaEvent>>,
  None<Difference<MessageDeltaEvent["usage"], Anthropic.MessageDeltaUsage>>,
  None<Difference<MessageDeltaEvent["delta"], Anthropic.RawMessageDeltaEvent["delta"]>>,
  None<Difference<MessageTextBlock, Anthropic.TextBlock>>,
  None<Difference<MessageThinkingBlock, Anthropic.ThinkingBlock>>,
  None<Exclude<Difference<MessageToolUseBlock, Anthropic.ToolUseBlock>, "toolset_name">>,
];

Deno.test("a request of the package's type is one of ours, our answers have its types, and every field of them", () => {
  const request = (value: NotNull<Omit<Anthropic.MessageCreateParams, Nested>>): Omit<MessagesBody, Nested> => value;
  const thinking = (value: NotNull<Anthropic.ThinkingConfigParam>): ThinkingConfigBody => value;
  const output = (value: NotNull<Omit<Anthropic.OutputConfig, "format">>): Omit<OutputConfigBody, "format"> => value;
  const format = (value: NotNull<Anthropic.JSONOutputFormat>): OutputFormatBody => value;
  const tool = (value: NotNull<Omit<Anthropic.Tool, "input_schema">>): ToolBody => value;
  const choice = (value: NotNull<Anthropic.ToolChoice>): ToolChoiceBody => value;
  const bodies = [request, thinking, output, format, tool, choice];
  const message = (value: MessageAnswer): Anthropic.Message => value;
  const event = (value: Exclude<MessageEvent, { type: "ping" }>): Anthropic.RawMessageStreamEvent => value;
  const delta = (value: BlockDelta): Anthropic.RawContentBlockDelta => value;
  const stop = (value: Exclude<Anthropic.StopReason, "pause_turn" | "refusal">): StopReason => value;
  const text = (value: Omit<Anthropic.TextBlock, "citations">): Omit<MessageTextBlock, "citations"> => value;
  const thought = (value: Anthropic.ThinkingBlock): MessageThinkingBlock => value;
  const call = (value: Omit<Anthropic.ToolUseBlock, "caller">): Omit<MessageToolUseBlock, "caller"> => value;
  for (const assigns of [...bodies, message, event, delta, stop, text, thought, call]) {
    assert.equal(typeof assigns, "function");
  }
});
