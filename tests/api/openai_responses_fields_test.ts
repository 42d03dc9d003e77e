/**
 * Every field of the `openai` package's Responses types is in exactly one of the three lists: works, refused, listed;
 * and what we answer has its types, field by field, both ways. Checked by the compiler and by the declarations.
 *
 * @module
 */
import assert from "node:assert/strict";
import type OpenAI from "openai";
import type { FieldTable } from "../../src/api/fields.ts";
import { GRAMMAR_FORMAT_FIELDS, TEXT_FORMAT_FIELDS as FREEFORM_TEXT_FIELDS } from "../../src/api/freeform.ts";
import { FILE_PART_FIELDS, IMAGE_PART_FIELDS, TEXT_PART_FIELDS } from "../../src/api/responses/content.ts";
import type { InputItemList } from "../../src/api/responses/input_items.ts";
import {
  ADDITIONAL_TOOLS_FIELDS,
  CUSTOM_CALL_FIELDS,
  FUNCTION_CALL_FIELDS,
  MESSAGE_FIELDS,
  OUTPUT_FIELDS,
  REASONING_FIELDS,
  SEARCH_CALL_FIELDS,
  SEARCH_OUTPUT_FIELDS,
} from "../../src/api/responses/items.ts";
import { RESPONSES_FIELDS, type ResponsesBody } from "../../src/api/responses/request.ts";
import type {
  CustomCallItem,
  FunctionCallItem,
  MessageItem,
  OutputItem,
  OutputTextPart,
  ReasoningItem,
  ResponseEvent,
  ResponseObject,
  ResponseUsage,
  SearchCallItem,
} from "../../src/api/responses/response.ts";
import { REASONING_CONFIG_FIELDS, TEXT_FIELDS, TEXT_FORMAT_FIELDS } from "../../src/api/responses/text.ts";
import {
  ALLOWED_CHOICE_FIELDS,
  CUSTOM_TOOL_FIELDS,
  FUNCTION_TOOL_FIELDS,
  NAMED_CHOICE_FIELDS,
  NAMESPACE_FIELDS,
  TOOL_SEARCH_FIELDS,
} from "../../src/api/responses/tools.ts";

/** Names of the fields of an interface, as a declaration file writes them: one a line, at one depth. */
function toFields(declarations: string, name: string): string[] {
  const found = new RegExp(`^( *)(?:export )?interface ${name}\\b[^{]*\\{\\n([^]*?)\\n\\1\\}`, "m").exec(declarations);
  assert.ok(found, `the package has no interface ${name}`);
  const [, indent = "", body = ""] = found;
  return [...body.matchAll(new RegExp(`^${indent} {4}(\\w+)\\??:`, "gm"))].map((match) => match[1] ?? "");
}

/** Tables, and the interfaces whose fields they sort. */
const SORTED: [table: FieldTable, names: string[]][] = [
  [RESPONSES_FIELDS, ["ResponseCreateParamsBase"]],
  [MESSAGE_FIELDS, ["EasyInputMessage", "Message", "ResponseOutputMessage"]],
  [FUNCTION_CALL_FIELDS, ["ResponseFunctionToolCall"]],
  [CUSTOM_CALL_FIELDS, ["ResponseCustomToolCall"]],
  [SEARCH_CALL_FIELDS, ["ToolSearchCall", "ResponseToolSearchCall"]],
  [OUTPUT_FIELDS, ["FunctionCallOutput", "ResponseCustomToolCallOutput"]],
  [SEARCH_OUTPUT_FIELDS, ["ResponseToolSearchOutputItemParam"]],
  [REASONING_FIELDS, ["ResponseReasoningItem"]],
  [ADDITIONAL_TOOLS_FIELDS, ["AdditionalTools"]],
  [TEXT_PART_FIELDS, ["ResponseInputText", "ResponseInputTextContent", "ResponseOutputText", "ResponseOutputRefusal"]],
  [IMAGE_PART_FIELDS, ["ResponseInputImage", "ResponseInputImageContent"]],
  [FILE_PART_FIELDS, ["ResponseInputFile", "ResponseInputFileContent"]],
  [FUNCTION_TOOL_FIELDS, ["FunctionTool"]],
  [CUSTOM_TOOL_FIELDS, ["CustomTool"]],
  [NAMESPACE_FIELDS, ["NamespaceTool"]],
  [TOOL_SEARCH_FIELDS, ["ToolSearchTool"]],
  [NAMED_CHOICE_FIELDS, ["ToolChoiceFunction", "ToolChoiceCustom"]],
  [ALLOWED_CHOICE_FIELDS, ["ToolChoiceAllowed"]],
  [TEXT_FIELDS, ["ResponseTextConfig"]],
  [TEXT_FORMAT_FIELDS, ["ResponseFormatTextJSONSchemaConfig"]],
];

async function read(path: string): Promise<string> {
  return await Deno.readTextFile(new URL(path, import.meta.resolve("openai")));
}

Deno.test("every field of a Responses request works, is refused or is listed", async () => {
  const responses = await read("resources/responses/responses.d.ts");
  const shared = await read("resources/shared.d.ts");
  const inputs = shared.slice(shared.indexOf("namespace CustomToolInputFormat"));
  const sorted: [FieldTable, string[], string][] = [
    ...SORTED.map(([table, names]): [FieldTable, string[], string] => [table, names, responses]),
    [REASONING_CONFIG_FIELDS, ["Reasoning"], shared],
    [FREEFORM_TEXT_FIELDS, ["Text"], inputs],
    [GRAMMAR_FORMAT_FIELDS, ["Grammar"], inputs],
  ];
  for (const [table, names, declarations] of sorted) {
    for (const name of names) {
      const found = toFields(declarations, name);
      assert.ok(found.length > 0, `${name} has no fields: is it written otherwise?`);
      const unsorted = found.filter((field) => !Object.hasOwn(table, field));
      assert.deepEqual(unsorted, [], `decide what becomes of these fields of ${name}`);
    }
  }
  const counted = toFields(await read("resources/responses/input-tokens.d.ts"), "InputTokenCountParams");
  assert.deepEqual(counted.filter((field) => !Object.hasOwn(RESPONSES_FIELDS, field)), []);
});

/** Fields of theirs that ours lacks, and of ours that theirs lacks; `rapid_mlx` is this server's own. */
type Difference<Ours, Theirs> = Exclude<keyof Theirs, keyof Ours> | Exclude<keyof Ours, keyof Theirs | "rapid_mlx">;
/** An error of the compiler for any type but none. */
type None<T extends never> = T;
/** A request without its nulls, which are dropped before it is read. */
type NotNull<T> = { [K in keyof T]: Exclude<T[K], null> };

/** What a hosted service alone has to say. */
type Hosted =
  | "access_programs"
  | "output_text" // made by the package
  | "conversation"
  | "image"
  | "input_transformations"
  | "max_tool_calls"
  | "moderation"
  | "prompt"
  | "prompt_cache_diagnostics"
  | "prompt_cache_key"
  | "prompt_cache_options"
  | "prompt_cache_retention"
  | "safety_identifier"
  | "service_tier"
  | "tool_usage"
  | "user";

/** Compiles while there is no difference. */
export type Same = [
  None<Exclude<Difference<ResponseObject, OpenAI.Responses.Response>, Hosted | "store">>,
  None<Difference<ResponseUsage, OpenAI.Responses.ResponseUsage>>,
  None<Exclude<Difference<MessageItem, OpenAI.Responses.ResponseOutputMessage>, "phase">>,
  None<Difference<OutputTextPart, OpenAI.Responses.ResponseOutputText>>,
  None<Difference<ReasoningItem, OpenAI.Responses.ResponseReasoningItem>>,
  None<Exclude<Difference<FunctionCallItem, OpenAI.Responses.ResponseFunctionToolCall>, "async" | "caller">>,
  None<
    Exclude<Difference<CustomCallItem, OpenAI.Responses.ResponseCustomToolCallItem>, "async" | "caller" | "created_by">
  >,
  None<Exclude<Difference<SearchCallItem, OpenAI.Responses.ResponseToolSearchCall>, "created_by">>,
];

/** Read as they are: compared with the package's by the tests of the parser. */
type Loose = "input" | "tools" | "tool_choice" | "include" | "reasoning" | "text" | "stream_options" | "metadata";

Deno.test("a request of the package's type is one of ours, our answers have its types, and every field of them", () => {
  type Body = NotNull<Omit<OpenAI.Responses.ResponseCreateParams, Loose>>;
  const request = (value: Body): Omit<ResponsesBody, Loose> => value;
  const include = (value: OpenAI.Responses.ResponseIncludable[]): ResponsesBody["include"] => value;
  const metadata = (value: OpenAI.Metadata): ResponsesBody["metadata"] => value;
  // What the client wrote is repeated as it is.
  type Repeated = "text" | "tool_choice" | "tools" | "reasoning" | Hosted;
  type Their<T> = Omit<T, Repeated | "usage">;
  const response = (value: ResponseObject): Their<OpenAI.Responses.Response> => value;
  const usage = (value: ResponseUsage): OpenAI.Responses.ResponseUsage => value;
  const item = (value: OutputItem): OpenAI.Responses.ResponseOutputItem => value;
  type Lifecycle = { response: ResponseObject };
  const event = (value: Exclude<ResponseEvent, Lifecycle>): OpenAI.Responses.ResponseStreamEvent => value;
  const lifecycle = (value: Extract<ResponseEvent, Lifecycle>["type"]): OpenAI.Responses.ResponseStreamEvent["type"] =>
    value;
  const message = (
    value: Omit<OpenAI.Responses.ResponseOutputMessage, "content" | "phase">,
  ): Omit<MessageItem, "content"> => value;
  const call = (value: Required<OpenAI.Responses.ResponseFunctionToolCall>): FunctionCallItem => value;
  const page = (value: InputItemList): Omit<OpenAI.Responses.ResponseItemList, "data" | "first_id" | "last_id"> =>
    value;
  for (const assigns of [request, include, metadata, response, usage, item, event, lifecycle, message, call, page]) {
    assert.equal(typeof assigns, "function");
  }
});
