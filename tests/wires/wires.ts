// deno-lint-ignore-file camelcase -- the wires' own names
/**
 * The three wires of conversations by what differs between them, so that a rule is one test for all of them.
 *
 * @module
 */
import assert from "node:assert/strict";

/** JSON of a body, read as a test expects it. */
// deno-lint-ignore no-explicit-any -- a test reads what it expects
export type Json = any;

/** One turn of a conversation. */
export type Turn =
  | { system: string }
  | { developer: string }
  | { user: string }
  | { result: string; of: string }
  | { assistant: string; thought?: string; calls?: readonly { id: string; name: string; arguments: string }[] };

/** What an answer says, whatever the wire. */
export interface Said {
  /** Of the answer. */
  id: string;
  text: string;
  thought: string;
  calls: { id: string; name: string; arguments: string }[];
  /** Why it ended; undefined: it does not say, as a stream that broke. */
  end: "stop" | "length" | "calls" | undefined;
  /** Tokens of the prompt, those of the cache included. */
  promptTokens: number;
}

/** A wire. */
export interface Wire {
  name: "chat" | "messages" | "responses";
  /** With `/v1`. */
  path: string;
  /** Its name for the bound of an answer. */
  maxTokensField: string;
  /** A body. */
  ask(turns: readonly Turn[], fields?: object): Record<string, unknown>;
  /** A tool as the wire declares it. */
  tool(name: string, parameters: object): object;
  /** `tool_choice` that has to be obeyed by a call, of one tool or of any. */
  mustCall(name?: string): unknown;
  /** What bounds the answer to a schema. */
  bound(schema: object): object;
  /** Reads a whole answer. */
  whole(body: Json): Said;
  /** Reads a stream's events; `[DONE]` is one of them. */
  streamed(events: readonly Json[]): Said;
  /** The type of an event that a client counts as life, and nothing else. */
  isAlive(event: Json): boolean;
  /** The message of an error's envelope, which is checked. */
  refusal(body: Json, response: Response): { type: string; message: string };
  /** Whether an event of a stream tells a failure, with its message. */
  failure(event: Json): string | undefined;
}

/** Sends JSON. */
export async function post(url: string, body: unknown, headers: HeadersInit = {}): Promise<Response> {
  return await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...Object.fromEntries(new Headers(headers)) },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** The events of a stream. A name that an event has is its type. */
export function toEvents(text: string): Json[] {
  const frames = text.split("\n\n");
  assert.equal(frames.pop(), "", `the stream ends inside a frame: ${text.slice(-200)}`);
  return frames.map((frame) => {
    const [, event, data = ""] = /^(?:event: ([\w.]+)\n)?data: ([^\n]*)$/.exec(frame) ?? [];
    if (data === "[DONE]") return data;
    const json = JSON.parse(data);
    if (event !== undefined) assert.equal(json.type, event);
    return json;
  });
}

/** Asks once whole and once streamed; both must say the same. */
export async function askBoth(url: string, wire: Wire, body: Record<string, unknown>): Promise<Said> {
  const whole = await post(url + wire.path, body);
  const json = await whole.json();
  assert.equal(whole.status, 200, `${wire.name}: ${JSON.stringify(json)}`);
  const streamed = await post(url + wire.path, { ...body, stream: true, ...streamFields(wire) });
  const said = [wire.whole(json), wire.streamed(toEvents(await streamed.text()))] as const;
  assert.deepEqual(comparable(said[1]), comparable(said[0]), wire.name);
  return said[0];
}

function streamFields(wire: Wire): object {
  return wire.name === "chat" ? { stream_options: { include_usage: true } } : {};
}

/** Ids are drawn anew. */
function comparable(said: Said): object {
  return { ...said, id: "", calls: said.calls.map((call) => ({ ...call, id: "" })) };
}

const JSON_TYPE = { type: "object" };

/** Chat completions. */
export const CHAT: Wire = {
  name: "chat",
  path: "/v1/chat/completions",
  maxTokensField: "max_tokens",
  ask: (turns, fields) => ({
    messages: turns.map((turn) => {
      if ("result" in turn) return { role: "tool", tool_call_id: turn.of, content: turn.result };
      if (!("assistant" in turn)) return toMessage(turn);
      return {
        role: "assistant",
        content: turn.assistant,
        ...(turn.thought !== undefined && { reasoning_content: turn.thought }),
        ...(turn.calls && {
          tool_calls: turn.calls.map(({ id, ...call }) => ({ id, type: "function", function: call })),
        }),
      };
    }),
    ...fields,
  }),
  tool: (name, parameters) => ({ type: "function", function: { name, parameters: { ...JSON_TYPE, ...parameters } } }),
  mustCall: (name) => name === undefined ? "required" : { type: "function", function: { name } },
  bound: (schema) => ({ response_format: { type: "json_schema", json_schema: { name: "x", strict: true, schema } } }),
  whole: ({ id, choices: [{ message, finish_reason }], usage }) => ({
    id,
    text: message.content ?? "",
    thought: message.reasoning_content ?? "",
    calls: (message.tool_calls ?? []).map((call: Json) => ({ id: call.id, ...call.function })),
    end: CHAT_ENDS[finish_reason],
    promptTokens: usage.prompt_tokens,
  }),
  streamed(events): Said {
    const chunks = events.filter((event) => event !== "[DONE]" && event.error === undefined);
    const choices = chunks.flatMap((chunk) => chunk.choices);
    const calls: Said["calls"] = [];
    for (const { index, id, function: part } of choices.flatMap(({ delta }) => delta.tool_calls ?? [])) {
      const call = calls[index] ??= { id, name: part.name, arguments: "" };
      call.arguments += part.arguments ?? "";
    }
    const join = (field: string): string => choices.map(({ delta }) => delta[field] ?? "").join("");
    return {
      id: chunks[0].id,
      text: join("content"),
      thought: join("reasoning_content"),
      calls,
      end: CHAT_ENDS[choices.find((choice) => choice.finish_reason !== null)?.finish_reason],
      promptTokens: chunks.find((chunk) => chunk.usage)?.usage.prompt_tokens ?? NaN,
    };
  },
  isAlive: (event) => event.choices?.length === 1 && JSON.stringify(event.choices[0].delta) === '{"content":""}',
  refusal: openAiRefusal,
  failure: (event) => event.error?.message,
};

const CHAT_ENDS: Record<string, Said["end"]> = { stop: "stop", length: "length", tool_calls: "calls" };

/** Messages. */
export const MESSAGES: Wire = {
  name: "messages",
  path: "/v1/messages",
  maxTokensField: "max_tokens",
  ask: (turns, fields) => ({
    max_tokens: 1000,
    messages: turns.map((turn) => {
      if ("developer" in turn) return { role: "system", content: turn.developer };
      if ("result" in turn) {
        return { role: "user", content: [{ type: "tool_result", tool_use_id: turn.of, content: turn.result }] };
      }
      if (!("assistant" in turn)) return toMessage(turn);
      const { assistant, thought, calls = [] } = turn;
      return {
        role: "assistant",
        content: [
          ...(thought === undefined ? [] : [{ type: "thinking", thinking: thought, signature: "" }]),
          ...(assistant === "" ? [] : [{ type: "text", text: assistant }]),
          ...calls.map(({ id, name, arguments: json }) => ({ type: "tool_use", id, name, input: JSON.parse(json) })),
        ],
      };
    }),
    ...fields,
  }),
  tool: (name, parameters) => ({ name, input_schema: { ...JSON_TYPE, ...parameters } }),
  mustCall: (name) => name === undefined ? { type: "any" } : { type: "tool", name },
  bound: (schema) => ({ output_config: { format: { type: "json_schema", schema } } }),
  whole: ({ id, content, stop_reason, usage }) => ({
    id,
    text: content.map((block: Json) => block.text ?? "").join(""),
    thought: content.map((block: Json) => block.thinking ?? "").join(""),
    calls: content.filter((block: Json) => block.type === "tool_use").map((block: Json) => (
      { id: block.id, name: block.name, arguments: JSON.stringify(block.input) }
    )),
    end: MESSAGE_ENDS[stop_reason],
    promptTokens: usage.input_tokens + usage.cache_read_input_tokens,
  }),
  streamed(events): Said {
    const blocks: Json[] = [];
    for (const { type, index, content_block, delta } of events) {
      if (type === "content_block_start") blocks[index] = { ...content_block, json: "" };
      if (type !== "content_block_delta") continue;
      blocks[index].json += delta.partial_json ?? "";
      if (delta.text !== undefined) blocks[index].text += delta.text;
      if (delta.thinking !== undefined) blocks[index].thinking += delta.thinking;
    }
    const content = blocks.map(({ json, ...block }) =>
      block.type === "tool_use" ? { ...block, input: JSON.parse(json === "" ? "{}" : json) } : block
    );
    const { message } = events[0];
    const stop_reason = events.find(({ type }) => type === "message_delta")?.delta.stop_reason;
    return MESSAGES.whole({ ...message, content, stop_reason });
  },
  isAlive: ({ type }) => type === "ping",
  refusal(body, response): { type: string; message: string } {
    assert.deepEqual(Object.keys(body), ["type", "error", "request_id"]);
    assert.deepEqual([body.type, Object.keys(body.error)], ["error", ["type", "message"]]);
    assert.equal(body.request_id, response.headers.get("request-id"));
    return body.error;
  },
  failure: ({ type, error }) => type === "error" ? error.message : undefined,
};

const MESSAGE_ENDS: Record<string, Said["end"]> = { end_turn: "stop", max_tokens: "length", tool_use: "calls" };

function toMessage(turn: { system: string } | { developer: string } | { user: string }): object {
  const [[role, content] = ["", ""]] = Object.entries(turn);
  return { role, content };
}

function openAiRefusal(body: Json): { type: string; message: string } {
  assert.deepEqual(Object.keys(body), ["error"]);
  assert.deepEqual(Object.keys(body.error).toSorted(), ["code", "message", "param", "type"]);
  return body.error;
}

/** Responses. */
export const RESPONSES: Wire = {
  name: "responses",
  path: "/v1/responses",
  maxTokensField: "max_output_tokens",
  ask: (turns, fields) => ({
    store: false,
    input: turns.flatMap((turn): object[] => {
      if ("result" in turn) return [{ type: "function_call_output", call_id: turn.of, output: turn.result }];
      if (!("assistant" in turn)) return [toMessage(turn)];
      const { assistant, thought, calls = [] } = turn;
      const content = [{ type: "reasoning_text", text: thought ?? "" }];
      return [
        ...(thought === undefined ? [] : [{ type: "reasoning", id: "rs_1", summary: [], content }]),
        ...(assistant === "" ? [] : [{ type: "message", role: "assistant", content: assistant }]),
        ...calls.map(({ id, ...call }) => ({ type: "function_call", call_id: id, ...call })),
      ];
    }),
    ...fields,
  }),
  tool: (name, parameters) => ({ type: "function", name, parameters: { ...JSON_TYPE, ...parameters }, strict: null }),
  mustCall: (name) => name === undefined ? "required" : { type: "function", name },
  bound: (schema) => ({ text: { format: { type: "json_schema", name: "x", strict: true, schema } } }),
  whole: ({ id, output, status, incomplete_details, usage }) => {
    const texts = (type: string): string =>
      output.filter((item: Json) => item.type === type)
        .flatMap((item: Json) => item.content ?? []).map((part: Json) => part.text ?? "").join("");
    const calls = output.filter((item: Json) => item.type === "function_call").map((item: Json) => (
      { id: item.call_id, name: item.name, arguments: item.arguments }
    ));
    if (status === "incomplete") assert.equal(incomplete_details.reason, "max_output_tokens");
    return {
      id,
      text: texts("message"),
      thought: texts("reasoning"),
      calls,
      end: status === "incomplete"
        ? "length"
        : status !== "completed"
        ? undefined
        : calls.length > 0
        ? "calls"
        : "stop",
      promptTokens: usage?.input_tokens ?? NaN,
    };
  },
  streamed: (events) => RESPONSES.whole(events.at(-1).response),
  isAlive: ({ type, response }) => type === "response.in_progress" && response.output.length === 0,
  refusal: openAiRefusal,
  failure: ({ type, response }) => type === "response.failed" ? response.error.message : undefined,
};

/** All of them. */
export const WIRES: readonly Wire[] = [CHAT, MESSAGES, RESPONSES];
