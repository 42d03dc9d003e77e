// deno-lint-ignore-file camelcase -- the wire's own names
import assert from "node:assert/strict";
import { parseBody } from "../body.ts";
import { type ErrorCode, RequestError } from "../errors.ts";
import { IMAGE_NOT_SHOWN } from "../images.ts";
import { Seal } from "../seal.ts";
import { TOOLS_MAX } from "../tools.ts";
import { type MessagesRequest, parseMessagesRequest } from "./request.ts";

const SEAL = new Seal();
const USER = { role: "user", content: "Hi" };

function parse(fields: Record<string, unknown>, seal: Seal = SEAL): MessagesRequest {
  return parseMessagesRequest({ model: "m", max_tokens: 10, messages: [USER], ...fields }, seal);
}

function refuses(fields: Record<string, unknown>, code: ErrorCode, param: string): void {
  assert.throws(() => parse(fields), (error: unknown) => {
    assert.ok(error instanceof RequestError, String(error));
    assert.deepEqual([error.code, error.options.param], [code, param], error.message);
    return true;
  });
}

/** Turns in short: role, then what it has. */
function turnsOf(fields: Record<string, unknown>, seal: Seal = SEAL): unknown[] {
  return parse(fields, seal).conversation.messages.map(({ role, content, reasoning, toolCalls, toolCallId }) => [
    role,
    content.map(({ text }) => text).join("|"),
    ...reasoning === undefined ? [] : [`thinks ${reasoning}`],
    ...toolCalls === undefined ? [] : toolCalls.map((call) => `${call.id} ${call.name} ${call.arguments}`),
    ...toolCallId === undefined ? [] : [toolCallId],
  ]);
}

const text = (text: string, more: object = {}): object => ({ type: "text", text, ...more });
const call = (id: string, input: unknown): object => ({ type: "tool_use", id, name: "f", input });
const result = (id: string, content: unknown, more: object = {}): object => (
  { type: "tool_result", tool_use_id: id, content, ...more }
);

Deno.test("system is a string or blocks, system messages may be anywhere, and the billing line is cut and listed", () => {
  assert.deepEqual(turnsOf({ system: "Be terse." }), [["system", "Be terse."], ["user", "Hi"]]);
  const billing = "x-anthropic-billing-header: cc_version=2.1.332.ae2; cch=00000;";
  const request = {
    system: [text(billing), text("You are an agent.", { cache_control: { type: "ephemeral" } }), text("Rules.")],
    messages: [USER, { role: "system", content: [text("Today is Tuesday.")] }, { role: "system", content: "And wet." }],
  };
  assert.deepEqual(turnsOf(request), [
    ["system", "You are an agent.|Rules."],
    ["user", "Hi"],
    ["system", "Today is Tuesday."],
    ["system", "And wet."],
  ]);
  const names = parse(request).ignored.names();
  assert.ok(names.includes("system.x-anthropic-billing-header"), names.join());
  assert.deepEqual(turnsOf({ system: `${billing}\nRules.` }), [["system", "Rules."], ["user", "Hi"]]);
  assert.deepEqual(turnsOf({ system: billing }), [["user", "Hi"]]);
  assert.deepEqual(turnsOf({ system: `Not ${billing}` })[0], ["system", `Not ${billing}`]);
});

Deno.test("a string and a list with one text are the same turn", () => {
  for (const role of ["user", "assistant", "system"]) {
    const more = [{ role, content: "Yes" }, USER];
    const list = [{ role, content: [text(""), text("Yes")] }, USER];
    assert.deepEqual(turnsOf({ messages: more }), turnsOf({ messages: list }));
  }
});

Deno.test("results come first, each with its id, then one turn of the texts beside them", () => {
  const messages = [
    USER,
    { role: "assistant", content: [text("Let me "), text("look."), call("toolu_1", { a: 1 }), call("x:0", {})] },
    {
      role: "user",
      content: [text("Before."), result("toolu_1", "one"), text("Between."), result("x:0", [text("t"), text("wo")])],
    },
  ];
  assert.deepEqual(turnsOf({ messages }), [
    ["user", "Hi"],
    ["assistant", "Let me look.", 'toolu_1 f {"a":1}', "x:0 f {}"],
    ["tool", "one", "toolu_1"],
    ["tool", "t|wo", "x:0"],
    ["user", "Before.|Between."],
  ]);
});

Deno.test("a failed call says so in words, once", () => {
  const shapes: [unknown, string][] = [
    ["no such file", "Error: no such file"],
    ["<tool_use_error>no such file</tool_use_error>", "<tool_use_error>no such file</tool_use_error>"],
    ["Error: ENOENT", "Error: ENOENT"],
    [[text("first"), text("second")], "Error: first|second"],
    ["", "Error"],
    [undefined, "Error"],
  ];
  for (const [content, shown] of shapes) {
    const messages = [{ role: "user", content: [result("1", content, { is_error: true })] }];
    assert.deepEqual(turnsOf({ messages }), [["tool", shown, "1"]]);
    const [[, plain]] = turnsOf({ messages: [{ role: "user", content: [result("1", content)] }] }) as [
      [string, string],
    ];
    assert.equal(plain.startsWith("Error: E"), content === "Error: ENOENT");
  }
});

Deno.test("arguments are kept as they were made, also those that a client could not parse", () => {
  const shapes: [unknown, string][] = [
    [{ b: 1, a: [null, "x"] }, '{"b":1,"a":[null,"x"]}'],
    [undefined, "{}"],
    [null, "{}"],
    ["", "{}"],
    ['{"a": 1}', '{"a": 1}'],
    [{ __unparsedToolInput: { raw: '{ "a":  1 }', len: 11 } }, '{ "a":  1 }'],
    [{ __unparsedToolInput: { raw: '{"a": ', len: 6 } }, '{"unparsed":"{\\"a\\": "}'],
  ];
  for (const [input, shown] of shapes) {
    const messages = [{ role: "assistant", content: [call("1", input)] }, USER];
    assert.deepEqual(turnsOf({ messages })[0], ["assistant", "", `1 f ${shown}`]);
  }
});

Deno.test("numbers of arguments come back to their last digit", () => {
  const input = '{"id":12345678901234567890,"list":[0.12345678901234567890,{"x":1}],"n":7}';
  const block = `{"type":"tool_use","id":"1","name":"f","input":${input}}`;
  const body = `{"messages":[{"role":"assistant","content":[${block}]}]}`;
  const { conversation } = parseMessagesRequest(parseBody(new TextEncoder().encode(body)), SEAL);
  assert.equal(conversation.messages[0]?.toolCalls?.[0]?.arguments, input);
});

Deno.test("thinking comes back signed, sealed, foreign or without a signature; what was altered is refused", () => {
  const thinking = (thinking: string, signature?: string): Record<string, unknown>[] =>
    [
      USER,
      { role: "assistant", content: [{ type: "thinking", thinking, signature }, text("So.")] },
      USER,
    ].map((message) => ({ ...message }));
  const told = ["assistant", "So.", "thinks I see."];
  assert.deepEqual(turnsOf({ messages: thinking("I see.", SEAL.sign("I see.")) })[1], told);
  assert.deepEqual(turnsOf({ messages: thinking("", SEAL.seal("I see.")) })[1], told);
  assert.deepEqual(turnsOf({ messages: thinking("I see.", "") })[1], told);
  assert.deepEqual(turnsOf({ messages: thinking("I see.") })[1], told);
  assert.deepEqual(turnsOf({ messages: thinking("I see.", new Seal().sign("I see.")) })[1], told);
  assert.deepEqual(parse({ messages: thinking("I see.", "ErUBCkYIBxgCIkA=") }).ignored.names(), [
    "messages[].content[].signature",
  ]);
  assert.deepEqual(turnsOf({ messages: thinking("", new Seal().seal("I see.")) })[1], ["assistant", "So."]);
  const altered = { messages: thinking("I saw.", SEAL.sign("I see.")) };
  refuses(altered, "invalid_request", "messages[1].content[0].signature");
  const redacted = [{ role: "assistant", content: [{ type: "redacted_thinking", data: "x" }, text("So.")] }, USER];
  assert.deepEqual(turnsOf({ messages: redacted })[0], ["assistant", "So."]);
});

const IMAGE = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };

Deno.test("an image in a result or an earlier turn leaves a text and is listed; a newest one is refused by its path", () => {
  const earlier = parse({
    messages: [{ role: "user", content: [IMAGE, text("this")] }, { role: "assistant", content: "A" }, USER],
  });
  assert.equal(earlier.conversation.messages[0]?.content[0]?.text, IMAGE_NOT_SHOWN);
  assert.deepEqual(earlier.ignored.names(), ["messages[].content[].image"]);
  const inResult = parse({ messages: [{ role: "user", content: [result("1", [text("seen"), IMAGE])] }] });
  assert.deepEqual(inResult.conversation.messages[0]?.content.map((part) => part.text), ["seen", IMAGE_NOT_SHOWN]);
  assert.deepEqual(inResult.ignored.names(), ["messages[].content[].content[].image"]);
  const beside = parse({ messages: [{ role: "user", content: [result("1", "read"), IMAGE] }] });
  assert.equal(beside.conversation.messages[1]?.content[0]?.text, IMAGE_NOT_SHOWN);
  const newest = { messages: [{ role: "user", content: [text("See"), IMAGE] }] };
  refuses(newest, "unsupported_field", "messages[0].content[1]");
  refuses(
    { messages: [...newest.messages, { role: "system", content: "x" }] },
    "unsupported_field",
    "messages[0].content[1]",
  );
});

Deno.test("documents and search results are shown as far as they are text", () => {
  const document = (source: object): object => ({ type: "document", title: "T", source });
  const shown = (block: object): unknown =>
    (turnsOf({ messages: [{ role: "user", content: [block] }] })[0] as unknown[])[1];
  assert.equal(shown(document({ type: "text", media_type: "text/plain", data: "words" })), "T\nwords");
  assert.equal(shown(document({ type: "content", content: [text("a"), text("b")] })), "T\na\nb");
  const found = { type: "search_result", title: "T", source: "https://x", content: [text("a")] };
  assert.equal(shown(found), "T\nhttps://x\na");
  const pdf = document({ type: "base64", media_type: "application/pdf", data: "" });
  refuses({ messages: [{ role: "user", content: [pdf] }] }, "unsupported_field", "messages[0].content[0].type");
  const kept = parse({ messages: [{ role: "user", content: [result("1", [pdf])] }] });
  assert.equal(kept.conversation.messages[0]?.content[0]?.text, "[document not shown: this model reads text]");
  assert.deepEqual(kept.ignored.names(), ["messages[].content[].content[].document"]);
  const foreign = [{
    role: "assistant",
    content: [{ type: "server_tool_use", id: "1", name: "w", input: {} }, text("A")],
  }, USER];
  assert.deepEqual(turnsOf({ messages: foreign })[0], ["assistant", "A"]);
  assert.deepEqual(parse({ messages: foreign }).ignored.names(), ["messages[].content[].server_tool_use"]);
});

const SCHEMA = { type: "object", properties: {} };
const tool = (name: string, more: object = {}): object => ({ name, input_schema: SCHEMA, ...more });
const names = (tools: readonly { name: string }[]): string[] => tools.map(({ name }) => name);

Deno.test("hosted tools are left out and listed; custom ones have that type or none", () => {
  const { conversation, toolUse, ignored } = parse({
    tools: [
      tool("a", { type: "custom" }),
      { type: "web_search_20250305", name: "web_search" },
      tool("b", { type: null }),
    ],
  });
  assert.deepEqual(names(conversation.tools), ["a", "b"]);
  assert.deepEqual(names(toolUse.tools), ["a", "b"]);
  assert.deepEqual(ignored.names(), ["tools[].type"]);
  refuses({ tools: [tool("a"), tool("a")] }, "invalid_request", "tools[1].name");
  refuses({ tools: [tool("a b")] }, "invalid_request", "tools[0].name");
});

Deno.test("a deferred tool is shown where a result refers to it, and may be called from then on", () => {
  const tools = [
    tool("Read"),
    tool("DeferredToolPlaceholder", { defer_loading: true }),
    tool("WebFetch", { defer_loading: true, description: "Fetches." }),
  ];
  const before = parse({ tools });
  assert.deepEqual([names(before.conversation.tools), names(before.toolUse.tools)], [["Read"], ["Read"]]);
  const reference = (tool_name: string): object => ({ type: "tool_reference", tool_name });
  const searched = [
    USER,
    { role: "assistant", content: [call("1", {})] },
    { role: "user", content: [result("1", [reference("WebFetch"), reference("Read"), reference("Nothing")])] },
  ];
  const after = parse({ tools, messages: searched });
  assert.deepEqual([names(after.conversation.tools), names(after.toolUse.tools)], [["Read"], ["Read", "WebFetch"]]);
  const definition = { type: "function", function: { name: "WebFetch", description: "Fetches.", parameters: SCHEMA } };
  assert.deepEqual(after.conversation.messages.at(-1)?.content.map((part) => part.text), [
    `<tools>\n${JSON.stringify(definition)}\n</tools>`,
    "Read",
    "Nothing",
  ]);
  assert.deepEqual(after.ignored.names(), ["messages[].content[].content[].tool_reference"]);
  const named = parse({ tools, tool_choice: { type: "tool", name: "WebFetch" } });
  assert.deepEqual([names(named.conversation.tools), names(named.toolUse.tools)], [["WebFetch"], ["WebFetch"]]);
  const hosted = parse({ tools: [...tools, { type: "tool_search_tool_regex_20251119", name: "tool_search" }] });
  assert.deepEqual(names(hosted.conversation.tools), ["Read", "DeferredToolPlaceholder", "WebFetch"]);
});

Deno.test("system messages bring, define and withdraw tools", () => {
  const tools = [tool("Read"), tool("WebFetch", { defer_loading: true })];
  const change = (type: string, tool: object): object => ({ role: "system", content: [{ type, tool }] });
  const added = [USER, change("tool_addition", { type: "tool_reference", name: "WebFetch" })];
  const request = parse({ tools, messages: added });
  assert.deepEqual([names(request.conversation.tools), names(request.toolUse.tools)], [["Read"], ["Read", "WebFetch"]]);
  const definition = { type: "tool_definition", definition: tool("New", { description: "Is new." }) };
  const messages = [
    ...added,
    change("tool_addition", definition),
    change("tool_removal", { type: "tool_reference", name: "Read" }),
  ];
  const changed = parse({ tools, messages });
  assert.deepEqual([names(changed.conversation.tools), names(changed.toolUse.tools)], [["Read"], ["WebFetch", "New"]]);
  const texts = changed.conversation.messages.flatMap(({ content }) => content.map((part) => part.text));
  assert.match(texts[2] ?? "", /^<tools>\n.*"New","description":"Is new\.".*\n<\/tools>$/);
  assert.equal(texts[3], "The tool Read is no longer available.");
});

Deno.test("a system message may be for one turn only", () => {
  const reminder = { role: "system", content: "Now.", clear_at: "next_user_message" };
  assert.deepEqual(turnsOf({ messages: [USER, reminder] }), [["user", "Hi"], ["system", "Now."]]);
  const later = [USER, reminder, { role: "assistant", content: "A" }, USER];
  assert.deepEqual(turnsOf({ messages: later }), [["user", "Hi"], ["assistant", "A"], ["user", "Hi"]]);
});

Deno.test("tool_choice is auto, any, tool or none, and bounds the number of calls", () => {
  const tools = [tool("a"), tool("b")];
  const use = (tool_choice: unknown): unknown => {
    const { toolUse, conversation } = parse({ tools, tool_choice });
    return [toolUse.choice.mode, names(toolUse.tools).join(), names(conversation.tools).join(), toolUse.callsMax];
  };
  assert.deepEqual(use(undefined), ["auto", "a,b", "a,b", undefined]);
  assert.deepEqual(use({ type: "auto", disable_parallel_tool_use: true }), ["auto", "a,b", "a,b", 1]);
  assert.deepEqual(use({ type: "any" }), ["required", "a,b", "a,b", undefined]);
  assert.deepEqual(use({ type: "tool", name: "b" }), ["named", "b", "b", undefined]);
  assert.deepEqual(use({ type: "none" }), ["none", "", "", undefined]);
  refuses({ tools, tool_choice: { type: "tool" } }, "tool_choice_missing_name", "tool_choice.name");
  refuses({ tools, tool_choice: { type: "tool", name: "c" } }, "tool_choice_unknown_function", "tool_choice");
  refuses({ tool_choice: { type: "any" } }, "tool_choice_required_without_tools", "tool_choice");
  refuses({ tools, tool_choice: { type: "required" } }, "invalid_request", "tool_choice.type");
});

Deno.test("thinking is off unless asked for, and shown as the client wants", () => {
  const read = (fields: Record<string, unknown>): unknown => {
    const { thinking, display, conversation } = parse(fields);
    return [thinking.enabled, thinking.budget?.tokens, display, conversation.templateArguments.enable_thinking];
  };
  assert.deepEqual(read({}), [false, undefined, "none", false]);
  assert.deepEqual(read({ thinking: { type: "disabled" } }), [false, undefined, "none", false]);
  assert.deepEqual(read({ thinking: { type: "adaptive" } }), [true, undefined, "text", true]);
  assert.deepEqual(read({ thinking: { type: "between_tools", display: "updates" } }), [true, undefined, "text", true]);
  const omitted = { type: "enabled", budget_tokens: 31_999, display: "omitted" };
  assert.deepEqual(read({ thinking: omitted }), [true, 31_999, "sealed", true]);
  assert.deepEqual(read({ enable_thinking: true }), [true, undefined, "text", true]);
  assert.deepEqual(parse({}).argumentFields.enable_thinking, null);
  assert.equal(parse({ thinking: omitted }).argumentFields.enable_thinking, "thinking.type");
  refuses({ thinking: { type: "sometimes" } }, "invalid_request", "thinking.type");
  refuses({ thinking: { type: "enabled", budget_tokens: 0 } }, "invalid_request", "thinking.budget_tokens");
});

Deno.test("effort and format of output_config reach the template and the grammar", () => {
  const format = { type: "json_schema", schema: { type: "object", properties: { title: { type: "string" } } } };
  const request = parse({ output_config: { effort: "high", format } });
  assert.equal(request.thinking.effort, "high");
  assert.equal(request.conversation.templateArguments.reasoning_effort, "high");
  assert.deepEqual([request.constraint?.kind, request.constraint?.param], [
    "json_schema",
    "output_config.format.schema",
  ]);
  assert.equal(parse({ output_format: format }).constraint?.param, "output_format.schema");
  refuses({ output_config: { format: { type: "grammar" } } }, "invalid_request", "output_config.format.type");
  const unknown = { output_config: { format: { type: "json_schema", schema: { type: "strange" } } } };
  refuses(unknown, "invalid_response_format_schema", "output_config.format.schema");
});

Deno.test("what agents send in every request is taken, and listed where it changes nothing", () => {
  const request = parse({
    max_tokens: 128_000,
    metadata: { user_id: "{}" },
    context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
    service_tier: "auto",
    tools: [tool("a", { cache_control: { type: "ephemeral" }, eager_input_streaming: true, strict: null })],
    stop_sequences: ["", "END"],
    top_k: 40,
    something_new: 1,
  });
  assert.deepEqual(request.ignored.names().toSorted(), [
    "context_management",
    "metadata",
    "service_tier",
    "something_new",
    "tools[].cache_control",
    "tools[].eager_input_streaming",
  ]);
  const asksNothing = parse({
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    messages: [{ role: "assistant", content: [{ ...call("1", {}), caller: { type: "direct" } }] }, USER],
  });
  assert.deepEqual(asksNothing.ignored.names(), []);
  assert.deepEqual([request.maxTokens, request.sampling.stop, request.sampling.top_k], [128_000, ["END"], 40]);
});

Deno.test("an assistant's text at the end is gone on with", () => {
  const ends = (content: unknown): boolean =>
    parse({ messages: [USER, { role: "assistant", content }] }).conversation.addGenerationPrompt;
  assert.equal(ends("The answer is"), false);
  assert.equal(ends([text("The answer is")]), false);
  assert.equal(ends([call("1", {})]), true);
  assert.equal(ends(""), true);
});

Deno.test("what is malformed is refused with its path", () => {
  refuses({ messages: [] }, "invalid_request", "messages");
  refuses({ messages: [{ role: "tool", content: "x" }] }, "invalid_request", "messages[0].role");
  refuses({ messages: [{ role: "user", content: [{ text: "x" }] }] }, "invalid_request", "messages[0].content[0].type");
  refuses(
    { messages: [{ role: "user", content: [text("x"), { type: "text" }] }] },
    "invalid_request",
    "messages[0].content[1].text",
  );
  refuses(
    { messages: [{ role: "user", content: [{ type: "tool_result" }] }] },
    "invalid_request",
    "messages[0].content[0].tool_use_id",
  );
  refuses(
    { messages: [{ role: "assistant", content: [call("", {})] }] },
    "invalid_request",
    "messages[0].content[0].id",
  );
  refuses({ max_tokens: 0 }, "invalid_request", "max_tokens");
  refuses({ system: 7 }, "invalid_request", "system");
  refuses({ tools: {} }, "invalid_request", "tools");
});

Deno.test("a field whose value has no effect, or that another one overrules, is listed", () => {
  const format = { type: "json_schema", schema: { type: "object" } };
  const listed: [Record<string, unknown>, string[]][] = [
    [{ messages: [{ ...USER, clear_at: "next_user_message" }] }, ["messages[].clear_at"]],
    [{ messages: [USER, { role: "system", content: "Now.", clear_at: "never" }] }, ["messages[].clear_at"]],
    [{ messages: [USER, { role: "system", content: "Now.", clear_at: "next_user_message" }] }, []],
    [{ thinking: { type: "adaptive", display: "loud" } }, ["thinking.display"]],
    [{ thinking: { type: "adaptive", display: "omitted" } }, []],
    [{ output_config: { format }, output_format: format }, ["output_format"]],
    [{ output_config: { effort: "low" }, reasoning_effort: "high" }, ["output_config.effort"]],
  ];
  for (const [fields, names] of listed) assert.deepEqual(parse(fields).ignored.names(), names, JSON.stringify(fields));
});

Deno.test("turns bring no more tools than a request may declare", () => {
  const bring = (count: number): Record<string, unknown> => {
    const content = Array.from({ length: count }, (_, at) => ({
      type: "tool_addition",
      tool: { type: "tool_definition", definition: { name: `t${at}`, input_schema: {} } },
    }));
    return { messages: [USER, { role: "system", content }] };
  };
  assert.equal(parse(bring(TOOLS_MAX)).toolUse.tools.length, TOOLS_MAX);
  refuses(bring(TOOLS_MAX + 1), "invalid_request", "messages");
});
