// deno-lint-ignore-file camelcase -- the wire's own names
import assert from "node:assert/strict";
import { type JsonObject, parseBody } from "../body.ts";
import { RequestError } from "../errors.ts";
import { IMAGE_NOT_SHOWN } from "../images.ts";
import { Seal } from "../seal.ts";
import { type KnownItems, parseResponsesRequest, type ResponsesRequest } from "./request.ts";

const SEAL = new Seal();
const USER = { role: "user", content: "Hi" };
const NOTHING: KnownItems = {
  conversationOf: () => [],
  itemOf: () => {
    throw new Error("nothing is known");
  },
};

function parse(fields: Record<string, unknown>, known = NOTHING): ResponsesRequest {
  const body = parseBody(new TextEncoder().encode(JSON.stringify({ input: "Hi", ...fields })));
  return parseResponsesRequest(body, SEAL, known);
}

/** Turns, short: role, text, and what else a turn has. */
function turnsOf(fields: Record<string, unknown>, known = NOTHING): unknown[] {
  return parse(fields, known).conversation.messages.map(({ role, content, reasoning, toolCalls, toolCallId }) => [
    role,
    content.map(({ text }) => text).join("|"),
    ...(reasoning === undefined ? [] : [`thinks ${reasoning}`]),
    ...(toolCalls ?? []).map((call) => `${call.id} ${call.name} ${call.arguments}`),
    ...(toolCallId === undefined ? [] : [toolCallId]),
  ]);
}

function refuses(fields: Record<string, unknown>, code: string, param: string | undefined): void {
  assert.throws(() => parse(fields), (error: unknown) => {
    assert.ok(error instanceof RequestError, String(error));
    assert.deepEqual([error.code, error.options.param], [code, param], error.message);
    return true;
  });
}

const names = (tools: readonly { name: string }[]): string[] => tools.map(({ name }) => name);
const call = (call_id: string, name: string, more: object = {}): object => (
  { type: "function_call", id: "fc_foreign", call_id, name, arguments: "{}", status: "completed", ...more }
);
const output = (call_id: string, value: unknown): object => (
  { type: "function_call_output", id: "fco_foreign", call_id, output: value }
);

Deno.test("input is a text or items, and every shape of a message is read", () => {
  assert.deepEqual(turnsOf({ input: "" }), [["user", ""]]);
  assert.deepEqual(turnsOf({ instructions: "Be terse." }), [["system", "Be terse."], ["user", "Hi"]]);
  assert.deepEqual(turnsOf({ instructions: "", input: [USER] }), [["user", "Hi"]]);
  const input = [
    {
      type: "message",
      role: "developer",
      content: [{ type: "input_text", text: "a" }, { type: "input_text", text: "b" }],
    },
    { type: "message", role: "system", content: "c", id: "msg_x" },
    { role: "developer", content: "" },
    USER,
    {
      type: "message",
      id: "msg_1",
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", text: "So", annotations: [], logprobs: [] }, { type: "refusal", refusal: "." }],
    },
    { role: "user", content: null },
  ];
  assert.deepEqual(turnsOf({ input }), [
    ["system", "a|b"],
    ["system", "c"],
    ["user", "Hi"],
    ["assistant", "So."],
    ["user", ""],
  ]);
  assert.deepEqual(parse({ input }).ignored.names(), []);
  refuses({ input: [] }, "invalid_request", "input");
  refuses({ input: undefined }, "invalid_request", "input");
  refuses({ input: 1 }, "invalid_request", "input");
  refuses({ input: [{ role: "tool", content: "x" }] }, "invalid_request", "input[0].role");
  refuses({ input: [{ type: "input_text", text: "x" }] }, "invalid_request", "input[0].type");
  refuses({ input: Array(10_001).fill(USER) }, "invalid_request", "input");
});

Deno.test("what the model made between two items of others is one turn", () => {
  const input = [
    USER,
    { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] },
    call("1", "a", { arguments: '{ "x": 1 }' }),
    { type: "custom_tool_call", call_id: "2", name: "b", input: 'say "hi"\n' },
    output("1", "one"),
    { type: "custom_tool_call_output", call_id: "2", output: [{ type: "input_text", text: "two" }] },
    call("3", "a", { arguments: "" }),
  ];
  assert.deepEqual(turnsOf({ input }), [
    ["user", "Hi"],
    ["assistant", "I look.", "thinks Hm.", '1 a { "x": 1 }', `2 b ${JSON.stringify({ input: 'say "hi"\n' })}`],
    ["tool", "one", "1"],
    ["tool", "two", "2"],
    ["assistant", "", "3 a {}"],
  ]);
  const many = Array.from({ length: 129 }, (_, at) => call(`${at}`, "a"));
  refuses({ input: [USER, ...many] }, "invalid_request", "input[129]");
  refuses({ input: [USER, { type: "function_call", name: "a" }] }, "invalid_request", "input[1].call_id");
});

Deno.test("a field of another type of item, or of another choice, is listed and not passed over", () => {
  const input = [
    USER,
    { ...call("1", "a"), input: "x" },
    { type: "custom_tool_call", call_id: "2", name: "b", input: "x", arguments: "{}" },
    { ...output("1", "one"), tools: [] },
  ];
  const tool_choice = { type: "function", name: "a", mode: "auto" };
  const { ignored } = parse({ input, tools: [{ type: "function", name: "a" }], tool_choice });
  assert.deepEqual(ignored.names(), ["input[].input", "input[].arguments", "input[].tools", "tool_choice.mode"]);
});

Deno.test("thinking comes back as it can be read or sealed, ours or foreign; altered it is refused", () => {
  const thinks = (
    fields: object,
  ): unknown => (turnsOf({
    input: [USER, { type: "reasoning", id: "rs", ...fields }, { role: "assistant", content: "A" }, USER],
  })[1]);
  const told = ["assistant", "A", "thinks Hm."];
  const summary = [{ type: "summary_text", text: "Hm." }];
  const content = [{ type: "reasoning_text", text: "Hm." }];
  assert.deepEqual(thinks({ summary }), told);
  assert.deepEqual(thinks({ summary: [], content }), told);
  assert.deepEqual(thinks({ summary: [{ type: "summary_text", text: "Short." }], content }), told);
  assert.deepEqual(thinks({ summary: [], content: null, encrypted_content: SEAL.seal("Hm.") }), told);
  assert.deepEqual(thinks({ summary, encrypted_content: "gAAAAAB" }), told);
  assert.deepEqual(thinks({ summary: [], encrypted_content: new Seal().seal("Hm.") }), ["assistant", "A"]);
  const foreign = parse({ input: [USER, { type: "reasoning", summary, encrypted_content: "gAAAAAB" }] });
  assert.deepEqual(foreign.ignored.names(), ["input[].encrypted_content"]);
  const sealed = SEAL.seal("Hm.");
  const altered = `${sealed.slice(0, -6)}${sealed.at(-6) === "A" ? "B" : "A"}${sealed.slice(-5)}`;
  refuses(
    { input: [USER, { type: "reasoning", summary: [], encrypted_content: altered }] },
    "invalid_request",
    "input[1].encrypted_content",
  );
});

Deno.test("images and files leave a text where nobody asks about them, and are refused by their path where one does", () => {
  const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=", detail: "high" };
  const file = { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" };
  const text = { type: "input_text", text: "seen" };
  const inResult = parse({ input: [USER, call("1", "a"), output("1", [text, image, file])] });
  assert.deepEqual(inResult.conversation.messages.at(-1)?.content.map((part) => part.text), [
    "seen",
    IMAGE_NOT_SHOWN,
    "[input_file not shown: this model reads text]",
  ]);
  assert.deepEqual(inResult.ignored.names(), ["input[].output[].input_image", "input[].output[].input_file"]);
  const behind = { role: "user", content: [image] };
  assert.deepEqual(turnsOf({ input: [USER, call("1", "a"), output("1", "x"), behind] }).at(-1), [
    "user",
    IMAGE_NOT_SHOWN,
  ]);
  assert.deepEqual(turnsOf({ input: [{ role: "user", content: [image] }, USER] })[0], ["user", IMAGE_NOT_SHOWN]);
  refuses({ input: [{ role: "user", content: [text, image] }] }, "unsupported_field", "input[0].content[1]");
  refuses({ input: [USER, { role: "user", content: [file] }] }, "unsupported_field", "input[1].content[0].type");
});

const FUNCTION = { type: "function", name: "a", parameters: { type: "object", properties: {} }, strict: null };

Deno.test("functions, freeform tools, namespaces and searches are shown; what others run is left out and listed", () => {
  const { conversation, toolUse, tools, ignored } = parse({
    tools: [
      FUNCTION,
      {
        type: "custom",
        name: "patch",
        description: "Patches.",
        format: { type: "grammar", syntax: "regex", definition: "x+" },
      },
      {
        type: "namespace",
        name: "agents",
        description: "Helpers.",
        tools: [FUNCTION, { type: "custom", name: "say" }],
      },
      { type: "tool_search", execution: "client", description: "Finds.", parameters: { type: "object" } },
      { type: "web_search", external_web_access: true },
      { type: "tool_search" },
    ],
  });
  assert.deepEqual(names(conversation.tools), ["a", "patch", "agents__a", "agents__say", "tool_search"]);
  assert.deepEqual(names(toolUse.tools), names(conversation.tools));
  assert.deepEqual(ignored.names(), ["tools[].type"]);
  assert.deepEqual([tools.kindOf("agents__a"), tools.kindOf("patch"), tools.kindOf("tool_search"), tools.kindOf("x")], [
    { type: "function", name: "a", namespace: "agents" },
    { type: "custom", name: "patch" },
    { type: "tool_search" },
    { type: "function", name: "x" },
  ]);
  const [, patch, first, say] = conversation.tools;
  assert.deepEqual([patch?.strict, say?.strict, first?.description], [true, undefined, "Helpers."]);
  assert.match(JSON.stringify(patch?.parameters), /regular expression:\\nx\+/);
  refuses({ tools: [FUNCTION, FUNCTION] }, "invalid_request", "tools[1].name");
  refuses({ tools: [{ ...FUNCTION, name: "a b" }] }, "invalid_request", "tools[0].name");
  const long = { type: "namespace", name: "n".repeat(100), tools: [{ ...FUNCTION, name: "f".repeat(40) }] };
  refuses({ tools: [long] }, "invalid_request", "tools[0].tools[0].name");
  refuses(
    { tools: [{ type: "custom", name: "x", format: { type: "grammar" } }] },
    "invalid_request",
    "tools[0].format.syntax",
  );
});

Deno.test("tools that items bring: before the first word in the head, later where they came", () => {
  const added = (...list: object[]): object => ({ type: "additional_tools", role: "developer", tools: list });
  const early = parse({ input: [added(FUNCTION), added({ ...FUNCTION, name: "b" }), USER] });
  assert.deepEqual(names(early.conversation.tools), ["a", "b"]);
  assert.deepEqual(early.conversation.messages.length, 1);
  const late = parse({ tools: [FUNCTION], input: [USER, added({ ...FUNCTION, name: "b" })] });
  assert.deepEqual([names(late.conversation.tools), names(late.toolUse.tools)], [["a"], ["a", "b"]]);
  assert.match(late.conversation.messages.at(-1)?.content[0]?.text ?? "", /^<tools>\n.*"name":"b".*\n<\/tools>$/);
  const search = { type: "tool_search", execution: "client", parameters: { type: "object" } };
  const deferred = { ...FUNCTION, name: "later", defer_loading: true };
  const input = [
    USER,
    { type: "tool_search_call", call_id: "1", execution: "client", status: "completed", arguments: { query: "x" } },
    { type: "tool_search_output", call_id: "1", tools: [{ ...FUNCTION, name: "later" }] },
    { type: "tool_search_output", call_id: "2", tools: [] },
  ];
  const found = parse({ tools: [search, deferred], input });
  assert.deepEqual([names(found.conversation.tools), names(found.toolUse.tools)], [["tool_search"], [
    "tool_search",
    "later",
  ]]);
  assert.deepEqual(turnsOf({ tools: [search, deferred], input })[1], ["assistant", "", '1 tool_search {"query":"x"}']);
  assert.equal(found.conversation.messages.at(-1)?.content[0]?.text, "No tool was found.");
  // Nothing could bring it: it is shown at once.
  const alone = parse({ tools: [deferred] });
  assert.deepEqual([names(alone.conversation.tools), alone.ignored.names()], [["later"], ["tools[].defer_loading"]]);
});

Deno.test("tool_choice is a mode, a tool of any kind, or a list of tools", () => {
  const tools = [FUNCTION, { type: "custom", name: "b" }, { type: "namespace", name: "n", tools: [FUNCTION] }, {
    type: "web_search",
  }];
  const use = (tool_choice: unknown, more: object = {}): unknown => {
    const { toolUse, conversation } = parse({ tools, tool_choice, ...more });
    return [toolUse.choice.mode, names(toolUse.tools).join(), names(conversation.tools).join(), toolUse.callsMax];
  };
  const all = "a,b,n__a";
  assert.deepEqual(use(undefined), ["auto", all, all, undefined]);
  assert.deepEqual(use("required", { parallel_tool_calls: false }), ["required", all, all, 1]);
  assert.deepEqual(use("none"), ["none", "", "", undefined]);
  assert.deepEqual(use({ type: "function", name: "a" }), ["named", "a", "a", undefined]);
  assert.deepEqual(use({ type: "custom", name: "b" }), ["named", "b", "b", undefined]);
  assert.deepEqual(use({ type: "function", name: "a", namespace: "n" }), ["named", "n__a", "n__a", undefined]);
  const allowed = {
    type: "allowed_tools",
    mode: "required",
    tools: [{ type: "custom", name: "b" }, { type: "web_search" }],
  };
  assert.deepEqual(use(allowed), ["required", "b", "b", undefined]);
  refuses({ tools, tool_choice: { type: "web_search" } }, "unsupported_field", "tool_choice.type");
  refuses({ tools, tool_choice: { type: "function" } }, "tool_choice_missing_name", "tool_choice.name");
  refuses({ tools, tool_choice: { type: "function", name: "c" } }, "tool_choice_unknown_function", "tool_choice");
  refuses({ tool_choice: "required" }, "tool_choice_required_without_tools", "tool_choice");
  refuses({ tools, tool_choice: "any" }, "invalid_request", "tool_choice");
  const none = { ...allowed, tools: [{ type: "web_search" }] };
  refuses({ tools, tool_choice: none }, "tool_choice_required_without_tools", "tool_choice");
});

Deno.test("reasoning switches and bounds thinking, and says where it is shown", () => {
  const read = (fields: Record<string, unknown>): unknown => {
    const { thinking, display, conversation, echo } = parse(fields);
    const { reasoning_effort } = conversation.templateArguments;
    return [thinking.enabled, thinking.effort, display, reasoning_effort, echo.reasoning.summary];
  };
  assert.deepEqual(read({}), [undefined, undefined, "content", undefined, null]);
  assert.deepEqual(read({ reasoning: { effort: "none" } }), [false, "none", "content", "none", null]);
  assert.deepEqual(read({ reasoning: { effort: "high", summary: "auto" } }), [
    undefined,
    "high",
    "summary",
    "high",
    "auto",
  ]);
  assert.deepEqual(read({ reasoning: { generate_summary: "concise" } }), [
    undefined,
    undefined,
    "summary",
    undefined,
    "concise",
  ]);
  assert.deepEqual(parse({ reasoning: { max_tokens: 5 } }).thinking.budget?.tokens, 5);
  assert.deepEqual(parse({ reasoning: { context: "current_turn", effort: "low" } }).ignored.names(), [
    "reasoning.context",
  ]);
  refuses({ reasoning: { effort: 1 } }, "invalid_request", "reasoning.effort");
});

Deno.test("text.format binds the answer, alone", () => {
  const schema = { type: "object", properties: { title: { type: "string" } } };
  const bound = (format: unknown): unknown => parse({ text: { format } }).constraint?.kind;
  assert.equal(bound({ type: "json_schema", name: "x", schema, strict: true }), "json_schema");
  assert.equal(bound({ type: "json_object" }), "json_object");
  assert.equal(bound({ type: "text" }), undefined);
  assert.equal(parse({ response_format: { type: "json_object" } }).constraint?.kind, "json_object");
  refuses({ text: { format: { type: "grammar" } } }, "invalid_request", "text.format.type");
  const strange = { text: { format: { type: "json_schema", schema: { type: "strange" } } } };
  refuses(strange, "invalid_response_format_schema", "text.format.schema");
  const both = { text: { format: { type: "json_object" } }, guided_regex: "x" };
  refuses(both, "unsupported_combination", "guided_regex");
});

Deno.test("what agents send in every request is taken, and listed where it changes nothing", () => {
  const request = parse({
    store: false,
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: "thread",
    client_metadata: { a: "b" },
    parallel_tool_calls: true,
    truncation: "disabled",
    background: false,
    text: { verbosity: "low" },
    service_tier: "auto",
    stream: true,
    stream_options: { include_obfuscation: false },
    something_new: 1,
    max_output_tokens: 128_000,
    top_k: 40,
    stop: ["END"],
  });
  assert.deepEqual(request.ignored.names().toSorted(), [
    "client_metadata",
    "prompt_cache_key",
    "service_tier",
    "something_new",
    "stream_options.include_obfuscation",
    "text.verbosity",
  ]);
  assert.deepEqual([request.store, request.sealsReasoning, request.maxTokens], [false, true, 128_000]);
  assert.deepEqual([request.sampling.top_k, request.sampling.stop], [40, ["END"]]);
  assert.deepEqual(parse({ include: ["file_search_call.results"] }).ignored.names(), ["include"]);
  for (const [field, value] of [["background", true], ["conversation", "conv_1"], ["prompt", { id: "p" }]] as const) {
    refuses({ [field]: value }, "unsupported_field", field);
  }
  refuses({ metadata: { a: 1 } }, "invalid_request", "metadata.a");
  refuses({ top_logprobs: 21 }, "invalid_request", "top_logprobs");
});

Deno.test("items that other servers know are left out and listed, and what came earlier is known", () => {
  const input = [USER, { type: "web_search_call", id: "ws_1", status: "completed" }, {
    type: "compaction",
    encrypted_content: "x",
  }];
  assert.deepEqual(turnsOf({ input }), [["user", "Hi"]]);
  assert.deepEqual(parse({ input }).ignored.names(), ["input[].web_search_call", "input[].compaction"]);
  const earlier: JsonObject[] = [USER, {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: "A" }],
  }];
  const known: KnownItems = { conversationOf: (id) => id === "resp_1" ? earlier : [], itemOf: () => earlier[1] ?? {} };
  assert.deepEqual(turnsOf({ previous_response_id: "resp_1", input: "B" }, known), [
    ["user", "Hi"],
    ["assistant", "A"],
    ["user", "B"],
  ]);
  assert.deepEqual(turnsOf({ input: [{ type: "item_reference", id: "msg_1" }, { id: "msg_2" }, USER] }, known), [
    ["assistant", "AA"],
    ["user", "Hi"],
  ]);
  assert.deepEqual(parse({ previous_response_id: "resp_1", input: "B" }, known).items, [{
    role: "user",
    content: "B",
  }]);
});
