// deno-lint-ignore-file camelcase -- the wire's own names
import assert from "node:assert/strict";
import { RequestError } from "../errors.ts";
import { Seal } from "../seal.ts";
import { TOOLS_MAX } from "../tools.ts";
import { parseResponsesRequest, type ResponsesRequest } from "./request.ts";

const USER = { role: "user", content: "Hi" };
const SEARCH = { type: "tool_search", execution: "client" };
const KNOWN = { conversationOf: () => [], itemOf: () => ({}) };

function parse(fields: Record<string, unknown>): ResponsesRequest {
  return parseResponsesRequest({ input: [USER], ...fields }, new Seal(), KNOWN);
}

function refuses(fields: Record<string, unknown>, code: string, param: string): void {
  assert.throws(() => parse(fields), (error: unknown) => {
    assert.ok(error instanceof RequestError, String(error));
    assert.deepEqual([error.code, error.options.param], [code, param], error.message);
    return true;
  });
}

const schema = (name: string): object => ({ type: "object", properties: { [name]: { type: "string" } } });
const fn = (name: string, more: object = {}): object => ({ type: "function", name, parameters: schema("x"), ...more });
const found = (...tools: object[]): object => ({ type: "tool_search_output", call_id: "1", tools });
const lastText = ({ conversation }: ResponsesRequest): string =>
  conversation.messages.at(-1)?.content.map(({ text }) => text).join("|") ?? "";

Deno.test("a search finds what was declared by its name, and what is declared anew takes its place", () => {
  const tools = [fn("a"), { type: "custom", name: "c" }, fn("d", { defer_loading: true }), SEARCH];
  const known = parse({ tools, input: [USER, found(fn("a", { description: "As said in its namespace." }))] });
  assert.equal(lastText(known), "a");
  assert.deepEqual(known.toolUse.tools.map(({ name }) => name), ["a", "c", "tool_search"]);

  const renewed = parse({ tools, input: [USER, found(fn("a", { parameters: schema("y") }), fn("c"))] });
  assert.match(lastText(renewed), /^<tools>\n.*"name":"a".*"y".*\n<\/tools>\|<tools>\n.*"name":"c".*\n<\/tools>$/);
  const [a, c] = renewed.toolUse.tools;
  assert.deepEqual([a?.parameters, c?.parameters, c?.freeform], [schema("y"), schema("x"), undefined]);
  assert.deepEqual(renewed.tools.kindOf("c"), { type: "function", name: "c" });
  // The head, and with it the cached prefix, stays as it was.
  assert.deepEqual(renewed.conversation.tools, known.conversation.tools);
  // Twice found is the same tool.
  const twice = parse({ tools, input: [USER, found(fn("d")), found(fn("d"))] });
  assert.deepEqual(twice.toolUse.tools.map(({ name }) => name), ["a", "c", "tool_search", "d"]);
});

Deno.test("a call can't be required of tools that are still deferred", () => {
  const tools = [fn("a"), fn("d", { defer_loading: true }), SEARCH];
  const tool_choice = { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "d" }] };
  refuses({ tools, tool_choice }, "tool_choice_required_without_tools", "tool_choice");
  const brought = parse({ tools, tool_choice, input: [USER, found(fn("d"))] });
  assert.deepEqual(brought.toolUse.tools.map(({ name }) => name), ["d"]);
  assert.deepEqual(parse({ tools, tool_choice: { ...tool_choice, mode: "auto" } }).toolUse.tools, []);
});

Deno.test("the bound of tools counts those of namespaces and deferred ones", () => {
  const space = (name: string, number: number): object => ({
    type: "namespace",
    name,
    tools: Array.from({ length: number }, (_, at) => fn(`t${at}`, { defer_loading: true })),
  });
  const half = TOOLS_MAX / 2;
  assert.equal(parse({ tools: [space("a", half), space("b", half)] }).toolUse.tools.length, TOOLS_MAX);
  refuses({ tools: [space("a", half), space("b", half), SEARCH] }, "invalid_request", "tools");
});

Deno.test("a field that nobody knows is listed, whatever list of tools it is in", () => {
  const tool_choice = { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "a", odd: 1 }] };
  const input = [{ type: "additional_tools", odder: 1, tools: [fn("a", { oddest: 1 })] }, USER];
  assert.deepEqual(parse({ tool_choice, input }).ignored.names(), [
    "input[].odder",
    "input[].tools[].oddest",
    "tool_choice.tools[].odd",
  ]);
});
